"""Measured runs that were made up, for tests of what is printed about them."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from benchmarks.latency.measure import DRAFTING, PEER, PEER_NGRAM, PLAIN, Sample

MACHINE = {"cpu": "abacus", "cores": 2}


def sample(mode: str, seconds: float, *, kind: str = "b", case: str = "x", turn: int = 0, **more: Any) -> Sample:
    """A decode of ten tokens."""
    values = {"tokens": 10, "steps": 10, "drafted": 0, "accepted": 0, "same_text": True, **more}
    return Sample(kind=kind, case=case, round=turn, mode=mode, seconds=seconds, **values)


def latency_run(samples: list[Sample], left_out: str = "") -> dict[str, Any]:
    """What `python -m benchmarks.latency --json` writes, as read back from the file."""
    return {
        "benchmark": "latency",
        "machine": MACHINE,
        "model": "/models/small.gguf",
        "run": "10 tokens a case",
        "prompt_tokens_per_second": 92.4,
        "step_seconds": {"1": 0.04, "4": 0.1},
        "peer": {"version": "1.2", "ngram": "ngram-map-k", "left_out": left_out},
        "samples": [asdict(one) for one in samples],
    }


EXAMPLE = [
    sample(PLAIN, 1.0),
    sample(DRAFTING, 0.5, steps=4, sources={"document": (8, 6)}),
    sample(PEER, 1.25),
    sample(PEER_NGRAM, 0.8, drafted=12, accepted=5),
    sample(PLAIN, 1.0, turn=1),
    sample(DRAFTING, 0.8, turn=1, steps=8, sources={"document": (4, 0), "previous": (2, 2)}),
    sample(PEER, 1.25, turn=1),
    sample(PEER_NGRAM, 0.8, turn=1, drafted=12, accepted=6, same_text=False),
    sample(PLAIN, 1.0, kind="c", case="y"),
    sample(DRAFTING, 1.25, kind="c", case="y", same_text=False),
]
