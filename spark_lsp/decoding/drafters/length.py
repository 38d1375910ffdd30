"""How much of a draft is worth verifying.

A step that checks k draft tokens yields E(k) = 1 + c1 + c1 c2 + ... + c1...ck tokens on average, ci being the
confidences (Y. Leviathan et al., "Fast inference from transformers via speculative decoding", 2023, section 3.1, there
for equal ci), and takes T(1 + k) seconds. The best k maximises E(k) / T(1 + k), the tokens per second when every step
is made so.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from operator import mul
from typing import NamedTuple

from spark_lsp.decoding.cost_model import CostModel

MIN_GAIN = 0.05
"""Least predicted gain over plain steps. Less is within the error of the measured step times, and a step of several
rows that gains nothing delays the first text."""


class LengthChoice(NamedTuple):
    """How many tokens of a draft to verify."""

    length: int
    gain: float
    """Predicted speed relative to a plain step; 1.0 for length 0."""


_NONE = LengthChoice(0, 1.0)


def choose_length(confidences: Sequence[float], cost: CostModel, pending: int = 1) -> int:
    """Return how many tokens of a draft to verify together with `pending` tokens that are decoded in any case.

    Only widths in `cost.widths` are chosen; 0 when no width gains `MIN_GAIN`.
    """
    return weigh_lengths(confidences, cost, pending).length


def weigh_lengths(confidences: Sequence[float], cost: CostModel, pending: int = 1) -> LengthChoice:
    """Return the best length with its gain.

    When more than one token is pending (the end of a prompt) the step happens once, so there is no rate to maximise:
    the seconds of plain steps that the draft saves are weighed against the seconds that its rows add, and the gain is
    1 + the difference in plain steps.
    """
    if not confidences or (pending == 1 and confidences[0] < cost.row_share):
        return _NONE
    expected = list(accumulate(accumulate(confidences, mul), initial=1.0))
    plain = cost.seconds(1)
    best_length, best_gain = 0, 1.0 + MIN_GAIN
    if pending == 1:
        for width, seconds in cost.steps:
            if width > len(expected):
                break
            gain = expected[width - 1] * plain / seconds
            if width > 1 and gain >= best_gain:
                best_length, best_gain = width - 1, gain
    else:
        base = cost.seconds(pending)
        for length in lengths_to_try(len(confidences), cost, pending):
            gain = expected[length] - (cost.seconds(pending + length) - base) / plain
            if gain >= best_gain:
                best_length, best_gain = length, gain
    return LengthChoice(best_length, best_gain) if best_length else _NONE


def lengths_to_try(most: int, cost: CostModel, pending: int = 1) -> Sequence[int]:
    """Return the draft lengths up to `most` that make a step of a width in `cost.widths`.

    Beyond the widest one the cost grows evenly, so every length counts.
    """
    if pending >= cost.widths[-1]:
        return range(1, most + 1)
    return [width - pending for width in cost.widths if 0 < width - pending <= most]
