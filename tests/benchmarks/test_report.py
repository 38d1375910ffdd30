from __future__ import annotations

import json

import pytest

from benchmarks.latency.measure import DRAFTING, PLAIN
from benchmarks.latency.report import quartiles, ratio_of_totals, ratios, render, speeds
from benchmarks.responsiveness.report import render as render_responsiveness
from tests.benchmarks.runs import EXAMPLE, MACHINE, latency_run, sample


def rows(report: str) -> dict[str, list[str]]:
    """The cells of every table line by the first cell; of equal first cells the last line."""
    lines = [line.strip("| ").split(" | ") for line in report.splitlines() if line.startswith("|")]
    return {cells[0]: cells[1:] for cells in lines}


def test_the_report_of_a_run_is_made_from_its_json_file() -> None:
    measured = latency_run(EXAMPLE)
    assert render(json.loads(json.dumps(measured))) == render(measured)


def test_the_heading_names_machine_model_and_extent() -> None:
    assert render(latency_run(EXAMPLE)).startswith("cpu abacus, cores 2\n\nmodel small.gguf, 10 tokens a case\n")


def test_step_times_are_in_milliseconds_and_relative_to_a_step_of_one_token() -> None:
    table = rows(render(latency_run(EXAMPLE)))
    assert table["tokens in the step"] == ["1", "4"]
    assert table["ms"] == ["40", "100"]
    assert table["relative to one token"] == ["1.0", "2.5"]
    assert "Prompt rate 92 tokens/s" in render(latency_run(EXAMPLE))


def test_drafting_is_compared_by_pairs_and_by_totals() -> None:
    measured = latency_run(EXAMPLE, left_out="No peer.")
    assert rows(render(measured))["(b) repetitive code"] == [
        "10.0 (10.0 to 10.0)",
        "16.2 (14.4 to 18.1)",
        "1.62 (1.44 to 1.81)",
        "1.54",
        "1.67",
        "0 of 2",
    ]
    assert rows(render(measured))["(c) edited suggestion"][3:] == ["0.80", "1.00", "1 of 1"]


def test_a_kind_that_was_not_measured_has_no_row() -> None:
    assert "free code" not in render(latency_run(EXAMPLE))


def test_the_case_that_loses_most_is_named() -> None:
    assert "serves worst is (c) y: 0.80." in render(latency_run(EXAMPLE))


def test_acceptance_is_counted_by_source_and_kind() -> None:
    table = rows(render(latency_run(EXAMPLE)))
    assert table["document"] == ["6/12 (50%)", "6/12 (50%)", "-"]
    assert table["previous"] == ["2/2 (100%)", "2/2 (100%)", "-"]


def test_llama_server_has_its_own_table_with_both_of_its_modes() -> None:
    cells = rows(render(latency_run(EXAMPLE)))["(b) repetitive code"]
    assert cells[2:4] == ["8.0 (8.0 to 8.0)", "12.5 (12.5 to 12.5)"]
    assert cells[-2:] == ["11/24", "3 of 4"]


def test_a_peer_that_was_left_out_is_one_sentence() -> None:
    own = [one for one in EXAMPLE if one.mode in (PLAIN, DRAFTING)]
    assert render(latency_run(own, left_out="No peer here.")).endswith("\n\nNo peer here.\n")


def test_a_ratio_is_of_the_same_case_in_the_same_round() -> None:
    samples = [
        sample(PLAIN, 1.0),
        sample(PLAIN, 4.0, turn=1),
        sample(DRAFTING, 2.0, turn=1),
        sample(DRAFTING, 0.5),
        sample(DRAFTING, 0.1, case="without a plain decode"),
    ]
    assert ratios(samples, "b") == [2.0, 2.0]
    assert ratio_of_totals(samples[:4]) == 2.0
    assert speeds(samples, "b", PLAIN) == [10.0, 2.5]


@pytest.mark.parametrize(
    ("values", "expected"), [([3.0], (3.0, 3.0, 3.0)), ([1.0, 2.0, 3.0, 4.0, 5.0], (2.0, 3.0, 4.0))]
)
def test_quartiles(values: list[float], expected: tuple[float, float, float]) -> None:
    assert quartiles(values) == expected


def test_responsiveness_prints_median_and_worst_under_the_same_heading() -> None:
    measured = {"machine": MACHINE, "model": "m", "run": "1 run", "samples": {"exit, s": [0.1, 0.3, 0.2]}}
    report = render_responsiveness(measured)
    assert report.startswith("cpu abacus, cores 2\n\nmodel m, 1 run\n\n")
    assert rows(report)["exit, s"] == ["0.2", "0.3", "3"]
