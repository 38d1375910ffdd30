"""A draft model's own probabilities, corrected by what came of them."""

from __future__ import annotations

import pytest

from spark_lsp.decoding.drafters import Draft
from spark_lsp.decoding.drafters.probability import CalibratedProbability


def draft(*probabilities: float) -> Draft:
    count = len(probabilities)
    return Draft((1,) * count, (0.5,) * count, "model", 0, probabilities=probabilities)


@pytest.mark.parametrize("probability", [0.0, 0.2, 0.4, 0.6, 0.8, 0.9, 0.97, 0.999, 1.0])
def test_at_first_the_model_is_believed(probability: float) -> None:
    assert CalibratedProbability().estimate(probability) == pytest.approx(probability, abs=0.16)


def test_a_model_that_is_too_sure_is_believed_less_and_only_where_it_was_wrong() -> None:
    calibrated = CalibratedProbability()
    before = calibrated.estimate(0.6)
    for _ in range(50):
        calibrated.observe(draft(0.9), 0)
    assert calibrated.estimate(0.9) < 0.4
    assert calibrated.estimate(0.6) == before


def test_what_follows_a_miss_is_not_counted() -> None:
    calibrated = CalibratedProbability()
    before = [calibrated.estimate(p) for p in (0.2, 0.6, 0.97)]
    calibrated.observe(draft(0.6, 0.2, 0.97), 1)
    after = [calibrated.estimate(p) for p in (0.2, 0.6, 0.97)]
    assert after[0] < before[0]
    assert after[1] > before[1]
    assert after[2] == before[2]
