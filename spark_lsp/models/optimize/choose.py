"""Which variant to keep: the fastest whose loss is shown to be within the bound. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from spark_lsp.models.optimize.statistics import Z_95, PairedLoss

SMALLEST_GAIN = 1.05
"""A variant has to be so many times as fast as the original; less is within what measurements vary by."""


class Verdict(Enum):
    """What became of a variant."""

    KEPT = "kept"
    SLOWER = "slower than the kept one"
    LOSS = "loses too much"
    UNSHOWN = "loss not shown to be within the bound"
    NO_GAIN = "not faster than the original"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Measured:
    """One variant with everything that was measured."""

    recipe: str
    bytes: int
    resident: int | None
    gains: Mapping[str, float]
    """How many times as fast as the original, by kind of work."""
    agreement: float
    """Next tokens that are the original's, in percent."""
    loss: PairedLoss
    complete: bool
    """Whether the loss was measured on the whole sample."""

    @property
    def speed(self) -> float:
        """The geometric mean of the gains: no kind of work counts more, and a loss in one is not hidden by another."""
        return math.prod(self.gains.values()) ** (1 / len(self.gains)) if self.gains else 1.0


def loses_too_much(loss: PairedLoss, bound: float) -> bool:
    """Return whether even the lower end of the interval is beyond the bound: measuring on would not help."""
    return loss.low > bound


def is_hopeless(loss: PairedLoss, bound: float, tasks: int) -> bool:
    """Return whether the loss is unlikely to be shown within the bound by as many as `tasks` tasks.

    Even if the true loss were one standard error less than what was found so far, the interval would not get narrow
    enough. As with every early end this can only refuse a variant, never keep one.
    """
    if not loss.tasks:
        return False
    half = loss.high - loss.loss
    at_the_end = half * math.sqrt(min(1.0, loss.tasks / max(1, tasks)))
    return loss.loss - half / Z_95 + at_the_end > bound


def is_within(loss: PairedLoss, bound: float) -> bool:
    """Return whether the upper end of the interval is within the bound."""
    return loss.tasks > 0 and loss.high <= bound


def in_order(measured: Sequence[Measured]) -> list[Measured]:
    """Return the variants, fastest first; of two equally fast ones the one that loses less."""
    return sorted(measured, key=lambda m: (-m.speed, m.loss.loss))


def choose(measured: Sequence[Measured], bound: float) -> Measured | None:
    """Return the fastest variant within the bound on the whole sample, or None."""
    return next(
        (m for m in in_order(measured) if m.complete and m.speed >= SMALLEST_GAIN and is_within(m.loss, bound)), None
    )


def verdicts(measured: Sequence[Measured], bound: float) -> dict[str, Verdict]:
    """Return what is said of each variant, by recipe."""
    kept = choose(measured, bound)
    return {m.recipe: _verdict(m, kept, bound) for m in measured}


def _verdict(m: Measured, kept: Measured | None, bound: float) -> Verdict:
    if kept is not None and m.recipe == kept.recipe:
        return Verdict.KEPT
    if m.speed < SMALLEST_GAIN:
        return Verdict.NO_GAIN
    if loses_too_much(m.loss, bound):
        return Verdict.LOSS
    if kept is not None and m.speed <= kept.speed:
        return Verdict.SLOWER
    return Verdict.UNSHOWN


def pareto_front(measured: Sequence[Measured]) -> frozenset[str]:
    """Return the recipes that no other one and not the original beats, in speed and in loss as measured."""
    points = [(m.recipe, m.speed, m.loss.loss) for m in measured]
    every = [*points, ("", 1.0, 0.0)]
    return frozenset(
        recipe
        for recipe, speed, loss in points
        if not any(s >= speed and p <= loss and (s > speed or p < loss) for _, s, p in every)
    )
