"""The command line as a newcomer meets it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from spark_lsp import __version__


def spark(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    import os

    return subprocess.run(
        [sys.executable, "-m", "spark_lsp", *arguments],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        env={**os.environ, **environment},
        timeout=250,
        check=False,
    )


def test_the_version() -> None:
    assert spark("--version").stdout.strip() == f"spark-lsp {__version__}"


@pytest.mark.parametrize("arguments", [[], ["--help"], ["-h"]], ids=["nothing", "--help", "-h"])
def test_the_help_names_every_command_and_how_editors_start_the_server(arguments: list[str]) -> None:
    result = spark(*arguments)
    assert result.returncode == 0
    for word in ("complete", "demo", "models", "--stdio"):
        assert word in result.stdout


@pytest.mark.parametrize("command", ["complete", "demo", "models"])
def test_every_command_has_a_help(command: str) -> None:
    result = spark(command, "--help")
    assert result.returncode == 0
    assert result.stdout.startswith(f"Usage: spark-lsp {command}")


def test_the_help_of_the_server() -> None:
    assert "--log-file" in spark("--stdio", "--help").stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["complete", "a.py"], "is not FILE:LINE:COL"),
        (["complete", "a.py:x:1"], "is not FILE:LINE:COL"),
        (["complete", "a.py:0:1"], "counted from 1"),
        (["complete", "no/such/file.py:1:1"], "cannot be read"),
        (["comlpete"], "No such command"),
        (["--tcp", "127.0.0.1:port"], "[HOST:]PORT"),
        (["models", "--stdio"], "No such option"),
        (["demo", "--model", "no-such-model"], "no-such-model"),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(arguments: list[str], words: str) -> None:
    result = spark(*arguments)
    assert result.returncode != 0
    assert words in result.stderr
    assert "Traceback" not in result.stderr


def test_a_model_that_is_not_there_is_named_with_the_command_that_gets_it(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = \n")
    result = spark("complete", f"{tmp_path}/a.py:1:5", SPARK_LSP_MODELS=str(tmp_path))
    assert result.returncode == 1
    assert "spark-lsp models pull" in result.stderr


@pytest.mark.parametrize(
    ("content", "place", "words"),
    [
        (b"x\n", "9:1", "there is no line 9"),
        (b"x\n", "1:9", "column 9 lies beyond its end"),
        (b"\xff\xfe\x00", "1:1", "is not UTF-8 text"),
    ],
)
def test_a_place_that_is_not_in_the_file(tmp_path: Path, content: bytes, place: str, words: str) -> None:
    (tmp_path / "a.py").write_bytes(content)
    result = spark("complete", f"{tmp_path}/a.py:{place}")
    assert result.returncode == 1
    assert words in result.stderr


def test_a_file_that_is_no_model_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = \n")
    (tmp_path / "model.gguf").write_bytes(b"nonsense" * 100)
    result = spark("complete", f"{tmp_path}/a.py:1:5", "--model", f"{tmp_path}/model.gguf")
    assert result.returncode == 1
    assert "model.gguf" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.model
def test_a_completion_with_its_figures(model_path: Path, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def add(first, second):\n    return first + sec\n")
    result = spark("complete", f"{tmp_path}/a.py:2:23", "--json", "--model", str(model_path))
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    report = json.loads(result.stdout)
    assert report["insertion"] == "ond"
    assert report["reason"] == "shown"
    assert report["promptTokens"] > 5
    assert report["cachedTokens"] == 0
    assert len(report["probabilities"]) == report["generatedTokens"]
    assert not (tmp_path / "cache" / "snapshots").exists(), "one answer leaves nothing behind"


@pytest.mark.model
def test_the_demo_works_in_a_pipe(model_path: Path) -> None:
    result = spark("demo", "--model", str(model_path))
    assert result.returncode == 0, result.stderr
    assert "Tab accepts" in result.stdout
    assert "self.width * self.height" in result.stdout
    assert "Prompt tokens computed per keystroke" in result.stdout
