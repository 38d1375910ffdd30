from __future__ import annotations

import pytest

from benchmarks.latency.peer import PeerAnswer, answer_of, why_not


@pytest.mark.parametrize(
    ("status", "log", "sentence"),
    [
        (1, "Traceback\nModuleNotFoundError: No module named 'xllamacpp'", "the package xllamacpp is not installed"),
        (-4, "", "it died of SIGILL on this machine."),
        (-9, "", "it was killed before it was ready; 120 s are the limit."),
        (1, "Traceback\nRuntimeError: failed to load.\n", ": RuntimeError: failed to load."),
        (3, "", ": no reason given."),
    ],
)
def test_a_peer_that_does_not_start_says_why_in_one_sentence(status: int, log: str, sentence: str) -> None:
    said = why_not(status, log)
    assert said.startswith("llama-server was left out: ")
    assert sentence in said
    assert said.endswith(".")
    assert "\n" not in said


def test_the_speed_is_what_the_timings_say() -> None:
    timings = {"prompt_n": 5, "prompt_ms": 150.0, "predicted_n": 48, "predicted_ms": 2400.0}
    assert answer_of({"content": "x", "timings": timings}) == PeerAnswer("x", 48, 2.4, 0, 0)
    drafting = {**timings, "draft_n": 31, "draft_n_accepted": 7}
    assert answer_of({"content": "x", "timings": drafting}) == PeerAnswer("x", 48, 2.4, 31, 7)
