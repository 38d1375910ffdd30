"""The real model repairs, and what it leaves as it is costs few steps. All faults: `python -m benchmarks.repairs`."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.repairs.faults import SEEDED
from benchmarks.repairs.measure import measure
from spark_lsp.decoding.cost_model import default_cost_model
from spark_lsp.decoding.llama import LlamaEngine
from spark_lsp.pipeline import Pipeline
from spark_lsp.repair.prompts import Questions
from spark_lsp.settings import CompletionSettings

pytestmark = [pytest.mark.model, pytest.mark.timeout(900)]

CHOSEN = [fault for fault in SEEDED if fault.name in ("misspelt argument", "missing import", "unbalanced bracket")]


def test_seeded_faults_are_repaired_with_proof(model_path: Path) -> None:
    assert len(CHOSEN) == 3
    engine = LlamaEngine.load(model_path, context_tokens=2048)
    pipeline = Pipeline(engine, CompletionSettings(snapshots=False), cost=default_cost_model())
    try:
        assert Questions(engine).converses
        rows = measure(pipeline, CHOSEN, lambda row: None)
    finally:
        pipeline.close()
    assert [(row["result"], row["proven"]) for row in rows] == [("removed", True)] * 3
    assert rows[-1]["steps"] < rows[-1]["tokens"] / 2
