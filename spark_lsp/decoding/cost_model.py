"""What a decode step of so many tokens costs on this machine.

Everything that trades time asks it: the length of a draft, the budget of a prompt, warm-up. The times are measured when
idle (`calibration`), kept in the cache directory (`cost_cache`), and follow the machine while it works (`observe`).
"""

from __future__ import annotations

import json
import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

DEFAULT_PLAIN_SECONDS = 0.043
DEFAULT_RELATIVE_SECONDS = {1: 1.0, 2: 1.9, 4: 2.6, 8: 4.5, 16: 7.3, 32: 13.7}
DEFAULT_PROMPT_RATE = 92.0
"""Until the machine was measured: two AVX2 cores with Qwen2.5-Coder-0.5B Q4_K_M (ARCHITECTURE §1). The ratios decide
about drafts, and they are the worst of the machines in use, so that an unknown one is not made slower."""

HULL_TOLERANCE = 0.25
"""A width counts as on the lower convex hull up to this share above it. On the exact hull a draft that is always right
would be verified fastest; a real one fails early, so a narrow width slightly above the hull wins. The default curve has
only 1 and 32 on the exact hull, yet verifying 3 tokens that are right in 8 of 10 cases at width 4 gains 13 %."""
COMMON_WEIGHT, OWN_WEIGHT = 0.08, 0.02
"""Shares of the moving average: of what a step took beyond its prediction the first goes to all widths (the machine got
slower, which is the usual reason), the second to its own width (the curve has another shape). Ten steps count."""
LARGEST_SURPRISE = math.log(1.3)
"""More deviation counts as this much: a step that was preempted for a second moves the times by 3 %."""

MOST_PROMPT_TOKENS = 1_000_000
"""Longer than any context: the answer where there is no deadline."""

_FORMAT = 2
_MAX_WIDTH = 65_536


class CostModel:
    """Seconds of a step by its width (tokens decoded together, with an output for each), and the prompt rate.

    `step_seconds` has width 1; all numbers are positive and finite; ValueError otherwise. Belongs to one thread, except
    that any thread may ask `seconds`, `widths` and `tokens_within`.
    """

    def __init__(
        self,
        step_seconds: Mapping[int, float],
        prompt_tokens_per_second: float,
        threads: tuple[int, int] | None = None,
        exact_width: int = 1,
    ) -> None:
        numbers = [*step_seconds.values(), prompt_tokens_per_second]
        if 1 not in step_seconds or min(step_seconds) < 1 or max(step_seconds) > _MAX_WIDTH:
            raise ValueError("a cost model needs the time of a step of one token, and widths are positive")
        if not all(math.isfinite(number) and number > 0 for number in numbers):
            raise ValueError("times and rates are positive and finite")
        self._measured = dict(sorted(step_seconds.items()))
        self._prompt_rate = prompt_tokens_per_second
        self._threads = threads
        self.exact_width = exact_width
        """Up to this width a decode gives the same logits, bit for bit, as decodes of one token (`exactness`)."""
        self._curve = _Curve.of(self._measured)

    @property
    def widths(self) -> tuple[int, ...]:
        """The widths worth using, ascending from 1: those near the lower convex hull of the measured times."""
        return tuple(width for width, _ in self._curve.steps)

    @property
    def steps(self) -> tuple[tuple[int, float], ...]:
        """The widths worth using, each with its seconds."""
        return self._curve.steps

    @property
    def row_share(self) -> float:
        """The least that a further token adds to a step, as a share of a plain step; infinite with one width only.

        No draft pays whose first token is less likely than this, since it is at most as likely to gain anything.
        """
        return self._curve.row_share

    @property
    def step_seconds(self) -> dict[int, float]:
        """The measured times."""
        return dict(self._measured)

    @property
    def prompt_tokens_per_second(self) -> float:
        """Rate of decoding prompt tokens, which want no output."""
        return self._prompt_rate

    @property
    def threads(self) -> tuple[int, int] | None:
        """The fastest thread counts, for one token and for several; None where they were not compared."""
        return self._threads

    def seconds(self, width: int) -> float:
        """Return the time of a step of `width` tokens, 0 for 0: linear between measured widths and beyond the last."""
        return self._curve.seconds(width)

    def tokens_within(self, seconds: float) -> int:
        """Return how many prompt tokens can be decoded in `seconds`, at least 0 and at most `MOST_PROMPT_TOKENS`."""
        return int(max(0.0, min(seconds * self._prompt_rate, MOST_PROMPT_TOKENS)))

    def observe(self, width: int, seconds: float) -> None:
        """Learn from a step that took `seconds`. Its influence is bounded; a time that cannot be is ignored."""
        if width < 1 or not (math.isfinite(seconds) and seconds > 0):
            return
        surprise = math.log(seconds / self.seconds(width))
        surprise = max(-LARGEST_SURPRISE, min(LARGEST_SURPRISE, surprise))
        common, own = math.exp(COMMON_WEIGHT * surprise), math.exp(OWN_WEIGHT * surprise)
        measured = {w: t * common * (own if w == width else 1.0) for w, t in self._measured.items()}
        self._measured, self._curve = measured, _Curve.of(measured)

    def observe_prompt(self, tokens: int, seconds: float) -> None:
        """Learn from `tokens` prompt tokens that took `seconds`, with bounded influence."""
        if tokens < 1 or not (math.isfinite(seconds) and seconds > 0):
            return
        surprise = math.log(tokens / seconds / self._prompt_rate)
        surprise = max(-LARGEST_SURPRISE, min(LARGEST_SURPRISE, surprise))
        self._prompt_rate *= math.exp((COMMON_WEIGHT + OWN_WEIGHT) * surprise)

    def to_json(self) -> str:
        """Return the model as text for `from_json`."""
        steps = {str(width): seconds for width, seconds in self._measured.items()}
        return json.dumps(
            {
                "format": _FORMAT,
                "prompt_tokens_per_second": self._prompt_rate,
                "step_seconds": steps,
                "threads": self._threads,
                "exact_width": self.exact_width,
            },
            indent=1,
        )

    @staticmethod
    def from_json(text: str) -> CostModel | None:
        """Return the model that `to_json` wrote; None for anything else."""
        try:
            data = json.loads(text)
            if data["format"] != _FORMAT:
                return None
            steps = {int(width): float(seconds) for width, seconds in data["step_seconds"].items()}
            threads = data["threads"]
            if threads is not None:
                single, several = map(int, threads)
                threads = (single, several) if single > 0 and several > 0 else None
            exact_width = max(1, int(data["exact_width"]))
            return CostModel(steps, float(data["prompt_tokens_per_second"]), threads, exact_width)
        except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError):
            return None


def default_cost_model() -> CostModel:
    """Return the costs to assume before the machine was measured."""
    steps = {width: DEFAULT_PLAIN_SECONDS * ratio for width, ratio in DEFAULT_RELATIVE_SECONDS.items()}
    return CostModel(steps, DEFAULT_PROMPT_RATE)


MEASURING_PROMPT_RATE = 200.0
"""Prompt tokens a second with which every default window is read whole, as it is configured."""


class SteadyCostModel(CostModel):
    """Learns nothing: what is measured of a model does not depend on how busy the machine was meanwhile."""

    def __init__(self) -> None:
        default = default_cost_model()
        super().__init__(default.step_seconds, MEASURING_PROMPT_RATE)

    def observe(self, width: int, seconds: float) -> None:
        """Ignore it."""

    def observe_prompt(self, tokens: int, seconds: float) -> None:
        """Ignore it."""


class _Curve(NamedTuple):
    """Step times as a line through the measured points."""

    widths: tuple[int, ...]
    times: tuple[float, ...]
    steps: tuple[tuple[int, float], ...]
    """Those near the hull."""
    row_share: float

    @staticmethod
    def of(measured: Mapping[int, float]) -> _Curve:
        widths = tuple(sorted(measured))
        times = [measured[width] for width in widths]
        # A step may always carry more tokens than needed, so no width costs more than a wider one.
        for index in range(len(times) - 2, -1, -1):
            times[index] = min(times[index], times[index + 1])
        hull = lower_hull(list(zip(widths, times, strict=True)))
        steps = tuple(
            (width, time)
            for width, time in zip(widths, times, strict=True)
            if time <= (1 + HULL_TOLERANCE) * _between(hull, width)
        )
        plain = times[0]
        row_share = min(((time / plain - 1) / (width - 1) for width, time in steps[1:]), default=math.inf)
        return _Curve(widths, tuple(times), steps, row_share)

    def seconds(self, width: int) -> float:
        if width <= 0:
            return 0.0
        widths, times = self.widths, self.times
        right = bisect_right(widths, width)
        if widths[right - 1] == width:
            return times[right - 1]
        if len(widths) == 1:
            return times[0] * width
        # Beyond the last width the whole curve's slope: that of the last two points alone may be noise.
        left, right = (0, right - 1) if right == len(widths) else (right - 1, right)
        slope = (times[right] - times[left]) / (widths[right] - widths[left])
        return times[right] + slope * (width - widths[right])


def lower_hull(points: Sequence[tuple[int, float]]) -> list[tuple[int, float]]:
    """Return the vertices of the lower convex hull of points with ascending x (A. M. Andrew's algorithm, 1979)."""
    hull: list[tuple[int, float]] = []
    for x, y in points:
        while len(hull) > 1:
            (x0, y0), (x1, y1) = hull[-2:]
            if (y1 - y0) * (x - x0) < (y - y0) * (x1 - x0):
                break
            hull.pop()
        hull.append((x, y))
    return hull


def _between(points: Sequence[tuple[int, float]], x: int) -> float:
    """Return the height at `x` of the line through `points`, `x` being between the first and the last."""
    for (x0, y0), (x1, y1) in pairwise(points):
        if x0 <= x <= x1:
            return y0 + (y1 - y0) * (x - x0) / (x1 - x0)
    return points[0][1]
