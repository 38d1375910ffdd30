"""The length of a draft against a search through all of them."""

from __future__ import annotations

import math

from hypothesis import given, settings
from hypothesis import strategies as st

from spark_lsp.decoding.calibration import CALIBRATION_WIDTHS
from spark_lsp.decoding.cost_model import CostModel, default_cost_model
from spark_lsp.decoding.drafters.length import MIN_GAIN, choose_length, weigh_lengths

CONFIDENCES = st.lists(st.floats(0.0, 1.0), max_size=40)
COSTS = st.builds(
    lambda times: CostModel(dict(zip(CALIBRATION_WIDTHS, times, strict=True)), 100.0),
    st.lists(st.floats(0.001, 1.0), min_size=len(CALIBRATION_WIDTHS), max_size=len(CALIBRATION_WIDTHS)),
)


def expected_tokens(confidences: list[float], length: int) -> float:
    return 1 + sum(math.prod(confidences[:count]) for count in range(1, length + 1))


@settings(max_examples=200, deadline=None)
@given(CONFIDENCES, COSTS)
def test_it_has_the_most_tokens_per_second_of_all_widths_worth_using(confidences: list[float], cost: CostModel) -> None:
    rates = {
        width - 1: expected_tokens(confidences, width - 1) / cost.seconds(width)
        for width in cost.widths
        if width - 1 <= len(confidences)
    }
    plain = rates.pop(0)
    best = max(rates.values(), default=0.0)
    chosen = choose_length(confidences, cost)
    if chosen:
        assert math.isclose(rates[chosen], best)
        assert best >= plain * (1 + MIN_GAIN) * (1 - 1e-9)
    else:
        assert best <= plain * (1 + MIN_GAIN) * (1 + 1e-9)


@settings(max_examples=200, deadline=None)
@given(CONFIDENCES, COSTS, st.integers(2, 40))
def test_beside_a_prompt_it_saves_the_most_seconds(confidences: list[float], cost: CostModel, pending: int) -> None:
    widest = cost.widths[-1]
    lengths = [n for n in range(1, len(confidences) + 1) if pending >= widest or pending + n in cost.widths]
    saved = {
        length: (expected_tokens(confidences, length) - 1) * cost.seconds(1)
        - (cost.seconds(pending + length) - cost.seconds(pending))
        for length in lengths
    }
    best = max(saved.values(), default=0.0)
    chosen = choose_length(confidences, cost, pending)
    if chosen:
        assert math.isclose(saved[chosen], best, rel_tol=1e-6, abs_tol=1e-9)
    else:
        assert best <= MIN_GAIN * cost.seconds(1) + 1e-9


def test_a_sure_draft_is_verified_as_widely_as_pays_and_a_doubtful_one_not_at_all() -> None:
    cost = default_cost_model()
    assert choose_length([1.0] * 31, cost) == 31
    assert choose_length([0.95] * 31, cost) == 15
    assert choose_length([0.8] * 31, cost) == 3
    assert choose_length([0.5] * 31, cost) == 0
    assert choose_length([], cost) == 0


def test_the_draft_ends_where_confidence_does() -> None:
    assert choose_length([0.97] * 7 + [0.1] * 24, default_cost_model()) == 7


def test_the_predicted_gain_is_the_speed_relative_to_plain_steps() -> None:
    cost = CostModel({1: 1.0, 4: 2.0}, 100.0)
    assert weigh_lengths([1.0, 1.0, 1.0], cost) == (3, 2.0)
    assert weigh_lengths([0.1, 1.0, 1.0], cost) == (0, 1.0)


def test_where_rows_are_dear_nothing_is_drafted() -> None:
    linear = CostModel({width: float(width) for width in CALIBRATION_WIDTHS}, 100.0)
    assert choose_length([0.99] * 31, linear) == 0
    assert choose_length([0.99] * 31, CostModel({1: 1.0}, 100.0)) == 0
