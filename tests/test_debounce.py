"""When the engine starts on a request: at once, unless waiting for the next key costs little and saves work."""

from __future__ import annotations

import pytest

from spark_lsp.debounce import PAUSE_SECONDS, Debounce, delay_seconds

CASES = [
    ("nothing known", None, None, False, False, 0.0),
    ("no rhythm known", None, 2.0, False, False, 0.0),
    ("no latency known", 0.1, None, False, False, 0.0),
    ("a fast engine and a fast typist", 0.05, 0.1, False, False, 0.0),
    ("there before the next key", 0.4, 0.3, False, False, 0.0),
    ("a slow engine and a fast typist", 0.1, 0.6, False, False, 0.13),
    ("a slow engine and a slow typist", 0.3, 2.0, False, False, 0.39),
    ("a wait that would end before the next key", 0.2, 0.6, False, False, 0.0),
    ("asked for by hand", 0.1, 0.6, True, False, 0.0),
    ("a prompt that is needed anyway", 0.1, 0.6, False, True, 0.0),
]


@pytest.mark.parametrize(("name", "gap", "latency", "invoked", "cold", "delay"), CASES, ids=[case[0] for case in CASES])
def test_the_wait(name: str, gap: float | None, latency: float | None, invoked: bool, cold: bool, delay: float) -> None:
    assert delay_seconds(gap, latency, invoked=invoked, cold=cold) == pytest.approx(delay)


def typed(keys: list[float], latencies: list[float]) -> Debounce:
    debounce = Debounce()
    for key in keys:
        debounce.key(key)
    for latency in latencies:
        debounce.finished(latency)
    return debounce


BURST = [10.0, 10.1, 10.2, 10.3, 10.4, 10.5]


def test_it_counts_from_the_last_key() -> None:
    assert typed(BURST, [0.6]).due(10.52, invoked=False) == pytest.approx(10.63)
    assert typed(BURST, [0.6]).due(11.0, invoked=False) == 11.0
    assert typed(BURST, [0.6]).due(10.52, invoked=True) == 10.52


def test_a_pause_is_no_rhythm_and_one_slow_answer_no_slow_engine() -> None:
    pauses = [number * (PAUSE_SECONDS + 1) for number in range(10)]
    assert typed(pauses, [5.0]).due(18.0, invoked=False) == 18.0
    assert typed(BURST, [0.05, 3.0, 0.05]).due(10.5, invoked=False) == 10.5


def test_a_job_that_was_stopped_in_its_prompt_is_gone_on_with_at_once() -> None:
    debounce = typed(BURST, [0.6])
    debounce.stopped(cold=True)
    assert debounce.due(10.5, invoked=False) == 10.5
    debounce.stopped(cold=False)
    assert debounce.due(10.5, invoked=False) > 10.5
