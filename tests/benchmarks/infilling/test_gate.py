from __future__ import annotations

import math
from typing import Any

import pytest

from benchmarks.infilling.gate import (
    SCORES,
    Shown,
    curve,
    first_lines,
    fit,
    further_lines,
    halves,
    hopeless,
    render,
    utility,
)
from tests.benchmarks.infilling.examples import record

FIRST = SCORES["first token"]


def texts(*values: tuple[float, bool]) -> list[Shown]:
    return [Shown(str(number), right, (value,)) for number, (value, right) in enumerate(values)]


def test_scores_of_a_text() -> None:
    values = (0.5, 1.0, 0.25)
    assert SCORES["mean"](values) == pytest.approx((math.log(0.5) + math.log(0.25)) / 3)
    assert SCORES["minimum"](values) == pytest.approx(math.log(0.25))
    assert FIRST(values) == pytest.approx(math.log(0.5))
    assert math.isfinite(FIRST((0.0,)))


def test_a_threshold_keeps_the_right_texts_and_drops_the_wrong_ones() -> None:
    found = fit(texts((0.9, True), (0.8, True), (0.3, False), (0.2, False)), FIRST, 1.0)
    assert math.log(0.3) < found.threshold < math.log(0.8)
    assert found.utility == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("values", "cost", "threshold"),
    [
        ([(0.9, True), (0.1, True)], 1.0, -math.inf),
        ([(0.9, False), (0.1, False)], 1.0, math.inf),
        ([(0.9, False), (0.1, True)], 0.25, -math.inf),
    ],
)
def test_everything_or_nothing_is_shown_where_that_is_best(
    values: list[tuple[float, bool]], cost: float, threshold: float
) -> None:
    assert fit(texts(*values), FIRST, cost).threshold == threshold


def test_texts_of_the_same_score_are_not_told_apart() -> None:
    some = texts((0.9, True), (0.5, True), (0.5, False), (0.1, False))
    assert not math.isclose(fit(some, FIRST, 1.0).threshold, math.log(0.5))


def test_the_utility_of_the_fitted_threshold_is_the_one_it_was_fitted_for() -> None:
    some = texts((0.9, True), (0.7, False), (0.6, True), (0.6, False), (0.2, True), (0.1, False))
    for cost in (0.25, 1.0, 4.0):
        found = fit(some, FIRST, cost)
        assert utility(some, FIRST, found.threshold, cost) == pytest.approx(found.utility)
        assert all(utility(some, FIRST, FIRST(text.probabilities), cost) <= found.utility + 1e-9 for text in some)


def test_the_curve_rises_where_the_score_tells_right_from_wrong() -> None:
    some = texts(*[(0.5 + number / 1000, number >= 50) for number in range(100)])
    points = curve(some, FIRST)
    assert points[0][0] == 1.0
    assert points[0][2] == pytest.approx(0.5)
    assert [right for _, _, right, _ in points] == sorted(right for _, _, right, _ in points)


def test_no_source_is_in_both_halves() -> None:
    some = [Shown(f"problem {number % 10}", True, (0.5,)) for number in range(100)]
    first, second = halves(some)
    assert len(first) + len(second) == 100
    assert not {text.group for text in first} & {text.group for text in second}


def test_only_first_lines_of_the_way_count() -> None:
    records = [
        record(1, "pipeline", exact=True),
        record(2, "raw", exact=True),
        record(3, "pipeline", exact=True, shown=False),
        record(4, "pipeline", exact=False, name="multi"),
    ]
    assert [text.group for text in first_lines(records, "pipeline")] == ["1", "4"]
    assert [text.group for text in first_lines(records, "pipeline", frozenset({"multi"}))] == ["4"]


def test_the_report_has_a_curve_for_each_score_and_the_fitted_thresholds() -> None:
    some = [Shown(str(number), number % 3 > 0, (0.2 + number % 3 / 4, 0.5)) for number in range(60)]
    report = render(some)
    assert all(f"Score: {name}" in report for name in SCORES)
    assert report.startswith("60 texts, the first line right in 40")
    with pytest.raises(ValueError, match="too few"):
        render(some[:1])


def ungated(number: int, *lines: tuple[bool, float], exact: bool = False, **more: Any) -> dict[str, Any]:
    """A text of which the gate showed nothing."""
    found = {"exact": exact, "lines": [{"right": right, "probabilities": [value]} for right, value in lines]}
    values: dict[str, Any] = {"exact": False, "shown": False, "reason": "low-confidence", "ungated": found, **more}
    return record(number, "pipeline", **values)


def test_thresholds_are_fitted_with_what_there_was_before_the_gate() -> None:
    (line,) = first_lines([ungated(1, (True, 0.5), (False, 0.1))], "pipeline")
    assert (line.right, line.probabilities) == (True, (0.5,))


def test_a_line_counts_with_the_least_sure_line_down_to_it_and_the_first_not_at_all() -> None:
    records = [ungated(1, (True, 0.2), (True, 0.9), (False, 0.5), (True, 0.8)), record(2, "pipeline", exact=True)]
    lines = further_lines(records, "pipeline", FIRST)
    assert [(line.right, line.probabilities) for line in lines] == [(True, (0.9,)), (False, (0.5,)), (True, (0.5,))]
    assert further_lines(records, "raw", FIRST) == []


def test_lines_without_a_token_of_their_own_are_passed_over() -> None:
    found = ungated(1, (True, 0.9), (True, 0.9), (False, 0.4))
    found["ungated"]["lines"][0]["probabilities"] = []
    assert [line.probabilities for line in further_lines([found], "pipeline", FIRST)] == [(0.4,)]


@pytest.mark.parametrize(
    ("values", "threshold", "hidden"),
    [
        ([(0.9, True), (0.1, False)], 0.3, 1),
        ([(0.9, False), (0.1, True)], 0.0, 0),
        ([(0.9, True), *[(0.2, False)] * 9, (0.1, True)], math.sqrt(0.9 * 0.2), 10),
    ],
)
def test_hopeless_texts_are_those_of_which_a_tenth_is_right(
    values: list[tuple[float, bool]], threshold: float, hidden: int
) -> None:
    found, count = hopeless(texts(*values), FIRST)
    assert (math.exp(found), count) == (pytest.approx(threshold), hidden)


def test_the_report_has_thresholds_for_lines_where_there_are_any() -> None:
    some = [Shown(str(number), number % 3 > 0, (0.2 + number % 3 / 4,)) for number in range(60)]
    assert "lines below the first one" not in render(some)
    assert "60 lines below the first one, 40 of them as the author wrote them" in render(some, {"mean": some})
