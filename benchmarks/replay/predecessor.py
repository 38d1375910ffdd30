"""What people write first: a debounce, then `llama_cpp.Llama.create_completion` with a FIM prompt made by hand.

The call cannot be cancelled. While one runs, the newest state waits for its turn; an answer for an older state is
dropped. The window and the greedy choice are those of our defaults, so that it is the way of asking that differs.
"""

from __future__ import annotations

import asyncio
import dataclasses
from pathlib import Path
from typing import Any

from benchmarks.replay.completer import Ghost, OnShow, Opened
from benchmarks.replay.predecessor_child import FIM_TOKENS
from benchmarks.replay.processes import Child, processor_seconds, rest
from benchmarks.replay.trace import Counts

NAME = "predecessor"
DEBOUNCE_SECONDS = 0.075
"""What Cody had for local models before it raised it; long enough that a burst of keys is one request."""
PREFIX_CHARACTERS = 2048
"""About 512 tokens, our bound."""
SUFFIX_CHARACTERS = 512
"""About 128 tokens, our bound."""
MOST_TOKENS = 32
"""Two lines or so. With our bound of 96 an answer takes five seconds on two cores, and comes before no next key."""
STOP = ["\n\n"]
"""A blank line ends the text, as in most such plugins."""


class Predecessor:
    """The plugin, with the model in a child process."""

    name = NAME

    def __init__(self, model: Path, threads: int, *, debounce: float = DEBOUNCE_SECONDS) -> None:
        self._child = Child(NAME, "benchmarks.replay.predecessor_child", str(model), str(threads))
        self._debounce = debounce
        self._text = ""
        self._cursor = 0
        self._version = 0
        self._on_show: OnShow = lambda ghost: None
        self._wanted = asyncio.Event()
        self._timer: asyncio.TimerHandle | None = None
        self._worker: asyncio.Task[None] | None = None
        self._counts = Counts()

    async def start(self) -> None:
        await self._child.start()
        self._worker = asyncio.ensure_future(self._work())

    def open(self, file: Opened, on_show: OnShow) -> None:
        self._text, self._cursor, self._on_show = file.text, file.cursor, on_show

    def edit(self, start: int, end: int, text: str) -> None:
        self._text = self._text[:start] + text + self._text[end:]
        self.move(start + len(text))

    def move(self, cursor: int) -> None:
        self._cursor = cursor
        self._forget_request()
        self._timer = asyncio.get_running_loop().call_later(self._debounce, self._wanted.set)

    def accept(self, ghost: Ghost, length: int) -> None:
        self.edit(self._cursor, self._cursor, ghost.text[:length])

    async def close(self) -> None:
        self._forget_request()
        await rest(self._child.pid)

    async def counts(self) -> Counts:
        if self._worker is not None and self._worker.done():
            self._worker.result()  # says why it ended
        return dataclasses.replace(self._counts, cpu_seconds=processor_seconds(self._child.pid))

    async def stop(self) -> None:
        self._forget_request()
        if self._worker is not None:
            self._worker.cancel()
        await self._child.stop()

    def _forget_request(self) -> None:
        self._version += 1
        self._wanted.clear()
        if self._timer is not None:
            self._timer.cancel()

    def _question(self) -> dict[str, Any]:
        prefix = self._text[max(0, self._cursor - PREFIX_CHARACTERS) : self._cursor]
        suffix = self._text[self._cursor : self._cursor + SUFFIX_CHARACTERS]
        begin, end, middle = FIM_TOKENS
        prompt = f"{begin}{prefix}{end}{suffix}{middle}"
        return {"prompt": prompt, "max_tokens": MOST_TOKENS, "temperature": 0.0, "stop": STOP}

    async def _work(self) -> None:
        while True:
            await self._wanted.wait()
            self._wanted.clear()
            version = self._version
            answer = await self._child.ask(self._question())
            shown = version == self._version and bool(answer["text"].strip())
            self._counts = Counts(
                self._counts.requests + shown,
                0,
                self._counts.prompt_tokens + answer["prompt_tokens"],
                self._counts.decoded_tokens + answer["decoded_tokens"],
            )
            if shown:
                self._on_show(Ghost(answer["text"]))
