"""llama-server in a child process, with the plugin's behaviour in front of it."""

from __future__ import annotations

import asyncio
import http.client
import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from benchmarks.replay.completer import CompleterError, Ghost, OnShow, Opened
from benchmarks.replay.llama_vim.plugin import Plugin
from benchmarks.replay.processes import Child, processor_seconds, rest
from benchmarks.replay.trace import Counts

NAME = "llama.vim"
ANSWER_SECONDS = 120.0
PROMPT_COUNTER = "llamacpp:prompt_tokens_total"
DECODED_COUNTER = "llamacpp:tokens_predicted_total"


class LlamaVim:
    """The plugin with its server. Every file is a new session of the editor: nothing is remembered from the last."""

    name = NAME

    def __init__(self, model: Path, threads: int, ngrams: str) -> None:
        self._child = Child("llama-server", "benchmarks.replay.llama_server", str(model), str(threads), ngrams)
        self._address = ""
        self._plugin: Plugin | None = None
        self._shown = self._from_memory = 0
        self._refusal = ""
        """What the server said when it did not answer; a peer that is asked wrongly must not pass for a slow one."""

    async def start(self) -> None:
        started = await self._child.start()
        self._address = urlsplit(started["address"]).netloc

    def open(self, file: Opened, on_show: OnShow) -> None:
        self._plugin = Plugin(file, on_show, self._post)

    def edit(self, start: int, end: int, text: str) -> None:
        self._opened.edit(start, end, text)

    def move(self, cursor: int) -> None:
        self._opened.move(cursor)

    def accept(self, ghost: Ghost, length: int) -> None:
        self._opened.accept(ghost, length)

    async def close(self) -> None:
        plugin, self._plugin = self._opened, None
        await plugin.close()
        self._shown += plugin.shown
        self._from_memory += plugin.shown_from_memory
        await rest(self._child.pid)

    async def counts(self) -> Counts:
        if self._refusal:
            raise CompleterError(f"llama-server refused a request: {self._refusal}")
        counters = parse_counters(await asyncio.to_thread(self._request, "GET", "/metrics", None))
        return Counts(
            requests=self._shown,
            without_model=self._from_memory,
            prompt_tokens=counters.get(PROMPT_COUNTER, 0),
            decoded_tokens=counters.get(DECODED_COUNTER, 0),
            cpu_seconds=processor_seconds(self._child.pid),
        )

    async def stop(self) -> None:
        await self._child.stop()

    @property
    def _opened(self) -> Plugin:
        if self._plugin is None:
            raise RuntimeError("no file is open")
        return self._plugin

    async def _post(self, request: dict[str, Any]) -> dict[str, Any]:
        data = await asyncio.to_thread(self._request, "POST", "/infill", json.dumps(request))
        answer: dict[str, Any] = json.loads(data)
        if "error" in answer:
            self._refusal = str(answer["error"])
        return answer

    def _request(self, method: str, path: str, body: str | None) -> str:
        connection = http.client.HTTPConnection(self._address, timeout=ANSWER_SECONDS)
        try:
            connection.request(method, path, body, {"Content-Type": "application/json"} if body else {})
            return connection.getresponse().read().decode("utf-8", "replace")
        finally:
            connection.close()


def parse_counters(text: str) -> dict[str, int]:
    """Return the counters of an answer to `/metrics` by name."""
    found = re.findall(r"^(\w+:\w+) ([0-9.e+]+)$", text, re.MULTILINE)
    return {name: round(float(value)) for name, value in found}
