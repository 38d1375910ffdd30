from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path

import pytest

from benchmarks.infilling import filters
from benchmarks.infilling.filters import ALL, GROWING, PLACE, measure, render, spread
from benchmarks.infilling.long_files import (
    LEAST_LINES,
    MOST_ANSWER,
    MOST_LINES,
    LongFile,
    faulty_texts,
    python_files,
    safim_files,
)
from spark_lsp.postprocess import RULES
from spark_lsp.syntax import error_count, language_for, parse

PYTHON = language_for("python", "")
FUNCTION = "def f_{0}(a):\n    b = a + {0}\n    c = b * 2\n    return c\n\n\n"
JAVA = "class Program{0} {{\n" + "    int f() {{ return {0}; }}\n" * 120 + "    int g() {{\n{1}    }}\n}}\n"
SHORT = LongFile(PYTHON, "def f(a):\n", "    b = a\n    return b", "\n\n\nprint(f(1))\n")


@pytest.fixture
def packages(tmp_path: Path) -> Path:
    folder = tmp_path / "packages"
    folder.mkdir()
    (folder / "right.py").write_text("".join(FUNCTION.format(number) for number in range(170)))
    (folder / "short.py").write_text(FUNCTION.format(1))
    (folder / "broken.py").write_text("def f(:\n" * 1000)
    return folder


@pytest.fixture
def data(tmp_path: Path) -> Path:
    rows = [
        {
            "task_id": f"block_{number}",
            "lang": "java",
            "eval_prompt": JAVA.format(number, "{{completion}}\n"),
            "ground_truth": f"        int a = {number};\n        return a;",
        }
        for number in range(12)
    ]
    (tmp_path / "safim").mkdir()
    with gzip.open(tmp_path / "safim" / "block_completion.jsonl.gz", "wt") as stream:
        stream.writelines(json.dumps(row) + "\n" for row in rows)
    return tmp_path


def test_python_files_are_modules_of_about_a_thousand_lines_with_a_block_missing(packages: Path) -> None:
    [file] = python_files(5, 0, packages)
    text = (packages / "right.py").read_text()
    assert file.before + file.answer + file.after == text
    assert 2 <= file.answer.count("\n") + 1 <= MOST_ANSWER
    assert file.answer.startswith("    ")
    assert file.before.endswith(":\n")


def test_files_of_other_languages_are_programs_that_parse_together(data: Path) -> None:
    files = safim_files(data, 3, 0)
    assert len({file.answer for file in files}) == 3
    for file in files:
        text = file.before + file.answer + file.after
        assert LEAST_LINES <= text.count("\n") <= MOST_LINES
        assert file.language.name == "java"
        assert error_count(parse(text, file.language)) == 0


def test_every_fault_changes_the_text() -> None:
    texts = faulty_texts(SHORT)
    assert texts.pop("none") == SHORT.answer
    assert SHORT.answer not in texts.values()
    assert len(set(texts.values())) == len(texts)


def test_each_rule_has_its_time_up_to_the_one_that_leaves_nothing() -> None:
    records = measure([SHORT])
    assert {record["fault"] for record in records} == {*faulty_texts(SHORT)}
    names = {rule.__name__ for rule in RULES}
    assert set(records[0]["milliseconds"]) == {*names, ALL, GROWING, PLACE}
    assert all(time >= 0 for record in records for time in record["milliseconds"].values())


def test_median_and_the_slow_end() -> None:
    assert spread([float(value) for value in range(1, 101)]) == ["50.50", "96.00", "100.00"]
    assert spread([2.0]) == ["2.00", "2.00", "2.00"]


def test_the_report_has_languages_faults_and_rules() -> None:
    report = render({"machine": {"cpu": "abacus", "cores": 2}, "records": measure([SHORT])})
    assert report.startswith("cpu abacus, cores 2\n")
    for first in ("python | 8", "cut off within a line | 1", "drop_broken_end |", f"{PLACE} | 8"):
        assert f"\n| {first}" in report


def test_the_command_writes_table_and_file(
    data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    result = data / "result.json"
    monkeypatch.setattr(filters, "python_files", lambda count, seed: [SHORT] * count)
    monkeypatch.setattr(filters, "machine", lambda: {"cpu": "abacus"})
    monkeypatch.setattr(sys, "argv", ["filters", "--data", str(data), "--files", "1", "--json", str(result)])
    filters.main()
    assert render(json.loads(result.read_text("utf-8"))) == capsys.readouterr().out
    assert {record["language"] for record in json.loads(result.read_text("utf-8"))["records"]} == {"java", "python"}


def test_without_any_file_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(filters, "python_files", lambda count, seed: [])
    monkeypatch.setattr(sys, "argv", ["filters"])
    with pytest.raises(SystemExit, match="No file of about"):
        filters.main()
