"""Shares and paired differences with their standard errors. Pure.

Tasks of one group (holes of one HumanEval problem, of one file) are not independent, so the standard errors are those
of cluster sampling; where every task is a group of its own, they are the usual ones.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean and its standard error; the error is nan where a single group cannot tell it."""

    mean: float
    error: float
    count: int


def mean(values: Sequence[float], groups: Sequence[str]) -> Estimate:
    """Return the mean of `values`; a share where they are yes and no. ValueError without any value."""
    if not values:
        raise ValueError("there is nothing to average")
    count = len(values)
    average = sum(values) / count
    sums: defaultdict[str, float] = defaultdict(float)
    for value, group in zip(values, groups, strict=True):
        sums[group] += value - average
    if len(sums) < 2:
        return Estimate(average, math.nan, count)
    spread = sum(total**2 for total in sums.values()) * len(sums) / (len(sums) - 1)
    return Estimate(average, math.sqrt(spread) / count, count)


def difference(first: Sequence[float], second: Sequence[float], groups: Sequence[str]) -> Estimate:
    """Return the mean of `first` minus `second` over the same tasks."""
    return mean([a - b for a, b in zip(first, second, strict=True)], groups)
