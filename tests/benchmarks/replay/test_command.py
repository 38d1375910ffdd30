from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchmarks.command import INTERRUPTED
from benchmarks.infilling.journal import journal_path
from benchmarks.replay import __main__ as command
from benchmarks.replay import plan
from benchmarks.replay.clock import run_virtually
from benchmarks.replay.completer import CompleterError
from benchmarks.replay.releases import Pair, Registry
from benchmarks.replay.report import by_turn, render, written
from benchmarks.replay.runner import Manner, alone
from tests.benchmarks.replay.scripted_completer import ScriptedCompleter, knowing, silent
from tests.benchmarks.runs import MACHINE

OLD = "def first(value):\n    return value\n"
NEW = OLD + "\n\ndef second(value, other):\n    return value + other\n"
FILES = {"1": {f"{name}.py": OLD for name in "abc"}, "2": {f"{name}.py": NEW for name in "abc"}}
PAIRS = tuple(Pair(language, Registry.PYTHON, f"{language}-package", "1", "2") for language in ("python", "rust"))
Run = Callable[..., dict[str, Any]]


class Broken(ScriptedCompleter):
    async def start(self) -> None:
        raise CompleterError("llama.vim was left out: there is none.")


@pytest.fixture
def result(tmp_path: Path) -> Path:
    return tmp_path / "result.json"


@pytest.fixture
def run(tmp_path: Path, result: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs the command on the virtual clock with scripted programs; returns what it wrote."""
    model = tmp_path / "small.gguf"
    model.write_bytes(b"GGUF")
    makers = {
        "spark-lsp": lambda: ScriptedCompleter(knowing(NEW), 0.05),
        "predecessor": lambda: ScriptedCompleter(silent, 0.5),
        "llama.vim": lambda: Broken(silent),
    }
    monkeypatch.setattr(plan, "PAIRS", PAIRS)
    monkeypatch.setattr(plan, "index_address", lambda: "")
    monkeypatch.setattr(plan, "fetch", lambda registry, package, version, folder, index: Path(version))
    monkeypatch.setattr(plan, "read_sources", lambda archive, language: FILES[archive.name])
    monkeypatch.setattr(command, "resolve", lambda name: model)
    monkeypatch.setattr(command, "machine", lambda: MACHINE)
    monkeypatch.setattr(command, "token_counter", lambda model: lambda text: len(text.split()))
    monkeypatch.setattr(command, "makers_of", lambda chosen, model: {name: makers[name] for name in chosen.programs})
    monkeypatch.setattr(command, "asyncio", type("Loop", (), {"run": staticmethod(run_virtually)}))

    def start(*more: str) -> dict[str, Any]:
        given = ["replay", "--languages", "python,rust", "--json", str(result), "--cache", str(tmp_path), *more]
        monkeypatch.setattr("sys.argv", given)
        command.main()
        found: dict[str, Any] = json.loads(result.read_text("utf-8"))
        return found

    return start


def test_every_session_goes_through_every_program_by_turns(run: Run, result: Path) -> None:
    found = run("--sessions", "2", "--repetitions", "2", "--programs", "spark-lsp,predecessor")
    assert len(found["records"]) == 2 * 2 * 2 * 2
    lines = [json.loads(line) for line in journal_path(result).read_text().splitlines()[1:]]
    assert [line["way"] for line in lines[:4]] == ["spark-lsp", "predecessor", "predecessor", "spark-lsp"]
    assert [line["set"] for line in lines[:8:2]] == ["python", "rust", "python", "rust"]
    assert lines[8]["way"] == "predecessor", "another one is first in the next repetition"


def test_the_report_says_what_was_run_and_compares(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    found = run("--sessions", "1", "--repetitions", "2", "--accept", "whole,line")
    printed = capsys.readouterr()
    assert printed.out == render(found)
    assert "seed 0, sessions: python 1, rust 1; " in printed.out
    assert "repetitions: 2; accepting whole, line; llama-server with ngram-simple:4:8" in printed.out
    assert "llama.vim was left out: there is none." in printed.out
    assert "| time to ghost text, warm, p50, ms | 50 | - |" in printed.out
    assert "Medians of 2 repetitions" in printed.out
    assert "1. python-package/" in printed.err


def test_a_run_that_was_interrupted_goes_on(
    run: Run, result: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    done: list[str] = []

    def interrupted(session: object, turn: int, name: str, result: object) -> None:
        done.append(name)
        if len(done) == 3:
            raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(command, "progress", interrupted)
        with pytest.raises(SystemExit) as ended:
            run("--sessions", "2", "--repetitions", "1")
    assert ended.value.code == INTERRUPTED
    assert "--resume continues it" in capsys.readouterr().err
    assert not result.exists()
    before = journal_path(result).read_text()
    found = run("--sessions", "2", "--repetitions", "1", "--resume")
    assert journal_path(result).read_text().startswith(before), "nothing is measured twice"
    assert len(found["records"]) == 8


def test_another_way_of_accepting_is_not_mixed_in(run: Run) -> None:
    run("--sessions", "1", "--repetitions", "1")
    with pytest.raises(SystemExit, match="another kind of accepting"):
        run("--sessions", "1", "--repetitions", "1", "--resume", "--accept", "whole")


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        (["--languages", "cobol"], "--languages is made of python"),
        (["--programs", "nothing"], "--programs is made of spark-lsp"),
        (["--sessions", "0"], "more than 0"),
        (["--minutes", "0"], "more than 0"),
        (["--accept", "half"], "--accept is made of"),
        (["--resume"], "--resume needs --json"),
        (["--minutes", "3", "--sessions", "2"], "not allowed with"),
    ],
)
def test_what_there_is_not_is_refused(capsys: pytest.CaptureFixture[str], more: list[str], sentence: str) -> None:
    with pytest.raises(SystemExit):
        command.options(more)
    assert sentence in capsys.readouterr().err


def test_minutes_choose_as_many_sessions_as_fit_and_one_at_least(run: Run) -> None:
    found = plan.sessions_of(("python", "rust"), Path(), 0)
    manner = Manner()
    seconds = alone(found["python"][0], manner)[1] + plan.BETWEEN_SECONDS
    fitting = plan.sessions_within(found, manner, 2 * 3.5 * seconds / 60, 2)
    assert [session.language for session in fitting] == ["python", "rust", "python"]
    assert len(plan.sessions_within(found, manner, 0.001, 2)) == 1
    assert len(plan.sessions_within(found, manner, 1e6, 2)) == 6


def test_all_programs_end_even_if_one_fails(monkeypatch: pytest.MonkeyPatch, run: Run) -> None:
    class Failing(ScriptedCompleter):
        async def close(self) -> None:
            await super().close()
            raise CompleterError("predecessor ended while it was measured.")

    made: list[ScriptedCompleter] = []

    def make(kind: type[ScriptedCompleter]) -> Callable[[], ScriptedCompleter]:
        def one() -> ScriptedCompleter:
            made.append(kind(silent))
            return made[-1]

        return one

    makers = {"spark-lsp": make(ScriptedCompleter), "predecessor": make(Failing)}
    monkeypatch.setattr(command, "makers_of", lambda chosen, model: makers)
    with pytest.raises(SystemExit, match="ended while it was measured"):
        run("--sessions", "1", "--repetitions", "1", "--programs", "spark-lsp,predecessor")
    assert [completer.closed for completer in made] == [True, True]


def test_figures_are_those_of_each_repetition() -> None:
    tallies = [{"kept_characters": kept, "warm": [wait]} for kept, wait in ((10, 0.1), (20, 0.3), (30, 0.2))]
    records = [
        {"set": "python", "id": f"a #{turn}", "way": "one", "turn": turn, "tally": part}
        for turn, part in enumerate(tallies)
    ]
    found = by_turn(records, "one")
    assert [values["kept characters"] for values in found] == [10, 20, 30]
    assert written([values["warm p50"] or 0 for values in found], "ms") == "200 (100 to 300)"
    assert by_turn(records, "one", "rust") == []


@pytest.mark.parametrize(
    ("values", "form", "text"), [([], "ms", "-"), ([0.5], "%", "50.0"), ([1.0, 2.0], "x", "1.50 (1.00 to 2.00)")]
)
def test_a_figure_is_written_with_its_spread(values: list[float], form: str, text: str) -> None:
    assert written(values, form) == text


def test_published_figures_have_the_real_clock() -> None:
    assert vars(command)["asyncio"] is asyncio
