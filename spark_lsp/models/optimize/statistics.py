"""Paired comparison of two yes-or-no results on the same tasks. Pure.

The interval is the one of Bonett and Price (2012) for the difference of two paired proportions: a Wald interval after
one task more was counted on either side of the disagreement, which keeps it honest where few tasks disagree. Several
cuts of one line are not independent, so its width grows by the design effect of those groups (ratio of the variance
between groups to the one that independent tasks would have).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

Z_95 = 1.959964
"""Standard normal quantile of a two-sided 95 % interval."""


@dataclass(frozen=True, slots=True)
class PairedLoss:
    """How much less often the second of two succeeds, in points of a hundred, with its 95 % interval."""

    tasks: int
    first: float
    """Success of the first, in percent."""
    second: float
    loss: float
    low: float
    high: float
    disagreement: float
    """Share of tasks on which the two differ."""
    design_effect: float

    def tasks_to_show(self, bound: float) -> int | None:
        """Return about how many tasks would bring the upper end down to `bound`; None when no number would."""
        if self.loss >= bound:
            return None
        share = max(self.disagreement, 1.0 / max(1, self.tasks))
        return math.ceil((100 * Z_95 / (bound - self.loss)) ** 2 * share * self.design_effect)


def paired_loss(first: Sequence[Sequence[bool]], second: Sequence[Sequence[bool]]) -> PairedLoss:
    """Return the loss from `first` to `second`; both are lists of groups of results and have the same shape.

    Without any task everything is 0 and the interval is the whole range of -100 to 100 points.
    """
    groups = [(list(a), list(b)) for a, b in zip(first, second, strict=True)]
    tasks = sum(len(a) for a, _ in groups)
    if not tasks:
        return PairedLoss(0, 0.0, 0.0, 0.0, -100.0, 100.0, 0.0, 1.0)
    lost = sum(x and not y for a, b in groups for x, y in zip(a, b, strict=True))
    won = sum(y and not x for a, b in groups for x, y in zip(a, b, strict=True))
    p_lost, p_won = (lost + 1) / (tasks + 2), (won + 1) / (tasks + 2)
    centre = p_lost - p_won
    effect = _design_effect(groups, tasks)
    half = Z_95 * math.sqrt((p_lost + p_won - centre**2) / (tasks + 2) * effect)
    return PairedLoss(
        tasks=tasks,
        first=100.0 * sum(map(sum, (a for a, _ in groups))) / tasks,
        second=100.0 * sum(map(sum, (b for _, b in groups))) / tasks,
        loss=100.0 * (lost - won) / tasks,
        low=max(-100.0, 100.0 * (centre - half)),
        high=min(100.0, 100.0 * (centre + half)),
        disagreement=(lost + won) / tasks,
        design_effect=effect,
    )


def _design_effect(groups: list[tuple[list[bool], list[bool]]], tasks: int) -> float:
    """Return the variance of the mean difference with groups over the one without, at least 1."""
    sums = [(sum(a) - sum(b), len(a)) for a, b in groups]
    mean = sum(total for total, _ in sums) / tasks
    between = sum((total - mean * size) ** 2 for total, size in sums)
    single = sum(x != y for a, b in groups for x, y in zip(a, b, strict=True)) - tasks * mean**2
    return max(1.0, between / single) if single > 0 else 1.0
