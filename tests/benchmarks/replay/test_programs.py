"""The programs that are measured, with a scripted model: ours over stdio, and the predecessor's way of asking."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks.replay.clock import run_virtually
from benchmarks.replay.completer import CompleterError, Ghost, Opened
from benchmarks.replay.metrics import tally
from benchmarks.replay.predecessor import DEBOUNCE_SECONDS, Predecessor
from benchmarks.replay.predecessor_child import FIM_TOKENS
from benchmarks.replay.processes import Child, processor_seconds
from benchmarks.replay.rhythm import Rhythm
from benchmarks.replay.runner import Manner, replay
from benchmarks.replay.sessions import ChangedFile, session_of
from benchmarks.replay.spark import Spark

OLD = "def first(value):\n    return value\n"
ADDED = "\n\ndef second(value):\n    return value + 2\n"
QUICK = Manner(dataclasses.replace(Rhythm(), typo_share=0.0, micro_pause_share=0.0, hesitation_share=0.0, jump=0.2))


async def test_a_session_goes_through_the_real_server_over_stdio(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = Path(__file__).parents[3]
    monkeypatch.setenv("PYTHONPATH", str(root))
    plan = tmp_path / "plan.json"
    plan.write_text(json.dumps({"script": ["def second(value):\n    return value + 2\n"]}))
    session = session_of(ChangedFile("python", "p", "a.py", OLD, OLD + ADDED), 0)
    assert session is not None
    spark = Spark(tmp_path / "model.gguf", command=[sys.executable, "-m", "tests.lsp.scripted_server", str(plan)])
    await spark.start()
    try:
        trace = await replay(session, spark, QUICK, "0/a.py")
    finally:
        await spark.stop()
    found = tally(trace, len)
    assert found.accepted >= 1
    assert found.kept_characters > 10
    assert found.strokes < found.strokes_alone
    assert 0 < found.without_model <= found.requests
    assert found.prompt_tokens > 0
    assert found.cpu_seconds > 0


async def test_a_server_whose_model_does_not_load_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[3]))
    plan = tmp_path / "plan.json"
    plan.write_text(json.dumps({"fail": "There is no such file."}))
    spark = Spark(tmp_path / "model.gguf", command=[sys.executable, "-m", "tests.lsp.scripted_server", str(plan)])
    with pytest.raises(CompleterError, match=r"left out: There is no such file\."):
        await spark.start()
    await spark.stop()


class ScriptedChild:
    """Answers after a second; keeps the questions and when they came."""

    pid = 0

    def __init__(self, text: str) -> None:
        self.text = text
        self.asked: list[tuple[float, str]] = []

    async def start(self) -> dict[str, str]:
        return {"version": "0"}

    async def ask(self, question: dict[str, Any]) -> dict[str, Any]:
        self.asked.append((round(asyncio.get_running_loop().time(), 3), question["prompt"]))
        await asyncio.sleep(1.0)
        return {"text": self.text, "prompt_tokens": 10, "decoded_tokens": 3}

    async def stop(self) -> None:
        pass


def predecessor(monkeypatch: pytest.MonkeyPatch, text: str = "seen") -> tuple[Predecessor, ScriptedChild]:
    child = ScriptedChild(text)
    monkeypatch.setattr("benchmarks.replay.predecessor.Child", lambda *arguments: child)
    monkeypatch.setattr("benchmarks.replay.predecessor.processor_seconds", lambda process: 0.0)
    return Predecessor(Path("m.gguf"), 2), child


def test_the_predecessor_asks_for_the_newest_state_and_drops_late_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    async def work() -> tuple[list[tuple[float, str]], list[tuple[float, str]]]:
        program, child = predecessor(monkeypatch)
        shown: list[tuple[float, str]] = []
        await program.start()
        program.open(
            Opened("a.py", "python", "ab", 1),
            lambda ghost: shown.append((asyncio.get_running_loop().time(), ghost.text)),
        )
        for number in range(5):  # a burst within the debounce, then two keys while the first call runs
            program.edit(1 + number, 1 + number, "x")
            await asyncio.sleep(0.05 if number < 2 else 0.3)
        await asyncio.sleep(5)
        counts = await program.counts()
        assert (counts.requests, counts.prompt_tokens, counts.decoded_tokens) == (1, 20, 6)
        await program.stop()
        return child.asked, shown

    asked, shown = run_virtually(work())
    begin, end, middle = FIM_TOKENS
    first = 0.1 + DEBOUNCE_SECONDS
    assert [prompt for _, prompt in asked] == [f"{begin}axxx{end}b{middle}", f"{begin}axxxxx{end}b{middle}"]
    assert [at for at, _ in asked] == pytest.approx([first, first + 1])
    assert [text for _, text in shown] == ["seen"]
    assert [at for at, _ in shown] == pytest.approx([first + 2])


def test_a_predecessor_that_writes_blanks_only_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    async def work() -> list[Ghost]:
        program, _ = predecessor(monkeypatch, "\n  ")
        shown: list[Ghost] = []
        await program.start()
        program.open(Opened("a.py", "python", "ab", 1), shown.append)
        program.move(2)
        await asyncio.sleep(5)
        await program.stop()
        return shown

    assert run_virtually(work()) == []


async def test_a_child_answers_line_by_line_and_ends_with_its_input(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "echo_child.py").write_text(
        "import json, sys\nprint(json.dumps(sys.argv[1:]), flush=True)\n"
        "for line in sys.stdin:\n    print(json.dumps([json.loads(line)]), flush=True)\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    child = Child("echo", "echo_child", "argument")
    assert await child.start() == ["argument"]
    assert await child.ask({"a": 1}) == [{"a": 1}]
    assert processor_seconds(child.pid) > 0
    await child.stop()
    assert processor_seconds(child.pid) == 0


async def test_a_child_that_does_not_start_says_why_in_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bad_child.py").write_text("raise SystemExit('the model has no such token')\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with pytest.raises(CompleterError, match=r"^mine was left out: the model has no such token\.$"):
        await Child("mine", "bad_child").start()
