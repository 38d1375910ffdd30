"""Ours: the real server over stdio, asked as our editor plugins ask it."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.latency.peer import START_SECONDS
from benchmarks.replay.completer import CompleterError, Ghost, OnShow, Opened
from benchmarks.replay.processes import processor_seconds, rest
from benchmarks.replay.trace import Counts
from spark_lsp.errors import SparkError
from spark_lsp.server.editor import Editor
from spark_lsp.settings_files import NO_FILE

NAME = "spark-lsp"
SETTINGS = {"completion": {"snapshots": False}, "statistics": {"keep": False}}
"""A run must not find what an earlier one left on the disk, and what it accepts is no user's choice."""


class Spark:
    """One server with one editor. After each key it cancels its last request, and sends one for the new state."""

    name = NAME

    def __init__(self, model: Path, *, streaming: bool = True, command: Sequence[str] = ()) -> None:
        own = [sys.executable, "-m", "spark_lsp", "--stdio", "--model", str(model), "--no-optimized"]
        self._editor = Editor(list(command) or own, environment=NO_FILE)
        self._streaming = streaming
        self._uri = ""
        self._on_show: OnShow = lambda ghost: None
        self._task: asyncio.Task[None] | None = None
        self._request: int | None = None
        self._accept_command: dict[str, Any] | None = None
        self._version = 0
        self._shown_version = 0
        self._with_text = 0
        """Requests that a text was shown for, by the answer or while it grew."""

    async def start(self) -> None:
        await self._editor.start(SETTINGS, stderr=asyncio.subprocess.DEVNULL)
        status = await self._editor.ready(START_SECONDS)
        if status["engine"] != "idle":
            raise CompleterError(f"spark-lsp was left out: {status['message']}")
        await rest(self._editor.process.pid)

    def open(self, file: Opened, on_show: OnShow) -> None:
        self._uri, self._on_show = f"file:///replay/{file.name}", on_show
        self._editor.open(self._uri, file.language, file.text, file.cursor)

    def edit(self, start: int, end: int, text: str) -> None:
        self._editor.replace(self._uri, start, end, text)
        self._ask()

    def move(self, cursor: int) -> None:
        self._editor.move(self._uri, cursor)
        self._ask()

    def accept(self, ghost: Ghost, length: int) -> None:
        self._editor.type(self._uri, ghost.text[:length])
        if length == len(ghost.text) and self._accept_command is not None:
            self._editor.start_request("workspace/executeCommand", self._accept_command)
        self._ask()

    async def close(self) -> None:
        self._forget_request()
        self._editor.close(self._uri)
        await rest(self._editor.process.pid)

    async def counts(self) -> Counts:
        status = await self._editor.status()
        return Counts(
            requests=self._with_text,
            without_model=status["reasons"].get("cached", 0),
            prompt_tokens=status["promptTokens"],
            # Of a cancelled generation only the steps are counted, each of which gives at least a token.
            decoded_tokens=max(status["generatedTokens"], status["decodeSteps"]),
            cpu_seconds=processor_seconds(self._editor.process.pid),
        )

    async def stop(self) -> None:
        self._forget_request()
        await self._editor.stop()

    def _ask(self) -> None:
        self._forget_request()
        self._version += 1
        version = self._version

        def show(text: str) -> None:
            if version != self._version:
                return
            if text and version != self._shown_version:
                self._shown_version = version
                self._with_text += 1
            self._on_show(Ghost(text))

        params = self._editor.completion_params(self._uri, on_partial=show if self._streaming else None)
        self._request, answer = self._editor.start_request("textDocument/inlineCompletion", params)
        self._task = asyncio.ensure_future(self._show_answer(answer, show))

    def _forget_request(self) -> None:
        if self._task is not None and not self._task.done():
            self._task.cancel()
            if self._request is not None:
                self._editor.notify("$/cancelRequest", {"id": self._request})
        self._task = self._request = self._accept_command = None

    async def _show_answer(self, answer: asyncio.Future[Any], show: Callable[[str], None]) -> None:
        with contextlib.suppress(SparkError):
            result = await answer
            items = result["items"] if result else []
            if items:
                command = items[0]["command"]
                self._accept_command = {"command": command["command"], "arguments": command["arguments"]}
            show(items[0]["insertText"] if items else "")
