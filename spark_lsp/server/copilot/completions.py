"""`getCompletions` and `getCompletionsCycling`: how older plugins ask for ghost text.

They want whole lines: the text that takes the place of the cursor's line, with what stands before and after the cursor
in it. Some replace the line by it whatever the range says.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from spark_lsp.documents.positions import Encoding, offset_at, position_at
from spark_lsp.documents.text import TextSnapshot
from spark_lsp.pipeline import Reason
from spark_lsp.server import inline
from spark_lsp.server.copilot.params import Target, target_of
from spark_lsp.server.copilot.version import OutdatedRequestError, agree_on_version
from spark_lsp.server.place import Query, part_of

if TYPE_CHECKING:
    from spark_lsp.server.app import SparkServer

AT_ONCE_SECONDS = 0.25
"""Nobody sees a suggestion and asks for another one in so short a time."""


async def candidates(server: SparkServer, target: Target, *, invoked: bool) -> list[inline.Candidate]:
    """Return what `textDocument/inlineCompletion` offers there: several at most where it is asked for by hand.

    Ranges are in the encoding that was agreed on. Raises CancelledError when the request was cancelled.
    """
    return await inline.candidates(server, Query(target.uri, _position(server, target), invoked))


def most_candidates(server: SparkServer) -> int:
    """Return how many texts a request made by hand is offered at most."""
    return server.settings.completion.candidates


@dataclass(slots=True)
class _Running:
    answer: asyncio.Task[dict[str, Any]]
    waiting: int = 0


class SharedAnswers:
    """Requests for one text at the same place and time have one answer.

    copilot.lua sends some twice. LSP-copilot asks for one text and for several with every key, and uses what comes for
    the second: nobody asked for that by hand.
    """

    def __init__(self) -> None:
        self._running: dict[Target, _Running] = {}
        self._latest: tuple[Target, float] | None = None

    async def get(self, target: Target, compute: Callable[[], Coroutine[Any, Any, dict[str, Any]]]) -> dict[str, Any]:
        """Return what `compute` returns, or what another call for `target` is about to return.

        It is cancelled when all who wait for it are.
        """
        self._latest = target, time.monotonic()
        running = self._running.get(target)
        if running is None:
            running = self._running[target] = _Running(asyncio.ensure_future(compute()))
            running.answer.add_done_callback(lambda _: self._forget(target, running))
        running.waiting += 1
        try:
            return await asyncio.shield(running.answer)
        except asyncio.CancelledError:
            if running.waiting == 1:
                self._forget(target, running)
                running.answer.cancel()
            raise
        finally:
            running.waiting -= 1

    def by_hand(self, target: Target) -> bool:
        """Whether a request for several texts at `target` is the user's."""
        if target in self._running:
            return False
        return self._latest is None or self._latest[0] != target or time.monotonic() - self._latest[1] > AT_ONCE_SECONDS

    def _forget(self, target: Target, running: _Running) -> None:
        if self._running.get(target) is running:
            del self._running[target]


async def get_completions(server: SparkServer, params: dict[str, Any]) -> dict[str, Any]:
    """Return `{"completions": [...]}` with one text or none."""
    target = target_of(params)
    if target is None:
        return {"completions": []}
    return await server.copilot.answers.get(target, lambda: _completions(server, params, target, invoked=False))


async def get_completions_cycling(server: SparkServer, params: dict[str, Any]) -> dict[str, Any]:
    """Return `{"completions": [...]}` with the texts to choose from."""
    target = target_of(params)
    if target is None or not server.copilot.answers.by_hand(target):
        return await get_completions(server, params)
    return await _completions(server, params, target, invoked=True)


async def _completions(server: SparkServer, params: dict[str, Any], target: Target, *, invoked: bool) -> dict[str, Any]:
    try:
        await agree_on_version(server, params)
    except OutdatedRequestError:
        # The user typed on. copilot.lua shows every error to the user, and has written its next request already.
        server.count(Reason.SUPERSEDED)
        return {"completions": []}
    found = await candidates(server, target, invoked=invoked)
    snapshot = own_text(server, target.uri)
    if snapshot is None:
        return {"completions": []}
    return {"completions": [_whole_line(server, snapshot, target, candidate) for candidate in found]}


def _whole_line(
    server: SparkServer, snapshot: TextSnapshot, target: Target, candidate: inline.Candidate
) -> dict[str, Any]:
    encoding = server.documents.encoding
    line = candidate.range.start.line
    begin, finish = snapshot.line_span(line)
    start = offset_at(snapshot, line, candidate.range.start.character, encoding)
    end = offset_at(snapshot, candidate.range.end.line, candidate.range.end.character, encoding)
    cursor = _cursor(server, snapshot, target)
    before, after = snapshot.text[begin:start], snapshot.text[end:finish]
    return {
        "uuid": candidate.identifier,
        "text": before + candidate.text + after,
        "displayText": (before + candidate.text)[cursor - begin :],
        "range": {"start": {"line": line, "character": 0}, "end": _utf16(snapshot, finish)},
        "position": _utf16(snapshot, cursor),
        "docVersion": snapshot.version if target.version is None else target.version,
    }


def own_text(server: SparkServer, uri: str) -> TextSnapshot | None:
    """Return the text that positions in a document refer to, or None if it is not open."""
    part = part_of(server, uri)
    return part.own if part is not None else None


def utf16_range(server: SparkServer, snapshot: TextSnapshot, where: types.Range) -> dict[str, Any]:
    """Return a range in the encoding that was agreed on as one in UTF-16."""
    ends = {"start": where.start, "end": where.end}
    encoding = server.documents.encoding
    return {
        name: _utf16(snapshot, offset_at(snapshot, position.line, position.character, encoding))
        for name, position in ends.items()
    }


def _position(server: SparkServer, target: Target) -> types.Position:
    """Return where the request is about, in the encoding that was agreed on."""
    snapshot, encoding = own_text(server, target.uri), server.documents.encoding
    if not target.agent or encoding is Encoding.UTF16 or snapshot is None:
        # As it came: one that lies beyond the text is waited for later.
        return types.Position(target.line, target.character)
    return types.Position(*position_at(snapshot, _cursor(server, snapshot, target), encoding))


def _cursor(server: SparkServer, snapshot: TextSnapshot, target: Target) -> int:
    encoding = Encoding.UTF16 if target.agent else server.documents.encoding
    return offset_at(snapshot, target.line, target.character, encoding)


def _utf16(snapshot: TextSnapshot, offset: int) -> dict[str, int]:
    line, character = position_at(snapshot, offset, Encoding.UTF16)
    return {"line": line, "character": character}


HANDLERS = {"getCompletions": get_completions, "getCompletionsCycling": get_completions_cycling}
