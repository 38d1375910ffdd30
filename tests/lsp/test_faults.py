"""The real server with the real model when something goes wrong: it answers, says one sentence, and goes on.

What cannot be survived in one process is a hard abort inside llama.cpp (SIGABRT): it ends the server. Its editor then
starts it anew, and finds the caches whole or not there (`test_a_killed_server_leaves_nothing_that_harms_the_next`).
"""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest
import pytest_asyncio

from spark_lsp.decoding.cost_cache import DIRECTORY_VARIABLE, save_costs
from spark_lsp.decoding.cost_model import default_cost_model
from spark_lsp.loading import _costs_file
from spark_lsp.server.editor import Editor
from spark_lsp.settings import ModelSettings
from tests.lsp.conftest import LOAD_SECONDS, ROOT, stderr_of

pytestmark = [pytest.mark.model, pytest.mark.timeout(900)]

URI = "file:///project/a.py"
BEFORE = "class Circle:\n    def __init__(self, radius):\n        self.radius = radius\n\n    def area(self):\n"
BEFORE += "        return 3.14159 * self.radius * self.radius\n\n\n"  # so long that it is worth a snapshot
BEFORE += "class Rectangle:\n    def __init__(self, width, height):\n        self.width = width\n"
BEFORE += "        self.height = height\n\n    def area(self):\n        return self.wid"
SUGGESTION = "th * self.height"
OPTIONS = {"completion": {"maxTokens": 12, "pregenerate": False}, "background": {"onBattery": True}}
Start = Callable[..., Awaitable[Editor]]


@pytest_asyncio.fixture
async def start() -> AsyncIterator[Start]:
    """Start servers in which faults can be caused: `await start(model, cache=FOLDER)`."""
    editors: list[Editor] = []

    async def begin(model: Path, *, cache: Path | None = None) -> Editor:
        environment = {"PYTHONPATH": str(ROOT), **({DIRECTORY_VARIABLE: str(cache)} if cache is not None else {})}
        editor = Editor([sys.executable, "-m", "tests.lsp.faulty_server", str(model)], environment=environment)
        editors.append(editor)
        await editor.start(OPTIONS, stderr=asyncio.subprocess.PIPE)
        await editor.ready(LOAD_SECONDS)
        return editor

    yield begin
    for editor in editors:
        await editor.stop()
        await stderr_of(editor)


async def complete(editor: Editor, uri: str = URI) -> str:
    """Return the suggestion for the same place in a document that was not open, however slow the machine is."""
    editor.open(uri, "python", BEFORE + "\n", cursor=len(BEFORE))
    await editor.complete(uri, invoked=True)
    await at_rest(editor)
    # What was not there in time is by now, in the cache; what failed is tried anew.
    return await editor.complete(uri, invoked=True)


async def fail(editor: Editor, uri: str) -> None:
    """Ask for what comes to nothing."""
    editor.open(uri, "python", BEFORE + "\n", cursor=len(BEFORE))
    assert await editor.complete(uri, invoked=True) == ""
    await at_rest(editor)


async def at_rest(editor: Editor) -> None:
    while (await editor.status())["engine"] == "busy":
        await asyncio.sleep(0.05)


def told(editor: Editor) -> list[str]:
    """Return what the user saw."""
    return [m["params"]["message"] for m in editor.messages if m.get("method") == "window/showMessage"]


async def stopped(editor: Editor) -> str:
    """Stop the server, which has to leave properly, and return what it wrote to standard error."""
    assert await editor.stop() == 0
    return await stderr_of(editor)


def copy_of(model: Path, folder: Path) -> Path:
    """Return another name for the model's file, which can be removed."""
    copy = folder / "model.gguf"
    try:
        os.link(model.resolve(), copy)
    except OSError:  # on another disk
        shutil.copyfile(model, copy)
    return copy


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        ("exception", "spark-lsp: A completion failed for a reason that was not foreseen; the next one is tried anew."),
        ("late exception", "spark-lsp: A completion failed for a reason that was not foreseen;"),
        ("native", "spark-lsp: llama.cpp failed to decode"),
    ],
)
async def test_a_failing_decode_is_an_empty_answer_and_one_sentence_and_the_next_works(
    start: Start, model_path: Path, kind: str, sentence: str
) -> None:
    editor = await start(model_path)
    for number in range(2):
        await editor.request("test/fault", {"kind": kind, "times": 1})
        await fail(editor, f"file:///project/{number}.py")
    assert await complete(editor) == SUGGESTION
    (message,) = told(editor)
    assert message.startswith(sentence)
    assert (await stopped(editor)).count("Traceback") == (kind != "native")


async def test_the_model_file_may_be_deleted_while_it_is_in_use(start: Start, model_path: Path, tmp_path: Path) -> None:
    model = copy_of(model_path, tmp_path)
    editor = await start(model)
    model.unlink()
    assert await complete(editor) == SUGGESTION
    assert told(editor) == []
    assert await stopped(editor) == ""
    another = await start(model)
    await fail(another, URI)
    (message,) = told(another)
    assert "There is no file" in message


@pytest.mark.parametrize("share", [0.001, 0.5, 0.9999])
async def test_a_truncated_model_file_is_one_sentence_and_the_whole_file_is_loaded_when_it_is_there(
    start: Start, model_path: Path, tmp_path: Path, share: float
) -> None:
    model, whole = tmp_path / "model.gguf", copy_of(model_path, tmp_path).rename(tmp_path / "whole.gguf")
    with whole.open("rb") as source, model.open("wb") as target:
        target.write(source.read(int(share * whole.stat().st_size)))
    editor = await start(model)
    await fail(editor, URI)
    assert (await editor.status())["lastReason"] == "unavailable"
    (message,) = told(editor)
    assert "model.gguf is cut off" in message
    whole.replace(model)
    await editor.complete(URI, invoked=True)
    assert (await editor.ready(LOAD_SECONDS))["engine"] != "failed"
    assert await complete(editor, "file:///project/again.py") == SUGGESTION


async def test_a_full_disk_costs_the_caches_and_nothing_else(start: Start, model_path: Path, tmp_path: Path) -> None:
    editor = await start(model_path, cache=tmp_path / "cache")
    await editor.request("test/fault", {"kind": "disk", "most_bytes": 100})
    assert await complete(editor) == SUGGESTION
    editor.close(URI)
    assert await complete(editor) == SUGGESTION
    log = await stopped(editor)
    assert [line for line in log.splitlines() if "No snapshot can be kept" in line and "File too large" in line]
    assert log.count("No snapshot can be kept") == 1
    assert "Traceback" not in log
    assert [file for file in (tmp_path / "cache").rglob("*") if file.is_file()] == []


@pytest.mark.parametrize("seconds", [10 * 365 * 86_400.0, -10 * 365 * 86_400.0], ids=["ahead", "back"])
async def test_a_jump_of_the_clock_changes_nothing(start: Start, model_path: Path, seconds: float) -> None:
    editor = await start(model_path)
    await editor.request("test/fault", {"kind": "clock", "seconds": seconds})
    assert await complete(editor) == SUGGESTION
    editor.close(URI)
    assert await complete(editor) == SUGGESTION
    assert told(editor) == []
    assert await stopped(editor) == ""


async def test_a_server_that_was_stopped_and_continued_answers(start: Start, model_path: Path) -> None:
    editor = await start(model_path)
    editor.open(URI, "python", BEFORE + "\n", cursor=len(BEFORE))
    _, during = editor.start_request("textDocument/inlineCompletion", editor.completion_params(URI, invoked=True))
    await editor.status()
    editor.process.send_signal(signal.SIGSTOP)
    _, stopped_then = editor.start_request("spark/status", None)
    # Longer than every limit of the server but that for requests made by hand.
    await asyncio.sleep(2.0)
    assert not stopped_then.done()
    editor.process.send_signal(signal.SIGCONT)
    await asyncio.gather(during, stopped_then)
    assert await complete(editor, "file:///project/again.py") == SUGGESTION
    assert await stopped(editor) == ""


@pytest.mark.parametrize("place", ["a file", "a device"])
async def test_a_cache_that_cannot_be_written_costs_the_caches_and_nothing_else(
    start: Start, model_path: Path, tmp_path: Path, place: str
) -> None:
    """In place of a read-only folder, which is none for the administrator, who may run this."""
    cache = tmp_path / "cache"
    if place == "a file":
        cache.write_text("not a folder")
    else:
        cache = Path(os.devnull)
    editor = await start(model_path, cache=cache)
    assert await complete(editor) == SUGGESTION
    editor.close(URI)
    assert await complete(editor) == SUGGESTION
    log = await stopped(editor)
    assert log.count("No snapshot can be kept") == 1
    assert "Traceback" not in log


DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "cut": lambda content: content[: len(content) // 2],
    "flipped": lambda content: content[: len(content) // 2] + bytes([content[len(content) // 2] ^ 1]) * 2,
    "another kind": lambda content: b"[" * 50_000,
}
"""More ways for each kind of file are in the tests of its module; here all are damaged at once."""


async def test_whatever_is_damaged_in_the_caches_the_suggestion_is_the_same(
    start: Start, model_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache, models = tmp_path / "cache", tmp_path / "models"
    monkeypatch.setenv(DIRECTORY_VARIABLE, str(cache))
    models.mkdir()
    model = copy_of(model_path, models)
    assert save_costs(_costs_file(model, ModelSettings(str(model))), default_cost_model())
    await stopped_after_one(start, model, cache)
    for damage in DAMAGE.values():
        files = [file for file in cache.rglob("*") if file.is_file()]
        assert {"costs", "snapshots"} <= {file.parent.name for file in files}
        for file in files:
            file.write_bytes(damage(file.read_bytes()))
        assert await stopped_after_one(start, model, cache) == ""


async def stopped_after_one(start: Start, model: Path, cache: Path) -> str:
    """Run a server for one suggestion and return what it wrote to standard error."""
    editor = await start(model, cache=cache)
    assert await complete(editor) == SUGGESTION
    assert told(editor) == []
    return await stopped(editor)


async def test_a_killed_server_leaves_nothing_that_harms_the_next(
    start: Start, model_path: Path, tmp_path: Path
) -> None:
    cache = tmp_path / "cache"
    editor = await start(model_path, cache=cache)
    assert await complete(editor) == SUGGESTION
    editor.close(URI)  # begins to write
    editor.process.send_signal(signal.SIGABRT)
    assert await editor.process.wait() == -signal.SIGABRT
    assert await stopped_after_one(start, model_path, cache) == ""
