"""How long a request waits for the next key before the engine starts on it.

Usually not at all: work that a key stops has cost nobody anything but processor time, and what it computed of the
prompt stays. Waiting pays where the next key is likely to come before the first text and the wait for it is a small
part of what the text takes anyway. `delay_seconds` decides; `Debounce` measures what it needs.
"""

from __future__ import annotations

from collections import deque
from statistics import median

FAST_SECONDS = 0.15
"""An engine that has its first text by then starts at once, however fast somebody types."""
REACH = 1.3
"""So many typical gaps between keys are waited: three of four keys of one burst come by then."""
SHARE = 0.33
"""Most of the time to the first text that may be added to it. A wait that would end before the next key, because it
has to be shorter than this, would only be lost: then there is none."""
PAUSE_SECONDS = 1.0
"""A longer gap is a pause and says nothing about the rhythm."""
_GAPS, _FEWEST_GAPS = 16, 4
_LATENCIES = 8


def delay_seconds(gap: float | None, latency: float | None, *, invoked: bool, cold: bool) -> float:
    """Return how long after the last key the engine starts, in seconds.

    `gap` is the typical time between two keys and `latency` that from start to first text, None while unknown.
    `invoked` is a request made by hand. `cold` means that a part of the prompt is missing, which a key does not make
    superfluous.
    """
    if invoked or cold or gap is None or latency is None or latency <= max(FAST_SECONDS, gap):
        return 0.0
    wanted = REACH * gap
    return wanted if wanted <= SHARE * latency else 0.0


class Debounce:
    """The rhythm of the keys and the speed of the engine. Not thread safe; times by one monotonic clock, in seconds."""

    def __init__(self) -> None:
        self._gaps: deque[float] = deque(maxlen=_GAPS)
        self._latencies: deque[float] = deque(maxlen=_LATENCIES)
        self._last_key: float | None = None
        self._cold = False

    def key(self, now: float) -> None:
        """Take note of an edit."""
        if self._last_key is not None and now - self._last_key <= PAUSE_SECONDS:
            self._gaps.append(now - self._last_key)
        self._last_key = now

    def stopped(self, *, cold: bool) -> None:
        """Take note of a job that was stopped, `cold` before its first text."""
        self._cold = cold

    def finished(self, first_text_seconds: float) -> None:
        """Take note of how long it took to the first text."""
        self._cold = False
        self._latencies.append(first_text_seconds)

    def due(self, now: float, *, invoked: bool) -> float:
        """Return when the engine starts on a request that is made `now`."""
        gap = median(self._gaps) if len(self._gaps) >= _FEWEST_GAPS else None
        latency = median(self._latencies) if self._latencies else None
        delay = delay_seconds(gap, latency, invoked=invoked, cold=self._cold)
        return max(now, (self._last_key or now) + delay) if delay else now
