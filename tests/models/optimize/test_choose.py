"""Loss with its interval, Pareto front and choice."""

from __future__ import annotations

import math
import random

import pytest

from spark_lsp.models.optimize.choose import Measured, Verdict, choose, is_hopeless, pareto_front, verdicts
from spark_lsp.models.optimize.statistics import PairedLoss, paired_loss


def results(lost: int, won: int, both: int, neither: int) -> tuple[list[list[bool]], list[list[bool]]]:
    """Pairs of single results: first and second."""
    pairs = [(True, False)] * lost + [(False, True)] * won + [(True, True)] * both + [(False, False)] * neither
    return [[a] for a, _ in pairs], [[b] for _, b in pairs]


class TestPairedLoss:
    def test_the_loss_is_the_difference_in_points(self) -> None:
        loss = paired_loss(*results(lost=30, won=10, both=500, neither=460))
        assert (loss.tasks, loss.first, loss.second, loss.loss) == (1000, 53.0, 51.0, 2.0)
        assert loss.low < 2.0 < loss.high

    def test_the_interval_is_that_of_bonett_and_price(self) -> None:
        loss = paired_loss(*results(lost=30, won=10, both=500, neither=460))
        p_lost, p_won = 31 / 1002, 11 / 1002
        half = 1.959964 * math.sqrt((p_lost + p_won - (p_lost - p_won) ** 2) / 1002)
        assert loss.high == pytest.approx(100 * (p_lost - p_won + half))
        assert loss.low == pytest.approx(100 * (p_lost - p_won - half))

    def test_equal_results_on_few_tasks_prove_nothing(self) -> None:
        few, many = (paired_loss(*results(0, 0, count, 0)) for count in (20, 2000))
        assert few.high > 10
        assert many.high < 0.2

    def test_no_task_gives_the_whole_range(self) -> None:
        loss = paired_loss([], [])
        assert (loss.low, loss.high) == (-100.0, 100.0)

    def test_results_that_fall_together_in_a_group_widen_the_interval(self) -> None:
        single_a, single_b = results(30, 0, 60, 0)
        alone = paired_loss(single_a, single_b)
        grouped = paired_loss(
            [[True] * 3] * 30, [[False] * 3] * 10 + [[True] * 3] * 20
        )  # the same ninety results, three of a kind together
        assert grouped.loss == alone.loss
        assert grouped.design_effect == pytest.approx(3.0)
        assert grouped.high - grouped.low > 1.5 * (alone.high - alone.low)

    def test_the_interval_holds_the_truth_about_as_often_as_it_says(self) -> None:
        rng, held = random.Random(5), 0
        for _ in range(300):
            pairs = [(rng.random() < 0.5, rng.random()) for _ in range(150)]
            # The second loses 8 % of what the first hits and wins 2 % of what it misses: 3 points in truth.
            second = [(hit and p >= 0.08) or (not hit and p < 0.02) for hit, p in pairs]
            loss = paired_loss([[hit] for hit, _ in pairs], [[hit] for hit in second])
            held += loss.low <= 3.0 <= loss.high
        assert 0.9 <= held / 300 <= 1.0

    def test_it_says_how_many_tasks_would_show_a_bound(self) -> None:
        loss = paired_loss(*results(lost=10, won=10, both=180, neither=0))
        needed = loss.tasks_to_show(1.5)
        assert needed is not None
        scaled = paired_loss(*results(*(n * needed // 200 for n in (10, 10, 180)), 0))
        assert scaled.high == pytest.approx(1.5, abs=0.1)
        assert paired_loss(*results(10, 0, 90, 0)).tasks_to_show(1.5) is None


def variant(
    name: str, speed: float, loss: float, *, half: float = 1.0, complete: bool = True, tasks: int = 900
) -> Measured:
    paired = PairedLoss(tasks, 60.0, 60.0 - loss, loss, loss - half, loss + half, 0.05, 1.0)
    gains = dict.fromkeys(("prompt", "1", "4", "16"), speed)
    return Measured(name, 100, 200, gains, 95.0, paired, complete)


class TestChoice:
    def test_the_fastest_within_the_bound_is_kept(self) -> None:
        found = [variant("mild", 1.2, 0.0), variant("good", 1.5, 0.4), variant("fast", 2.0, 4.0)]
        assert verdicts(found, 1.5) == {"mild": Verdict.SLOWER, "good": Verdict.KEPT, "fast": Verdict.LOSS}

    def test_the_upper_end_of_the_interval_decides_and_not_the_loss(self) -> None:
        found = [variant("wide", 1.5, 0.6, half=1.0), variant("narrow", 1.4, 0.6, half=0.8)]
        assert verdicts(found, 1.5) == {"wide": Verdict.UNSHOWN, "narrow": Verdict.KEPT}

    def test_a_part_of_the_sample_is_not_enough(self) -> None:
        assert choose([variant("early", 1.5, 0.0, complete=False)], 1.5) is None

    def test_none_is_kept_when_none_is_faster(self) -> None:
        found = [variant("slow", 1.01, 0.0)]
        assert choose(found, 1.5) is None
        assert verdicts(found, 1.5) == {"slow": Verdict.NO_GAIN}

    def test_one_gain_does_not_hide_a_loss_of_speed_elsewhere(self) -> None:
        uneven = Measured("uneven", 1, 1, {"prompt": 4.0, "1": 0.25}, 95.0, variant("", 1, 0).loss, True)
        assert uneven.speed == pytest.approx(1.0)

    def test_the_front_holds_what_nothing_beats(self) -> None:
        found = [
            variant("mild", 1.2, 0.2),
            variant("dominated", 1.1, 0.4),
            variant("fast", 1.8, 3.0),
            variant("worse than nothing", 0.9, 0.1),
        ]
        assert pareto_front(found) == {"mild", "fast"}


@pytest.mark.parametrize(
    ("lost", "won", "tasks_so_far", "planned", "hopeless"),
    [
        (0, 0, 60, 1800, False),
        (0, 0, 60, 60, True),
        (3, 1, 60, 1800, False),
        (12, 3, 60, 1800, True),
        (30, 10, 600, 1800, True),
        (12, 8, 600, 1800, False),
        (20, 20, 600, 60_000, False),
    ],
)
def test_measuring_goes_on_while_the_bound_may_still_be_shown(
    lost: int, won: int, tasks_so_far: int, planned: int, hopeless: bool
) -> None:
    loss = paired_loss(*results(lost, won, tasks_so_far // 2, tasks_so_far - lost - won - tasks_so_far // 2))
    assert is_hopeless(loss, 1.5, planned) == hopeless


def test_without_a_task_there_is_hope() -> None:
    assert not is_hopeless(paired_loss([], []), 1.5, 0)
