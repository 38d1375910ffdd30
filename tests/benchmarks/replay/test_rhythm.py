from __future__ import annotations

import random
import statistics

import pytest

from benchmarks.replay.rhythm import Rhythm, before_line, before_word, between_keys

RHYTHM = Rhythm()


def draws(function: object, count: int = 4000) -> list[float]:
    assert callable(function)
    chance = random.Random(0)
    return [function(RHYTHM, chance) for _ in range(count)]


def test_the_mean_key_is_that_of_52_words_of_five_characters_a_minute() -> None:
    assert RHYTHM.key == pytest.approx(60 / 260)
    assert statistics.mean(draws(between_keys)) == pytest.approx(RHYTHM.key, rel=0.03)


def test_micro_pauses_last_2_to_15_seconds_and_the_short_ones_are_more_frequent() -> None:
    pauses = [pause for pause in draws(before_line) if pause]
    assert len(pauses) / 4000 == pytest.approx(RHYTHM.micro_pause_share, abs=0.03)
    assert 2 <= min(pauses) < statistics.median(pauses) < 4 < max(pauses) <= 15


def test_hesitations_stay_below_the_micro_pauses() -> None:
    pauses = [pause for pause in draws(before_word) if pause]
    assert 0.5 <= min(pauses) < max(pauses) <= 2.0


def test_more_lines_take_longer_to_be_recognized() -> None:
    assert RHYTHM.noticed_after("one") == pytest.approx(0.231 + 0.225)
    assert RHYTHM.noticed_after("one\ntwo") == pytest.approx(0.231 + 2 * 0.225)
