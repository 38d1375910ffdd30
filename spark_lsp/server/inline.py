"""`textDocument/inlineCompletion`: one answer for every request.

In this order: what the request refers to, the cache, what the user has just done, the engine. An automatic request that
follows the deletion of one character is answered with nothing; any other one at the deadline with the text that is
verified by then; the engine goes on behind it until the next keystroke, so that the follow-up request finds a longer
text. With a `partialResultToken` (an extension of ours; the standard method has none) each growth of the text is sent
as `$/progress` whose value replaces the one before; the answer is the last of them, or what is left of it in the end.
"""

from __future__ import annotations

import asyncio
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from spark_lsp.documents.edits import ContentChange, Range, apply_change
from spark_lsp.documents.positions import offset_at, position_at
from spark_lsp.documents.text import TextSnapshot
from spark_lsp.pipeline import Completion, CompletionRequest, Reason
from spark_lsp.postprocess import postprocess
from spark_lsp.scheduler import EngineState, Job
from spark_lsp.server.document_store import Obstacle, OpenDocument

if TYPE_CHECKING:
    from spark_lsp.server.app import SparkServer

ACCEPT_COMMAND = "spark.accept"
OFFERS_REMEMBERED = 256
"""Suggestions that may still be accepted; a growing one takes an entry for each growth."""
LATE_CHANGE_SECONDS = 0.15
"""Neovim 0.11 may send a request up to 75 ms before the edit it belongs to; so long an edit is waited for."""
INVOKED_SECONDS = 10.0
"""A request made by hand waits longer than an automatic one, but not for ever."""


@dataclass(frozen=True, slots=True)
class _Place:
    """Where the suggestion goes: into `snapshot` at `cursor`, sent as `lead` + text over `replaced`."""

    document: OpenDocument
    snapshot: TextSnapshot
    cursor: int
    lead: str
    replaced: types.Range


async def inline_completion(
    server: SparkServer, params: types.InlineCompletionParams, raw: dict[str, Any]
) -> types.InlineCompletionList:
    """Return at most one item; never null and never a bare list, which some clients cannot take."""
    try:
        reason, text, place = await _complete(server, params, raw.get("partialResultToken"))
    except asyncio.CancelledError:
        server.count(Reason.CANCELLED)
        raise
    server.count(reason)
    return _list(server, text, place)


def accepted(server: SparkServer, identifier: object) -> None:
    """Take note that the suggestion with this identifier was accepted; an unknown one is only counted."""
    server.outcomes.accepted(str(identifier))
    text = server.offers.pop(str(identifier), "")
    if text:
        server.scheduler.learn(text)


def foreseen(server: SparkServer, request: CompletionRequest, completion: Completion) -> None:
    """Keep what was computed in advance for a request that may come."""
    document = server.documents.get(request.document)
    if document is None or document.excluded is not False:
        return
    server.outcomes.wrote(document.uri, completion)
    if completion.generation is not None:
        server.metrics.count_pregeneration(completion.generation, useful=bool(completion.text))
    if completion.if_invoked:
        server.completions.put(
            document.uri,
            request.snapshot.text,
            request.cursor,
            completion.text,
            completion.if_invoked,
            foreseen=True,
        )


async def _complete(
    server: SparkServer, params: types.InlineCompletionParams, token: Any
) -> tuple[Reason, str, _Place | None]:
    if not server.settings.completion.enabled:
        return Reason.DISABLED, "", None
    if server.paused:
        return Reason.PAUSED, "", None
    document = server.documents.get(params.text_document.uri)
    if document is None:
        return Reason.UNKNOWN_DOCUMENT, "", None
    if document.obstacle is not None:
        return (Reason.BINARY if document.obstacle is Obstacle.BINARY else Reason.TOO_LARGE), "", None
    if await server.gate.excluded(document):
        return Reason.EXCLUDED, "", None
    await _wait_for_late_change(server, document, params.position)
    snapshot = document.snapshot
    place = _place(server, document, params)
    invoked = params.context.trigger_kind is types.InlineCompletionTriggerKind.Invoked
    known = server.completions.get(document.uri, place.snapshot.text, place.cursor, invoked=invoked)
    if known is not None:
        if known.foreseen:
            server.metrics.count_use_of_pregeneration()
        _shown(server, document, place, known.text)
        return (Reason.CACHED if known.text else Reason.LOW_CONFIDENCE), known.text, place
    status = server.scheduler.status
    if status.state is EngineState.LOADING:
        return Reason.LOADING, "", None
    if not invoked and _follows_deletion(server, document, params.position):
        return Reason.DELETION, "", None
    reason, text = await _ask_engine(server, document, place, invoked, token)
    if document.snapshot is not snapshot:
        # Never a text for an older version: the client asks again for the newer one.
        return Reason.SUPERSEDED, "", None
    return reason, text, place


async def _wait_for_late_change(server: SparkServer, document: OpenDocument, position: types.Position) -> None:
    """Wait a moment if the position lies beyond what we know of the document."""
    offset = offset_at(document.snapshot, position.line, position.character, server.documents.encoding)
    if position_at(document.snapshot, offset, server.documents.encoding) == (position.line, position.character):
        return
    changed = document.changed
    try:
        await asyncio.wait_for(changed.wait(), LATE_CHANGE_SECONDS)
    except asyncio.TimeoutError:
        return  # the position is simply out of range; it is clamped


def _follows_deletion(server: SparkServer, document: OpenDocument, position: types.Position) -> bool:
    """Whether the user has just deleted a character here: more of what is being taken back helps nobody."""
    offset = offset_at(document.snapshot, position.line, position.character, server.documents.encoding)
    return document.lost_character_at(offset)


def _place(server: SparkServer, document: OpenDocument, params: types.InlineCompletionParams) -> _Place:
    encoding, snapshot = server.documents.encoding, document.snapshot
    selected = params.context.selected_completion_info
    if selected is not None:
        start, end = selected.range.start, selected.range.end
        where = Range(start.line, start.character, end.line, end.character)
        begin = offset_at(snapshot, start.line, start.character, encoding)
        changed = apply_change(snapshot, ContentChange(selected.text, where), encoding)
        return _Place(document, changed, begin + len(selected.text), selected.text, selected.range)
    cursor = offset_at(snapshot, params.position.line, params.position.character, encoding)
    position = types.Position(*position_at(snapshot, cursor, encoding))
    return _Place(document, snapshot, cursor, "", types.Range(position, position))


async def _ask_engine(
    server: SparkServer, document: OpenDocument, place: _Place, invoked: bool, token: Any
) -> tuple[Reason, str]:
    def on_text(text: str) -> None:
        if token is not None:
            server.post(_send_partial, server, token, text, place)

    seconds = INVOKED_SECONDS if invoked else server.settings.completion.deadline_ms / 1000
    if place.snapshot is document.snapshot:
        server.feed.touched(document, place.cursor)
    request = CompletionRequest(document.uri, place.snapshot, place.cursor, document.language, invoked=invoked)
    job = server.scheduler.submit(request, on_text)
    # Kept even if the request is answered before, at the deadline or because the user types what the job writes.
    job.outcome.add_done_callback(lambda done: server.post(_remember, server, document, place, done.result()))
    try:
        # A client that takes partial results waits for the end; it has something to show meanwhile.
        completion = await asyncio.wait_for(
            asyncio.shield(asyncio.wrap_future(job.result)), INVOKED_SECONDS if token is not None else seconds
        )
    except asyncio.TimeoutError:
        return await _answer_early(server, document, place, job)
    except asyncio.CancelledError:
        server.scheduler.cancel(job)
        raise
    return completion.reason, completion.text


async def _answer_early(server: SparkServer, document: OpenDocument, place: _Place, job: Job) -> tuple[Reason, str]:
    """Return what is verified so far, judged as a text that is at its end.

    The lines below the first are whole, and sure enough to stay.
    """
    lead, typed = job.following or (job, "")
    if lead.place is None:
        return Reason.COLD, ""
    # Not on the event loop: a text that breaks the syntax is parsed several times.
    text = await asyncio.to_thread(postprocess, lead.text, lead.place)
    text = text[len(typed) :] if text.startswith(typed) else ""
    if job.result.done():
        completion = job.result.result()
        return completion.reason, completion.text
    if not text:
        return Reason.COLD, ""
    server.completions.put(document.uri, place.snapshot.text, place.cursor, text)
    return Reason.SHOWN, text


def _remember(server: SparkServer, document: OpenDocument, place: _Place, completion: Completion) -> None:
    text, if_invoked = completion.text, completion.if_invoked
    server.outcomes.wrote(document.uri, completion)
    if if_invoked and server.documents.get(document.uri) is document:
        server.completions.put(document.uri, place.snapshot.text, place.cursor, text, if_invoked)
        _shown(server, document, place, text)


def _shown(server: SparkServer, document: OpenDocument, place: _Place, text: str) -> None:
    """Let idle time go on from what is on the screen."""
    if text and place.snapshot is document.snapshot and server.settings.completion.pregenerate:
        request = CompletionRequest(document.uri, place.snapshot, place.cursor, document.language)
        server.scheduler.shown(request, text)


def _send_partial(server: SparkServer, token: Any, text: str, place: _Place) -> None:
    value = server.protocol.plain(_list(server, text, place))
    server.progress(types.ProgressParams(token=token, value=value))


def _list(server: SparkServer, text: str, place: _Place | None) -> types.InlineCompletionList:
    if not text or place is None:
        return types.InlineCompletionList(items=[])
    identifier = uuid.uuid4().hex
    server.offers[identifier] = text
    server.outcomes.offered(identifier, place.document, place.snapshot, place.cursor, text)
    if len(server.offers) > OFFERS_REMEMBERED:
        server.offers.popitem(last=False)
    item = types.InlineCompletionItem(
        insert_text=place.lead + text,
        range=place.replaced,
        command=types.Command(title="Accept", command=ACCEPT_COMMAND, arguments=[identifier]),
    )
    return types.InlineCompletionList(items=[item])
