"""A real server process for each test, with the scripted engine or the real model."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest_asyncio

from spark_lsp.server.editor import Editor

ROOT = Path(__file__).parents[2]
StartScripted = Callable[..., Awaitable[Editor]]
StartReal = Callable[..., Awaitable[Editor]]
READY_SECONDS = 60.0
LOAD_SECONDS = 120.0
PAUSE_SECONDS = 3.0
"""A thinking pause. It begins anew as long as tokens are computed, so that a slow machine is given its time: the tests
are about what is computed, and not how fast."""
PAUSE_MOST_SECONDS = 60.0
PROFILES = Path(__file__).parent / "profiles"


@pytest_asyncio.fixture
async def scripted(tmp_path: Path) -> AsyncIterator[StartScripted]:
    """Start servers with the scripted engine: `await scripted(script=[...], options={...}, wait=True)`."""
    editors: list[Editor] = []

    async def start(
        *,
        options: Any = None,
        wait: bool = True,
        encodings: Sequence[str] = (),
        folder: Path | None = None,
        client: dict[str, Any] | None = None,
        answers: dict[str, Any] | None = None,
        **plan: Any,
    ) -> Editor:
        file = tmp_path / f"plan{len(editors)}.json"
        file.write_text(json.dumps(plan))
        editor = Editor(
            [sys.executable, "-m", "tests.lsp.scripted_server", str(file)],
            environment={"PYTHONPATH": str(ROOT)},
            encodings=encodings,
            folder=folder,
            client=client or {},
            answers=answers or {},
        )
        editors.append(editor)
        await editor.start(options, stderr=asyncio.subprocess.PIPE)
        if wait:
            await editor.ready(READY_SECONDS)
        return editor

    yield start
    for editor in editors:
        await editor.stop()
        await stderr_of(editor)


def profile(name: str) -> dict[str, Any]:
    """Return what a client says in `initialize`: its `clientInfo` and its `capabilities`."""
    said: dict[str, Any] = json.loads((PROFILES / f"{name}.json").read_text())
    return {key: said[key] for key in ("clientInfo", "capabilities")}


async def stderr_of(editor: Editor) -> str:
    """Return everything the server wrote to standard error; call it after the server has ended."""
    stream = editor.process.stderr
    return (await stream.read()).decode() if stream is not None else ""


@pytest_asyncio.fixture
async def real(model_path: Path) -> AsyncIterator[StartReal]:
    """Start servers with the real model: `await real({"completion": {...}})`; all have to leave with code 0."""
    editors: list[Editor] = []

    async def start(options: Any = None) -> Editor:
        editor = Editor([sys.executable, "-m", "spark_lsp", "--stdio", "--model", str(model_path)])
        editors.append(editor)
        await editor.start({"background": {"onBattery": True}, **(options or {})})
        status = await editor.ready(LOAD_SECONDS)
        assert status["engine"] == "idle", status["message"]
        return editor

    yield start
    for editor in editors:
        assert await editor.stop() == 0


async def pause(editor: Editor, seconds: float = PAUSE_SECONDS) -> dict[str, Any]:
    """Wait until for `seconds` nothing was computed, at most `PAUSE_MOST_SECONDS`, and return the status."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + PAUSE_MOST_SECONDS
    counts, since = None, loop.time()
    while True:
        status = await editor.status()
        now = status["promptTokens"], status["decodeSteps"]
        if now != counts or status["engine"] == "busy":
            counts, since = now, loop.time()
        if loop.time() - since >= seconds or loop.time() > deadline:
            return status
        await asyncio.sleep(0.1)


CAPABILITIES: dict[str, Any] = {
    "window": {"workDoneProgress": True},
    "textDocument": {"inlineCompletion": {}},
    "workspace": {"configuration": True, "workspaceFolders": True},
}
"""What a client says that can be asked for its configuration."""


async def until(found: Callable[[], Awaitable[Any]], seconds: float = READY_SECONDS) -> Any:
    """Return what `found` returns as soon as that is true."""
    deadline = asyncio.get_running_loop().time() + seconds
    while not (value := await found()):
        assert asyncio.get_running_loop().time() < deadline, "it never happened"
        await asyncio.sleep(0.02)
    return value


def sent(editor: Editor, method: str) -> list[Any]:
    """Return the parameters of what the server sent by that method so far, in order."""
    return [message.get("params") for message in editor.messages if message.get("method") == method]


def shown(editor: Editor) -> list[str]:
    """Return the messages that the user saw so far, without the name of the server."""
    return [params["message"].removeprefix("spark-lsp: ") for params in sent(editor, "window/showMessage")]
