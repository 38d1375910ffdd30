"""One session through one program: types the edits at a human rhythm, accepts what is right, and keeps what happened.

All times are the event loop's. The screen is cleared by every stroke; what the program shows afterwards is noticed
after a human reaction time and accepted then, unless the next key was due before. Typing into a text does not make one
notice it anew.
"""

from __future__ import annotations

import asyncio
import math
from dataclasses import dataclass, field

from benchmarks.replay.completer import Completer, Ghost, Opened
from benchmarks.replay.policy import AcceptPolicy, right_characters
from benchmarks.replay.rhythm import Rhythm
from benchmarks.replay.sessions import Session
from benchmarks.replay.trace import Shown, Stroked, Trace
from benchmarks.replay.typist import Kind, Stroke, Typist, indentation_of


@dataclass(frozen=True, slots=True)
class Manner:
    """How somebody works."""

    rhythm: Rhythm = field(default_factory=Rhythm)
    policy: AcceptPolicy = field(default_factory=AcceptPolicy)
    seed: int = 0


@dataclass(slots=True)
class _Seen:
    """What is or was last on the screen, and since when the author has seen its part that is right."""

    offset: int
    text: str
    since: float
    gone: float = math.inf


class _Author:
    """The author with the file, the hands and the eyes."""

    def __init__(self, session: Session, completer: Completer, manner: Manner) -> None:
        self._session = session
        self._completer = completer
        self._manner = manner
        self._loop = asyncio.get_running_loop()
        self._written = [hunk.old for hunk in session.hunks]
        self._hunk = session.order[0]
        self._typist = self._typist_of(self._hunk)
        self._ghost = Ghost("")
        self._seen = _Seen(0, "", math.inf)
        self._changed = asyncio.Event()
        self._last = self._loop.time()
        self.trace = Trace()

    async def work(self, name: str) -> None:
        """Make all edits of the session."""
        begin = self._loop.time()
        self._completer.open(Opened(name, self._session.language, self._session.text, 0), self._on_show)
        for number in self._session.order:
            self._hunk, self._typist = number, self._typist_of(number)
            await self._look(self._manner.rhythm.jump, accepting=False)
            self._do(Stroke(Kind.JUMP, 0, 0, "", 0.0))
            while (stroke := self._typist.stroke()) is not None:
                if await self._look(stroke.delay):
                    self._accept()
                else:
                    self._do(stroke)
        self.trace.seconds = self._loop.time() - begin
        await self._look(self._manner.rhythm.jump, accepting=False)
        if self._text() != self._session.final_text:
            raise RuntimeError(f"the replay of {self._session.id} did not end with the newer version")

    def _typist_of(self, number: int) -> Typist:
        return typist_of(self._session, number, self._manner)

    def _text(self) -> str:
        """Return the file as it is now."""
        final, parts, end = self._session.final_text, [], 0
        for hunk, written in zip(self._session.hunks, self._written, strict=True):
            parts += [final[end : hunk.start], written]
            end = hunk.start + len(hunk.new)
        return "".join([*parts, final[end:]])

    def _offset(self, place: int) -> int:
        """Return where a place of what is written in this hunk is in the file."""
        above = zip(self._session.hunks[: self._hunk], self._written, strict=False)
        longer = sum(len(written) - len(hunk.new) for hunk, written in above)
        return self._session.hunks[self._hunk].start + longer + place

    # The eyes

    def _on_show(self, ghost: Ghost) -> None:
        now = self._loop.time()
        if ghost == self._ghost:
            return
        if not ghost.text:
            self._clear(now)
            return
        offset = self._offset(len(self._typist.written) - ghost.back)
        rest = self._typist.rest_after(ghost.back)
        self.trace.events.append(Shown(now, offset, ghost.text, right_characters(ghost.text, rest)))
        self._ghost = ghost
        self._seen = _Seen(offset, ghost.text, self._seen_since(offset, now))
        self._changed.set()

    def _seen_since(self, offset: int, now: float) -> float:
        """Return when the part that would be accepted was first seen."""
        before, wanted = self._seen, self._ghost.text[: self._length()]
        begin = offset - before.offset
        same = begin >= 0 and bool(wanted) and before.text[begin:].startswith(wanted)
        return before.since if same and now - before.gone <= self._manner.rhythm.flicker else now

    def _clear(self, now: float) -> None:
        if self._ghost.text:
            self._ghost, self._seen.gone = Ghost(""), now
            self._changed.set()

    def _length(self) -> int:
        """Return how much of what is shown would be accepted."""
        rest = self._typist.rest_after(self._ghost.back)
        return self._manner.policy.accepted(self._ghost.text, rest) if rest else 0

    def _accepts_at(self) -> float:
        length = self._length() if self._ghost.text else 0
        if not length:
            return math.inf
        return self._seen.since + self._manner.rhythm.noticed_after(self._ghost.text[:length])

    async def _look(self, delay: float, *, accepting: bool = True) -> bool:
        """Wait until the next stroke is due; True if something is to be accepted before that."""
        due = self._last + delay
        while True:
            accepts_at = self._accepts_at() if accepting else math.inf
            until = min(due, accepts_at)
            left = until - self._loop.time()
            if left <= 0:
                return accepts_at <= due
            self._changed.clear()
            try:
                await asyncio.wait_for(self._changed.wait(), left)
            except asyncio.TimeoutError:
                continue

    # The hands

    def _do(self, stroke: Stroke) -> None:
        start, end = self._begin(stroke)
        if stroke.kind is Kind.JUMP:
            self._completer.move(start)
        else:
            self._completer.edit(start, end, stroke.text)

    def _accept(self) -> None:
        ghost, length = self._ghost, self._length()
        end = len(self._typist.written)
        self._begin(Stroke(Kind.ACCEPT, end - ghost.back, end, ghost.text[:length], 0.0))
        self._completer.accept(ghost, length)

    def _begin(self, stroke: Stroke) -> tuple[int, int]:
        """Take in a stroke before the program hears of it, which may answer at once; return what it replaces."""
        if stroke.kind is Kind.JUMP:
            start = end = self._offset(len(self._typist.written))
        else:
            start, end = self._offset(stroke.start), self._offset(stroke.end)
            self._typist.apply(stroke)
            self._written[self._hunk] = self._typist.written
        self._last = self._loop.time()
        self._clear(self._last)
        event = Stroked(self._last, stroke.kind, start, stroke.text, end - start, self._typist.quiet)
        self.trace.events.append(event)
        return start, end


def typist_of(session: Session, number: int, manner: Manner) -> Typist:
    """Return who makes one edit of a session; typing is a matter of the seed, not of the program."""
    hunk = session.hunks[number]
    line_before = session.final_text[: hunk.start].rpartition("\n")[2]
    indentation = indentation_of(session.text, session.language)
    return Typist(hunk, line_before, indentation, manner.rhythm, f"{manner.seed} {session.id} {number}")


def alone(session: Session, manner: Manner) -> tuple[int, float]:
    """Return strokes and seconds that the edits of a session take without any suggestion."""
    strokes, seconds = 0, manner.rhythm.jump * (len(session.hunks) + 1)
    for number in session.order:
        typist = typist_of(session, number, manner)
        while (stroke := typist.stroke()) is not None:
            typist.apply(stroke)
            strokes, seconds = strokes + 1, seconds + stroke.delay
    return strokes, seconds


async def replay(session: Session, completer: Completer, manner: Manner, name: str) -> Trace:
    """Return what happened when the edits of `session` were made with `completer`; `name` is the file's path."""
    before = await completer.counts()
    author = _Author(session, completer, manner)
    try:
        await author.work(name)
    finally:
        await completer.close()
    author.trace.counts = (await completer.counts()).since(before)
    author.trace.strokes_alone = alone(session, manner)[0]
    return author.trace
