from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path

import pytest

from benchmarks import readme
from benchmarks.replay.metrics import Tally
from tests.benchmarks.runs import EXAMPLE, MACHINE, latency_run

TEXT = """# Title
<!-- benchmarks.latency -->
old figures
<!-- end -->
between
<!-- benchmarks.responsiveness -->
<!-- end -->
after
"""


def test_only_the_named_section_is_replaced() -> None:
    text = readme.replaced(TEXT, "latency", "| new \\1 |\n")
    assert text == TEXT.replace("old figures\n", "| new \\1 |\n")


def test_replacing_again_changes_nothing() -> None:
    once = readme.replaced(TEXT, "responsiveness", "table\n")
    assert readme.replaced(once, "responsiveness", "table\n") == once


@pytest.mark.parametrize("text", ["", TEXT + TEXT, TEXT.replace("<!-- end -->", "", 1)])
def test_a_readme_without_exactly_one_section_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not one"):
        readme.replaced(text, "latency", "table")


@pytest.mark.parametrize("name", sorted(readme.RENDERERS))
def test_the_real_readme_has_a_section_for_each_benchmark(name: str) -> None:
    assert readme.replaced(readme.README.read_text("utf-8"), name, "table")


@pytest.mark.parametrize("name", sorted(readme.WHOLE))
def test_the_page_of_the_benchmarks_has_a_section_for_each_long_table(name: str) -> None:
    page = readme.README.parent / readme.BENCHMARKS_README
    assert readme.replaced(page.read_text("utf-8"), f"{name}.whole", "table")


def test_the_command_writes_the_tables_of_all_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target, first, second = tmp_path / "README.md", tmp_path / "a.json", tmp_path / "b.json"
    target.write_text(TEXT, "utf-8")
    first.write_text(json.dumps(latency_run(EXAMPLE)))
    responsiveness = {"machine": MACHINE, "model": "m", "run": "1 run", "samples": {"exit, s": [0.1]}}
    second.write_text(json.dumps({"benchmark": "responsiveness", **responsiveness}))
    monkeypatch.setattr(sys, "argv", ["readme", str(first), str(second), "--readme", str(target)])
    readme.main()
    text = target.read_text("utf-8")
    assert "(b) repetitive code" in text
    assert "| exit, s | 0.1 | 0.1 | 1 |" in text
    assert "old figures" not in text


def test_the_replay_is_short_in_the_readme_and_whole_on_the_page_of_the_benchmarks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target, page, run = tmp_path / "README.md", tmp_path / readme.BENCHMARKS_README, tmp_path / "replay.json"
    page.parent.mkdir()
    target.write_text("<!-- benchmarks.replay -->\n<!-- end -->\n", "utf-8")
    page.write_text("<!-- benchmarks.replay.whole -->\n<!-- end -->\n", "utf-8")
    records = [
        {"set": "rust", "way": way, "turn": 0, "tally": asdict(Tally(sessions=1, warm=[seconds], kept_characters=9))}
        for way, seconds in (("spark-lsp", 0.01), ("predecessor", 0.2))
    ]
    names = ["spark-lsp", "predecessor"]
    about = {"benchmark": "replay", "machine": MACHINE, "model": "m", "run": "r", "programs": names, "left_out": {}}
    run.write_text(json.dumps({**about, "records": records}))
    monkeypatch.setattr(sys, "argv", ["readme", str(run), "--readme", str(target)])
    readme.main()
    assert "| time to ghost text, warm, p50, ms | 10 | 200 |" in target.read_text("utf-8")
    assert "| rust | predecessor | 200 |" not in target.read_text("utf-8")
    assert "| time to ghost text, warm, p50, ms | 20.00 |" in page.read_text("utf-8")
    assert "| rust | predecessor | 200 |" in page.read_text("utf-8")


def test_only_plots_that_are_there_are_shown(tmp_path: Path) -> None:
    assert readme.images("latency", tmp_path) == ""
    (tmp_path / readme.PLOTS_FOLDER).mkdir(parents=True)
    (tmp_path / readme.PLOTS_FOLDER / "speeds.svg").touch()
    assert readme.images("latency", tmp_path) == "\n![tokens per second by kind of code](benchmarks/plots/speeds.svg)"
    assert readme.images("responsiveness", tmp_path) == ""


def test_a_file_of_something_else_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = tmp_path / "other.json"
    other.write_text("{}")
    monkeypatch.setattr(sys, "argv", ["readme", str(other), "--readme", str(tmp_path / "absent.md")])
    (tmp_path / "absent.md").write_text(TEXT)
    with pytest.raises(SystemExit, match="is not what one of infilling, latency, replay, responsiveness wrote"):
        readme.main()
