"""A program inside the event loop: knows the newer version of the file, and shows what follows after a while."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from benchmarks.replay.completer import Ghost, OnShow, Opened
from benchmarks.replay.trace import Counts


class ScriptedCompleter:
    """Shows `answer(text, cursor)` after `seconds`, unless something is typed before."""

    def __init__(self, answer: Callable[[str, int], Ghost], seconds: float = 0.1, name: str = "scripted") -> None:
        self.name = name
        self.text = ""
        self.cursor = 0
        self.closed = False
        self._answer = answer
        self._seconds = seconds
        self._on_show: OnShow = lambda ghost: None
        self._timer: asyncio.TimerHandle | None = None
        self._requests = 0

    async def start(self) -> None:
        self.closed = False

    def open(self, file: Opened, on_show: OnShow) -> None:
        self.text, self.cursor, self._on_show = file.text, file.cursor, on_show

    def edit(self, start: int, end: int, text: str) -> None:
        self.text = self.text[:start] + text + self.text[end:]
        self.move(start + len(text))

    def move(self, cursor: int) -> None:
        self.cursor = cursor
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(self._seconds, self._show)

    def accept(self, ghost: Ghost, length: int) -> None:
        self.edit(self.cursor - ghost.back, self.cursor, ghost.text[:length])

    async def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    async def counts(self) -> Counts:
        return Counts(requests=self._requests, cpu_seconds=float(self._requests))

    async def stop(self) -> None:
        self.closed = True

    def _show(self) -> None:
        self._requests += 1
        self._on_show(self._answer(self.text, self.cursor))


def knowing(new: str, length: int = 1000) -> Callable[[str, int], Ghost]:
    """Return an answer: what stands in `new` between the text before and after the cursor, as far as `new` has both."""

    def answer(text: str, cursor: int) -> Ghost:
        before, after = text[max(0, cursor - 12) : cursor], text[cursor : cursor + 12]
        if new.count(before) != 1:
            return Ghost("")
        begin = new.index(before) + len(before)
        end = new.find(after, begin)
        return Ghost(new[begin : min(end, begin + length)] if end >= 0 else "")

    return answer


def silent(text: str, cursor: int) -> Ghost:
    """Never show anything."""
    return Ghost("")


def wrong(text: str, cursor: int) -> Ghost:
    """Show what nobody writes."""
    return Ghost("QQQQ")
