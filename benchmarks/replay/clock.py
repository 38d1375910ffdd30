"""A virtual clock: an event loop whose time jumps to the next thing that is due, so that logic is tested in no time.

Only for programs inside the loop: with real input and output, time would run away from them. Published figures have the
real clock.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine, Mapping
from typing import Any, TypeVar

T = TypeVar("T")


class _Leaping(selectors.BaseSelector):
    """Waits for nothing: the clock moves on by what would have been waited."""

    def __init__(self) -> None:
        self._real = selectors.DefaultSelector()
        self.now = 0.0

    def register(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        return self._real.register(fileobj, events, data)

    def unregister(self, fileobj: Any) -> selectors.SelectorKey:
        return self._real.unregister(fileobj)

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None:
            raise RuntimeError("nothing is due on the virtual clock, and everybody waits")
        self.now += max(0.0, timeout)
        return self._real.select(0)

    def get_map(self) -> Mapping[Any, selectors.SelectorKey]:
        return self._real.get_map()

    def close(self) -> None:
        self._real.close()


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop with such a clock; it begins at 0 s."""

    def __init__(self) -> None:
        self._leaping = _Leaping()
        super().__init__(self._leaping)

    def time(self) -> float:
        return self._leaping.now


def run_virtually(work: Coroutine[Any, Any, T]) -> T:
    """Return the result of `work`, run on a virtual clock."""
    loop = VirtualLoop()
    try:
        return loop.run_until_complete(work)
    finally:
        loop.close()
