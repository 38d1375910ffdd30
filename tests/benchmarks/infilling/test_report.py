from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from benchmarks import readme
from benchmarks.infilling.report import paired, render
from benchmarks.infilling.ways import WITHOUT_OTHER_FILES
from tests.benchmarks.infilling.examples import infilling_run, record
from tests.benchmarks.test_report import rows

RECORDS = [
    *(record(number, "raw", exact=number < 40) for number in range(100)),
    *(record(number, "pipeline", exact=number < 65, duplicates=number < 2) for number in range(100)),
    *(record(number, "without healing", exact=number < 50) for number in range(99)),
]


def cells(report: str, *first: str) -> list[str]:
    """The cells of the table line that begins with these."""
    lines = [line.strip("| ").split(" | ") for line in report.splitlines() if line.startswith("|")]
    return next(line[len(first) :] for line in lines if tuple(line[: len(first)]) == first)


def test_shares_have_standard_errors_and_differences_are_paired() -> None:
    report = render(infilling_run(RECORDS))
    head = ("random-column", "exact match")
    assert cells(report, *head, "raw") == ["100", "40.0 ± 4.9", "-", "-"]
    assert cells(report, *head, "pipeline") == ["100", "65.0 ± 4.8", "+25.0 ± 4.4", "-"]
    assert cells(report, *head, "without healing") == ["99", "50.5 ± 5.1", "+10.1 ± 3.0", "-15.2 ± 3.6"]


def test_a_difference_is_over_the_tasks_that_both_have() -> None:
    found = paired(RECORDS, "without healing", "raw", "exact")
    assert found is not None
    assert found.count == 99
    assert paired(RECORDS, "pipeline", "raw", "passed") is None


def test_damage_is_counted_among_shown_texts() -> None:
    hidden = record(100, "pipeline", exact=False, shown=False)
    report = render(infilling_run([*RECORDS, hidden]))
    none = "0 (below 3.00)"
    assert cells(report, "all sets", "pipeline") == ["100 of 101", none, none, "2.00 ± 1.41", none]


def test_pass_at_1_has_its_own_line() -> None:
    some = [record(n, "raw", exact=False, name="single", passed=n == 0) for n in range(2)]
    report = render(infilling_run(some))
    assert cells(report, "single", "pass@1", "raw")[1].startswith("50.0")
    assert cells(report, "single", "exact match", "raw")[1].startswith("0 (below")


def test_languages_are_told_apart_where_there_are_several() -> None:
    some = [
        record(number, way, exact=way == "pipeline", name="safim-api", language=language, id=f"{language}{number}")
        for number in range(3)
        for language in ("java", "cpp")
        for way in ("raw", "pipeline")
    ]
    assert cells(render(infilling_run(some)), "safim-api", "java")[-1] == "+100.0 ± 0.0"
    assert "by language" not in render(infilling_run(RECORDS))


def test_the_second_request_of_the_multi_file_set_is_compared_by_pairs() -> None:
    def second(seconds: float) -> dict[str, object]:
        return {"name": "packages", "prompt_tokens": 300, "second": {"prompt_tokens": 2, "first_text_seconds": seconds}}

    some = [record(n, "pipeline", exact=True, **second(0.11)) for n in range(3)]
    some += [record(n, WITHOUT_OTHER_FILES.name, exact=True, **second(0.1)) for n in range(3)]
    report = render(infilling_run(some))
    assert rows(report)["pipeline"] == ["300", "2", "110", "1.10"]
    assert rows(report)[WITHOUT_OTHER_FILES.name] == ["300", "2", "100", "-"]


def test_the_readme_gets_the_table_of_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target, file = tmp_path / "README.md", tmp_path / "infilling.json"
    target.write_text("<!-- benchmarks.infilling -->\nold\n<!-- end -->\n")
    file.write_text(json.dumps(infilling_run(RECORDS)))
    monkeypatch.setattr(sys, "argv", ["readme", str(file), "--readme", str(target)])
    readme.main()
    assert "+25.0 ± 4.4" in target.read_text("utf-8")
    assert "old" not in target.read_text("utf-8")
