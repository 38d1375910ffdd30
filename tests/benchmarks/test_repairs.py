"""The benchmark of repairs: its faults are real ones, and its verdicts are right."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.repairs.faults import MODULE, SEEDED, Seeded
from benchmarks.repairs.held_out import HELD_OUT, INVENTORY
from benchmarks.repairs.linter import Finding, findings
from benchmarks.repairs.measure import measure, result
from benchmarks.repairs.report import render
from spark_lsp.decoding.cost_model import default_cost_model
from spark_lsp.pipeline import Pipeline
from spark_lsp.settings import CompletionSettings
from tests.scripted_engine import ScriptedEngine

EVERY = (*SEEDED, *HELD_OUT)
COLON = next(fault for fault in SEEDED if fault.name == "missing colon")


@pytest.mark.parametrize("module", [MODULE, INVENTORY])
def test_nothing_is_wrong_with_a_module(module: str) -> None:
    assert findings(module) == []


@pytest.mark.parametrize("fault", EVERY, ids=[fault.name for fault in EVERY])
def test_each_fault_has_a_diagnostic(fault: Seeded) -> None:
    assert findings(fault.module())


def test_there_are_enough_faults_with_names_of_their_own() -> None:
    assert len({fault.name for fault in EVERY}) == len(EVERY)
    assert min(len(SEEDED), len(HELD_OUT)) >= 10


@pytest.mark.parametrize(
    ("after", "verdict"),
    [
        (MODULE, "removed"),
        (COLON.module().replace("if top is not None\n", "if top:\n"), "removed"),
        (COLON.module().replace("if top is not None\n", "if tpo is not None:\n"), "worse"),
        (COLON.module().replace("if top is not None\n", "if top is not None\n\n"), "stays"),
        (COLON.module().replace("if top is not None\n", "if top is not = None:\n"), "worse"),
    ],
)
def test_what_became_of_a_diagnostic(after: str, verdict: str) -> None:
    (finding,) = findings(COLON.module())
    assert result(COLON.module(), after, finding, MODULE) == verdict


def test_a_diagnostic_has_the_place_that_editors_get() -> None:
    assert findings("x = (\n")[0].line == 0
    assert findings("import os\nprint(a)\n")[0] == Finding(1, 6, "undefined name 'a'")


def test_a_run_counts_what_was_removed() -> None:
    line = "    if top is not None"
    above = "    top = largest(orders)\n"
    script = [f"# was: {line.strip()}\n{above}{line}:\n        print(top.describe())"]
    pipeline = Pipeline(ScriptedEngine(script), CompletionSettings(snapshots=False), cost=default_cost_model())
    shown: list[dict[str, Any]] = []
    rows = measure(pipeline, [COLON], shown.append)
    assert shown == rows
    assert [(row["result"], row["exact"], row["proven"]) for row in rows] == [("removed", True, True)]
    table = render({"machine": {"cores": 2}, "model": "scripted", "run": "1 fault", "rows": rows})
    assert "1 of 1 diagnostics removed (1 as the author had it)" in table
    assert "| missing colon | expected ':' | '' → ':' | removed, exact, preferred | 1 |" in table
