from __future__ import annotations

import math

import pytest

from benchmarks.infilling.statistics import difference, mean


def test_the_error_of_a_share_of_independent_tasks_is_the_usual_one() -> None:
    values = [1.0] * 30 + [0.0] * 70
    found = mean(values, [str(number) for number in range(100)])
    assert found.mean == pytest.approx(0.3)
    assert found.error == pytest.approx(math.sqrt(0.3 * 0.7 / 99))
    assert found.count == 100


def test_tasks_that_repeat_each_other_count_once() -> None:
    alone = mean([1.0, 0.0, 0.0, 1.0], ["a", "b", "c", "d"])
    tripled = mean([1.0, 0.0, 0.0, 1.0] * 3, ["a", "b", "c", "d"] * 3)
    assert tripled.error == pytest.approx(alone.error)


def test_a_paired_difference_is_surer_than_two_shares() -> None:
    first, second = [1.0, 1.0, 1.0, 0.0] * 25, [1.0, 1.0, 0.0, 0.0] * 25
    groups = [str(number) for number in range(100)]
    found = difference(first, second, groups)
    assert found.mean == pytest.approx(0.25)
    assert found.error == pytest.approx(math.sqrt(0.25 * 0.75 / 99))
    assert found.error < math.hypot(mean(first, groups).error, mean(second, groups).error)


def test_the_same_results_do_not_differ_at_all() -> None:
    found = difference([1.0, 0.0], [1.0, 0.0], ["a", "b"])
    assert (found.mean, found.error) == (0.0, 0.0)


def test_one_group_alone_tells_no_error() -> None:
    assert math.isnan(mean([1.0, 0.0], ["a", "a"]).error)


def test_nothing_has_no_mean() -> None:
    with pytest.raises(ValueError, match="nothing"):
        mean([], [])


def test_results_of_other_tasks_are_refused() -> None:
    with pytest.raises(ValueError, match="shorter"):
        difference([1.0, 0.0], [1.0], ["a", "b"])
