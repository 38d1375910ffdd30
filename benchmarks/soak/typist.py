"""Somebody who works in three documents without a pause: types, accepts, jumps, undoes, closes and asks all the time.

Everything is drawn from a seeded generator. What was typed is undone again and again, so the documents stay about as
long as they were, and a server that keeps more and more has no excuse.
"""

from __future__ import annotations

import argparse
import asyncio
import heapq
import inspect
import random
import textwrap
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from benchmarks.replay.rhythm import Rhythm
from spark_lsp.server.editor import Editor, ResponseError

DOCUMENT_LINES = 100
"""About 3,500 characters: nearly all of it is what a cached completion is compared with, see `check`."""
LINES = ("total = first + second", "if value is None:", "return self.name", "for item in items:", "data = {'key': 1}")
KEYS_AT_ONCE = 3
"""Most characters that arrive between two requests of a fast typist."""
BURST = 20
"""Requests sent without waiting for any answer."""
UNDO_STEPS = 40
"""Edits after which a document is brought back to what it was."""
LINES_AT_ONCE = 3
"""Lines of somebody who types on whatever is suggested."""
RHYTHM = Rhythm()
"""How long a person takes for what is done here without a pause."""
MEAN_MICRO_PAUSE_SECONDS = 4.6
"""See `Rhythm.micro_pause`."""
ANSWER_SECONDS = 60.0
"""A request that has no answer by then counts as unanswered; the server's own limit is 10 s."""
_CANCELLED = -32800

Answer = tuple[int, "asyncio.Future[Any]"]


@dataclass(slots=True)
class Tally:
    """What happened so far."""

    answered: int = 0
    """Completion requests with a result, an empty one included."""
    cancelled: int = 0
    """Requests that were cancelled, and answered with the error for that."""
    unanswered: int = 0
    failed: int = 0
    """Requests answered with any other error."""
    checks: int = 0
    """Comparisons of the server's text with ours."""
    different: int = 0
    """Comparisons that found a difference."""
    edits: int = 0
    """Changes sent, each of a key or a few, of an accepted text, or of one that is taken back."""
    person_seconds: float = 0.0
    """What all that takes a person, by the rhythm of `benchmarks.replay`."""


@dataclass(slots=True)
class _Document:
    uri: str
    original: str
    undo: list[tuple[int, str, str]] = field(default_factory=list)
    """Offset, new text and old text of each edit."""


def sources() -> list[str]:
    """Return the beginnings of three modules of the standard library."""
    modules = (argparse, textwrap, heapq)
    return ["".join(inspect.getsource(module).splitlines(keepends=True)[:DOCUMENT_LINES]) for module in modules]


class Typist:
    """Works in the documents of `editor` until enough requests were answered."""

    def __init__(self, editor: Editor, seed: int = 1) -> None:
        self.editor = editor
        self.tally = Tally()
        self._chance = random.Random(seed)
        self._documents = [_Document(f"file:///soak/{n}.py", text) for n, text in enumerate(sources())]
        self._current = self._documents[0]
        self.open_all()

    def open_all(self) -> None:
        """Open the documents as they are on disk."""
        for document in self._documents:
            self._open(document)

    def close_all(self) -> None:
        """Close the documents: the server has nothing to keep for them any more."""
        for document in self._documents:
            self.editor.close(document.uri)

    async def work(self, answers: int) -> None:
        """Go on until `answers` requests were answered since the start."""
        await self._work(lambda: self.tally.answered >= answers, typing_on=0)

    async def work_hours(self, hours: float) -> None:
        """Go on until a person would have worked for `hours` since the start."""
        await self._work(lambda: self.tally.person_seconds >= 3600 * hours, typing_on=20)

    async def _work(self, done: Callable[[], bool], typing_on: int) -> None:
        habits: list[tuple[Callable[[], Awaitable[None]], int]] = [
            (self.type_on, typing_on),
            (self.type_a_line, 10),
            (self.accept, 4),
            (self.delete, 3),
            (self.undo, 3),
            (self.burst, 2),
            (self.cancel, 4),
            (self.check, 3),
            (self.jump, 1),
            (self.reopen, 1),
            (self.change_document, 1),
        ]
        actions, weights = zip(*habits, strict=True)
        while not done() and not self.tally.unanswered:
            await self._chance.choices(actions, weights)[0]()
            if len(self._current.undo) > UNDO_STEPS:
                await self.undo(everything=True)

    # What a user does

    async def type_a_line(self) -> None:
        """Type a line, its end and the next one's indentation, and ask every few keys; some answers come too late."""
        rest = self._chance.choice(LINES)
        while rest:
            count = self._chance.randint(1, KEYS_AT_ONCE)
            self._replace(self._cursor, self._cursor, rest[:count])
            rest = rest[count:]
            answer = self._ask()
            if self._chance.random() < 0.7:
                await self._result(answer)
            else:
                self._replace(self._cursor, self._cursor, rest[:1])
                rest = rest[1:]
                await self._result(answer)
        self._replace(self._cursor, self._cursor, "\n    ")
        await self._result(self._ask())

    async def type_on(self) -> None:
        """Type some lines key by key, ask with each key, and look at the answers at the end of the line."""
        for _ in range(LINES_AT_ONCE):
            answers = []
            for key in self._chance.choice(LINES) + "\n    ":
                self._replace(self._cursor, self._cursor, key)
                answers.append(self._ask())
            self.tally.person_seconds += RHYTHM.micro_pause_share * MEAN_MICRO_PAUSE_SECONDS
            for answer in answers:
                await self._result(answer)

    async def accept(self) -> None:
        """Insert what is suggested, and say so."""
        result = await self._result(self._ask(invoked=True))
        if result and result["items"]:
            item = result["items"][0]
            self._replace(self._cursor, self._cursor, item["insertText"], keys=1)
            self.tally.person_seconds += RHYTHM.noticed_after(item["insertText"])
            command = {"command": item["command"]["command"], "arguments": item["command"]["arguments"]}
            await self.editor.request("workspace/executeCommand", command)

    async def delete(self) -> None:
        """Take characters before the cursor away, and ask."""
        count = min(self._cursor, self._chance.randint(1, 12))
        self._replace(self._cursor - count, self._cursor, "")
        await self._result(self._ask())

    async def undo(self, everything: bool = False) -> None:
        """Take edits back, the last one first, and ask."""
        undo = self._current.undo
        for _ in range(len(undo) if everything else min(len(undo), self._chance.randint(1, 8))):
            start, new, old = undo.pop()
            self.editor.replace(self._current.uri, start, start + len(new), old)
            self.tally.edits += 1
            self.tally.person_seconds += RHYTHM.backspace
        await self._result(self._ask())

    async def burst(self) -> None:
        """Send requests and edits without waiting; every one of them gets its answer."""
        answers = []
        for number in range(BURST):
            if number % 3 == 0:
                self._replace(self._cursor, self._cursor, self._chance.choice("abc_"))
            answers.append(self._ask())
        for answer in answers:
            await self._result(answer)

    async def cancel(self) -> None:
        """Ask and take it back, sooner or later."""
        self._replace(self._cursor, self._cursor, self._chance.choice("xyz"))
        number, answer = self._ask(invoked=True)
        await asyncio.sleep(self._chance.choice([0.0, 0.01, 0.1]))
        self.editor.notify("$/cancelRequest", {"id": number})
        await self._result((number, answer))

    async def jump(self) -> None:
        """Put the cursor somewhere else, and ask there."""
        text = self.editor.text(self._current.uri)
        self.tally.person_seconds += RHYTHM.jump
        self.editor.move(self._current.uri, text.find("\n", self._chance.randrange(len(text))) % (len(text) + 1))
        await self._result(self._ask())

    async def reopen(self) -> None:
        """Close the document without saving it, open it again, and ask."""
        self.editor.close(self._current.uri)
        self._open(self._current)
        await self._result(self._ask())

    async def change_document(self) -> None:
        """Go on in another document."""
        self._current = self._chance.choice(self._documents)
        await self._result(self._ask())

    async def check(self) -> None:
        """Compare the server's text with ours.

        The server remembers a suggestion with 4,000 characters before and 600 after the cursor, as they were in its own
        text. Then it gets our whole text. If it answers from that memory now, the two texts are the same.
        """
        first = await self._result(self._ask(invoked=True))
        if not first or not first["items"]:
            return  # nothing to remember
        self.editor.resend(self._current.uri)
        second = await self._result(self._ask(invoked=True))
        status = await self.editor.status()
        same = status["lastReason"] == "cached" and second["items"][0]["insertText"] == first["items"][0]["insertText"]
        self.tally.checks += 1
        self.tally.different += not same

    # How it is done

    @property
    def _cursor(self) -> int:
        return self.editor.cursor(self._current.uri)

    def _open(self, document: _Document) -> None:
        document.undo.clear()
        end = document.original.rindex("\n", 0, -len(document.original) // 10)
        self.editor.open(document.uri, "python", document.original, cursor=end)

    def _replace(self, start: int, end: int, text: str, keys: int | None = None) -> None:
        """Put `text` in place of a range, with so many keys; one for each character unless given."""
        old = self.editor.text(self._current.uri)[start:end]
        self.tally.edits += 1
        self.tally.person_seconds += RHYTHM.key * (len(text) if keys is None else keys) + RHYTHM.backspace * len(old)
        self.editor.replace(self._current.uri, start, end, text)
        self._current.undo.append((start, text, old))

    def _ask(self, invoked: bool = False) -> Answer:
        params = self.editor.completion_params(self._current.uri, invoked=invoked)
        return self.editor.start_request("textDocument/inlineCompletion", params)

    async def _result(self, answer: Answer) -> Any:
        """Return the result, None for an error, and count it."""
        try:
            result = await asyncio.wait_for(answer[1], ANSWER_SECONDS)
        except asyncio.TimeoutError:
            self.tally.unanswered += 1
            return None
        except ResponseError as error:
            if error.code == _CANCELLED:
                self.tally.cancelled += 1
            else:
                self.tally.failed += 1
            return None
        self.tally.answered += 1
        return result
