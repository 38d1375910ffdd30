from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchmarks.command import INTERRUPTED
from benchmarks.infilling import __main__ as command
from benchmarks.infilling import gate
from benchmarks.infilling.journal import journal_path
from benchmarks.infilling.ways import Answer, Runner
from tests.scripted_engine import ScriptedEngine

Run = Callable[..., dict[str, Any]]


@pytest.fixture
def result(tmp_path: Path) -> Path:
    return tmp_path / "result.json"


@pytest.fixture
def run(tmp_path: Path, result: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs the command on four tasks with a scripted model; returns what it wrote."""
    rows = [
        {
            "task_id": f"SingleLineInfilling/HumanEval/{number}/L0",
            "entry_point": "f",
            "prompt": "def f():\n",
            "canonical_solution": "    return 1\n",
            "suffix": "",
            "test": f"\ndef check(f):\n    assert f() == {number % 2}\n",
        }
        for number in range(4)
    ]
    folder = tmp_path / "human-eval-infilling"
    folder.mkdir()
    with gzip.open(folder / "HumanEval-SingleLineInfilling.jsonl.gz", "wt") as stream:
        stream.writelines(json.dumps(row) + "\n" for row in rows)
    model = tmp_path / "small.gguf"
    model.write_bytes(b"GGUF")

    class Loader:
        @staticmethod
        def load(path: Path) -> ScriptedEngine:
            return ScriptedEngine(["def f():\n    return 1\n"])

    monkeypatch.setattr(command, "LlamaEngine", Loader)
    monkeypatch.setattr(command, "resolve", lambda name: model)
    monkeypatch.setattr(command, "machine", lambda: {"cpu": "abacus"})

    def start(*more: str) -> dict[str, Any]:
        given = ["infilling", "--data", str(tmp_path), "--sets", "single", "--json", str(result), *more]
        monkeypatch.setattr(sys, "argv", given)
        command.main()
        found: dict[str, Any] = json.loads(result.read_text("utf-8"))
        return found

    return start


def test_every_task_goes_through_every_way(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    found = run("--without", "postprocess")
    assert len(found["records"]) == 12
    assert {record["way"] for record in found["records"]} == {"raw", "pipeline", "without postprocess"}
    shown = [record for record in found["records"] if record["way"] == "pipeline"]
    assert all(record["exact"] and record["probabilities"] for record in shown)
    assert sum(record["passed"] for record in shown) == 2
    printed = capsys.readouterr()
    assert "| single | pass@1 | pipeline | 4 | 50.0" in printed.out
    assert "single 4 of 4, right: raw 50%, pipeline 50%" in printed.err


def test_a_run_that_was_interrupted_goes_on(
    run: Run, result: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[str] = []
    answer = Runner.answer

    def interrupted(self: Runner, task: Any, way: Any) -> Answer:
        asked.append(f"{task.id} {way.name}")
        if len(asked) == 4:
            raise KeyboardInterrupt
        return answer(self, task, way)

    with monkeypatch.context() as patched:
        patched.setattr(Runner, "answer", interrupted)
        with pytest.raises(SystemExit) as ended:
            run()
    assert ended.value.code == INTERRUPTED
    assert "--resume continues it" in capsys.readouterr().err
    assert not result.exists()
    assert len(journal_path(result).read_text().splitlines()) == 1 + 3

    def counted(self: Runner, task: Any, way: Any) -> Answer:
        asked.append(f"{task.id} {way.name}")
        return answer(self, task, way)

    monkeypatch.setattr(Runner, "answer", counted)
    found = run("--resume")
    assert len(found["records"]) == 8
    assert len(asked) == 4 + 5
    assert len(set(asked)) == 8, "nothing is measured twice but what was interrupted"


def test_a_finished_run_can_get_more_ways(run: Run) -> None:
    run("--tasks", "2")
    found = run("--tasks", "3", "--without", "healing", "--resume")
    assert len(found["records"]) == 9


def test_without_resume_an_earlier_run_is_one_sentence(run: Run) -> None:
    run("--tasks", "1")
    with pytest.raises(SystemExit, match="Add --resume to continue it"):
        run("--tasks", "1")


def test_ways_take_turns(run: Run, result: Path) -> None:
    run()
    lines = [json.loads(line) for line in journal_path(result).read_text().splitlines()[1:]]
    assert [line["way"] for line in lines] == ["raw", "pipeline", "pipeline", "raw"] * 2


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        (["--sets", "nothing"], "--sets is made of"),
        (["--tasks", "0"], "at least 1"),
        (["--without", "sleep"], "no part 'sleep'"),
        (["--with", "dreams"], "no context dreams"),
    ],
)
def test_what_there_is_not_is_refused(
    run: Run, capsys: pytest.CaptureFixture[str], more: list[str], sentence: str
) -> None:
    with pytest.raises(SystemExit):
        run(*more)
    assert sentence in capsys.readouterr().err


def test_the_gate_reads_what_the_command_wrote(
    run: Run, result: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run()
    capsys.readouterr()
    monkeypatch.setattr(sys, "argv", ["gate", str(result)])
    gate.main()
    assert capsys.readouterr().out.startswith("4 texts, the first line right in 4.")


def test_the_gate_says_when_a_file_is_something_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = tmp_path / "other.json"
    other.write_text("{}")
    monkeypatch.setattr(sys, "argv", ["gate", str(other)])
    with pytest.raises(SystemExit, match="is not what"):
        gate.main()
