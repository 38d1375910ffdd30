"""Measuring a machine for the cost model, one decode at a time, so that whoever has better to do may leave after any.

First thread counts are compared where several are in question, then every width is timed with the best ones. Each round
times everything once, since a machine that gets slower meanwhile then slows all of it.
"""

from __future__ import annotations

import time
from collections.abc import Hashable, Mapping, Sequence
from statistics import median
from typing import NamedTuple

from spark_lsp.decoding.cost_model import CostModel
from spark_lsp.decoding.kv_cache import KVCache

CONTEXT_TOKENS = 256
"""Tokens before a timed decode: what a prompt has, since attention takes longer behind more of them."""

CALIBRATION_WIDTHS = (1, 2, 3, 4, 5, 8, 12, 16, 24, 32)
"""Tokens of one step. CPU kernels work in groups of four rows; 3 and 5 show what the rows beside a group cost."""
CALIBRATION_SAMPLES = 3
"""Timings of each width, of which the median counts: one disturbed step does no harm."""
PROMPT_SLICE_TOKENS = 64
"""Tokens of the step that measures the prompt rate, which is how prompts are decoded."""
THREADS_WIDTH = 16
"""Width by which the threads for several tokens are chosen: that of a long draft."""
FEWER_THREADS_SHARE = 0.05
"""Of two thread counts within this share the smaller one is used: what it leaves is the editor's."""


class CalibrationStep(NamedTuple):
    """A decode to time: `tokens` tokens of which the last `outputs` want logits."""

    tokens: int
    outputs: int
    threads: int | None = None
    """Threads to decode it with; None for those in use."""


def thread_candidates(cores: int) -> tuple[int, ...]:
    """Return the thread counts worth comparing on a machine where this process may use `cores` logical cores.

    All, three quarters and half of them: cores may be two to a physical one, or of two kinds. From 1 up to 4 cores
    every count is one of these. A single candidate is no comparison, so none is returned then.
    """
    candidates = sorted({cores, max(1, cores * 3 // 4), max(1, cores // 2)})
    return tuple(candidates) if len(candidates) > 1 else ()


class Calibration:
    """Asks for timings until it knows the costs of the machine."""

    def __init__(
        self,
        *,
        widths: Sequence[int] = CALIBRATION_WIDTHS,
        samples: int = CALIBRATION_SAMPLES,
        max_outputs: int = 32,
        threads: Sequence[int] = (),
    ) -> None:
        single, several = CalibrationStep(1, 1), CalibrationStep(THREADS_WIDTH, 1)
        self._comparison = {kind: [kind._replace(threads=count) for count in threads] for kind in (single, several)}
        steps = [CalibrationStep(width, width) for width in sorted({1, *widths}) if width <= max_outputs]
        self._round = [*steps, CalibrationStep(PROMPT_SLICE_TOKENS, 0)]
        self._wanted = samples
        compared = [step for kind in self._comparison.values() for step in kind]
        self._seconds: dict[CalibrationStep, list[float]] = {step: [] for step in [*compared, *self._round]}

    def next_step(self) -> CalibrationStep | None:
        """Return the decode to time next, the same again until it was recorded; None when all is measured."""
        compared = [step for step in self._seconds if step.threads is not None]
        for phase in (compared, self._round):
            step = min(phase, key=lambda s: len(self._seconds[s]), default=None)
            if step is not None and len(self._seconds[step]) < self._wanted:
                return step
        return None

    def record(self, step: CalibrationStep, seconds: float) -> None:
        """Take in that `step` took `seconds`; a step that was interrupted is not recorded."""
        self._seconds[step].append(seconds)

    @property
    def threads(self) -> tuple[int, int] | None:
        """The best thread counts for one token and for several; None while or where they are not compared."""
        single, several = (_fewest_fast(self._medians(steps)) for steps in self._comparison.values())
        return (single, several) if single is not None and several is not None else None

    @property
    def fraction(self) -> float:
        """Share of the timings that are done, 0 to 1."""
        return sum(map(len, self._seconds.values())) / (self._wanted * len(self._seconds))

    def result(self) -> CostModel | None:
        """Return the measured costs, None before all is measured."""
        if self.next_step() is not None:
            return None
        *steps, prompt = self._round
        times = {step.tokens: max(median(self._seconds[step]), 1e-9) for step in steps}
        return CostModel(times, prompt.tokens / max(median(self._seconds[prompt]), 1e-9), self.threads)

    def _medians(self, steps: Sequence[CalibrationStep]) -> dict[int, float]:
        """Return the seconds by thread count, empty before all are measured."""
        if any(len(self._seconds[step]) < self._wanted for step in steps):
            return {}
        return {step.threads: median(self._seconds[step]) for step in steps if step.threads is not None}


def _fewest_fast(seconds: Mapping[int, float]) -> int | None:
    """Return the smallest thread count that is about as fast as the fastest one."""
    if not seconds:
        return None
    bound = (1 + FEWER_THREADS_SHARE) * min(seconds.values())
    return min(count for count, time in seconds.items() if time <= bound)


def time_decode(cache: KVCache, key: Hashable, count: int, outputs: int) -> float:
    """Return the seconds of a decode of `count` tokens with `outputs` rows behind `CONTEXT_TOKENS` others.

    The tokens mean nothing and are not counted. Raises what `KVCache.prefill` raises; an interrupted decode gives no
    time.
    """
    with cache.uncounted():
        if len(cache.tokens(key)) < CONTEXT_TOKENS:
            cache.prefill(key, [0] * CONTEXT_TOKENS)
        cache.rewind(key, CONTEXT_TOKENS)
        begun = time.perf_counter()
        cache.extend(key, [0] * count, outputs)
        seconds = time.perf_counter() - begun
        cache.rewind(key, CONTEXT_TOKENS)
        return seconds
