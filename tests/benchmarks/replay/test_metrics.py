"""Traces made by hand, with figures that can be checked by hand."""

from __future__ import annotations

import pytest

from benchmarks.replay.metrics import Tally, figures, quantile, tally, total
from benchmarks.replay.trace import Counts, Event, Shown, Stroked, Trace
from benchmarks.replay.typist import Kind

JUMP, KEY, DELETE, ACCEPT = Kind.JUMP, Kind.KEY, Kind.DELETE, Kind.ACCEPT


def stroke(at: float, kind: Kind, offset: int, text: str = "", *, removed: int = 0, quiet: bool = False) -> Stroked:
    return Stroked(at, kind, offset, text, removed, quiet)


def of(*events: Event) -> Tally:
    return tally(Trace(list(events)), lambda text: len(text.split()))


def test_the_time_to_ghost_text_runs_from_the_last_stroke_to_the_first_text() -> None:
    found = of(
        stroke(1.0, JUMP, 0),
        Shown(1.5, 0, "cold", 4),
        Shown(1.9, 0, "cold and grown", 4),
        stroke(2.0, KEY, 0, "x"),
        stroke(2.5, KEY, 1, "y"),
        Shown(2.75, 2, "warm", 4),
        stroke(3.0, JUMP, 90),
        stroke(3.5, KEY, 90, "z"),
        Shown(3.6, 91, "cold again", 4),
    )
    assert found.cold == pytest.approx([0.5, 0.1])
    assert found.warm == pytest.approx([0.25])


def test_places_are_counted_by_whether_a_text_came_before_the_next_stroke() -> None:
    found = of(
        stroke(0, JUMP, 0),
        Shown(1, 0, "abc", 3),
        stroke(2, KEY, 0, "a"),
        stroke(3, DELETE, 0, quiet=True),
        Shown(3.5, 0, "noise", 0),
        stroke(4, KEY, 0, "b", quiet=True),
        Shown(5, 1, "", 0),
    )
    assert (found.typing_places, found.ghosts) == (2, 1)
    assert (found.quiet_places, found.quiet_kept) == (2, 1)
    assert found.strokes == 3, "a jump is no stroke"


def test_the_wait_for_an_accepted_text_runs_to_its_first_appearance() -> None:
    found = of(
        stroke(10.0, KEY, 0, "r"),
        Shown(10.4, 1, "eturn the value", 15),
        stroke(10.6, KEY, 1, "e"),
        Shown(10.7, 2, "turn the value", 14),
        stroke(11.2, ACCEPT, 2, "turn the value"),
    )
    assert found.waited == pytest.approx(0.4), "and not the 0.1 s until it was shown again"
    assert (found.kept_tokens, found.kept_characters, found.accepted) == (3, 14, 1)
    assert figures(found)["felt tokens/s"] == pytest.approx(3 / 0.4)


def test_what_is_left_of_a_longer_text_was_on_screen_already() -> None:
    found = of(
        stroke(1.0, KEY, 0, "r"),
        Shown(1.5, 1, "eturn a\nreturn b", 16),
        stroke(2.0, ACCEPT, 1, "eturn a"),
        Shown(2.3, 8, "\nreturn b", 9),
        stroke(3.0, ACCEPT, 8, "\nreturn b"),
    )
    assert found.waited == pytest.approx(0.5), "0.5 s for the first piece and nothing for the second"
    assert found.kept_tokens == 4


def test_a_text_that_came_after_an_acceptance_has_its_own_wait() -> None:
    found = of(
        stroke(1.0, KEY, 0, "r"),
        Shown(1.5, 1, "eturn", 5),
        stroke(2.0, ACCEPT, 1, "eturn"),
        Shown(2.01, 6, " value", 6),
        stroke(3.0, ACCEPT, 6, " value"),
    )
    assert found.waited == pytest.approx(0.5 + 0.01)


def test_a_text_that_was_typed_away_from_is_new_when_it_comes_back() -> None:
    found = of(
        stroke(1.0, KEY, 0, "r"),
        Shown(2.0, 1, "eturn", 5),
        stroke(2.5, KEY, 1, "x", quiet=True),
        stroke(3.0, DELETE, 1, removed=1),
        Shown(3.25, 1, "eturn", 5),
        stroke(4.0, ACCEPT, 1, "eturn"),
    )
    assert found.waited == pytest.approx(0.25)


def test_a_text_that_indents_the_line_anew_is_found_again() -> None:
    found = of(
        stroke(1.0, KEY, 0, "\n    "),
        Shown(1.5, 1, "return x", 8),
        stroke(2.0, ACCEPT, 1, "return x", removed=4),
    )
    assert found.waited == pytest.approx(0.5)


def test_what_appeared_at_a_cold_place_is_left_out_of_the_warm_figure_however_late_it_grew() -> None:
    found = of(
        stroke(1.0, JUMP, 0),
        Shown(3.0, 0, "cold", 4),
        Shown(3.5, 0, "cold text", 9),
        stroke(4.0, ACCEPT, 0, "cold text"),
        Shown(4.25, 9, "warm", 4),
        stroke(5.0, ACCEPT, 9, "warm"),
    )
    assert (found.waited, found.waited_warm) == (pytest.approx(2.5 + 0.25), pytest.approx(0.25))
    assert (found.kept_tokens, found.kept_tokens_warm) == (3, 1)
    assert figures(found)["felt warm"] == pytest.approx(1 / 0.25)


def test_a_text_that_was_never_shown_cannot_be_accepted() -> None:
    with pytest.raises(ValueError, match="never on screen"):
        of(stroke(1.0, KEY, 0, "r"), Shown(1.5, 1, "eturn", 5), stroke(2.0, ACCEPT, 1, "aise"))


@pytest.mark.parametrize(
    ("events", "wrong", "why"),
    [
        ([Shown(1, 1, "right and wrong", 6)], 9, "all that follows the right beginning"),
        (
            [Shown(1, 1, "right and wrong", 6), stroke(2, KEY, 1, "r"), Shown(3, 2, "ight and wrong", 5)],
            9,
            "seen before",
        ),
        ([Shown(1, 1, "ab", 2), Shown(1.1, 1, "abxy", 2), Shown(1.2, 1, "abxyz", 2)], 3, "each as it grows"),
        ([Shown(1, 1, "abx", 2), Shown(1.1, 1, "aby", 2)], 2, "another text in its place"),
        ([Shown(1, 1, "abx", 2), stroke(2, KEY, 1, "z"), Shown(3, 2, "bx", 0)], 3, "typed away from, then new"),
        ([Shown(1, 1, "right", 5)], 0, "nothing wrong"),
    ],
)
def test_wrong_characters_count_when_they_first_appear(events: list[Event], wrong: int, why: str) -> None:
    assert of(stroke(0, KEY, 0, "x"), *events).wrong_characters == wrong, why


def test_figures_are_quotients_of_sums_over_all_sessions() -> None:
    part = Tally(
        sessions=1,
        seconds=30.0,
        strokes=60,
        strokes_alone=100,
        warm=[0.1],
        quiet_places=4,
        quiet_kept=3,
        typing_places=10,
        ghosts=5,
        kept_characters=40,
        kept_tokens=10,
        waited=0.5,
        kept_tokens_warm=6,
        waited_warm=0.2,
        wrong_characters=20,
        requests=8,
        without_model=6,
        prompt_tokens=80,
        decoded_tokens=30,
        cpu_seconds=15.0,
    )
    both = figures(total([part, part, Tally(sessions=1, kept_characters=20, warm=[0.2, 0.3])]))
    assert both == pytest.approx(
        {
            "warm p50": 0.15,
            "warm p90": 0.27,
            "warm p95": 0.285,
            "cold p50": None,
            "cold p95": None,
            "every stroke p50": None,
            "places with a ghost": 0.5,
            "without a model call": 0.75,
            "kept characters": 100,
            "wrong per kept": 0.4,
            "decoded per kept": 0.6,
            "prompt per kept": 1.6,
            "saved strokes": 0.4,
            "quiet rate": 0.75,
            "CPU s per minute": 30,
            "felt tokens/s": 20,
            "felt warm": 30,
        }
    )


@pytest.mark.parametrize(("warm", "wanted"), [([0.3, 0.1], 0.3), ([0.1], None), ([0.3, 0.2, 0.1], 0.2)])
def test_a_stroke_without_a_text_counts_as_endless(warm: list[float], wanted: float | None) -> None:
    of = Tally(warm=warm[1:], cold=warm[:1], typing_places=2, quiet_places=1)
    assert figures(of)["every stroke p50"] == wanted


def test_nothing_measured_is_none_and_not_zero() -> None:
    assert {name for name, value in figures(Tally()).items() if value is not None} == {"kept characters"}


def test_counts_are_those_since_the_session_began() -> None:
    spent = Counts(9, 4, 300, 50, 7.5).since(Counts(4, 1, 100, 20, 2.5))
    found = tally(Trace([], 1.0, spent, 3), len)
    assert (found.requests, found.without_model, found.prompt_tokens, found.decoded_tokens) == (5, 3, 200, 30)
    assert found.cpu_seconds == 5.0


@pytest.mark.parametrize(
    ("values", "share", "wanted"), [([], 0.5, None), ([3.0], 0.95, 3.0), ([0, 1, 2, 3, 4], 0.9, 3.6)]
)
def test_quantiles_are_interpolated(values: list[float], share: float, wanted: float | None) -> None:
    assert quantile(values, share) == (None if wanted is None else pytest.approx(wanted))
