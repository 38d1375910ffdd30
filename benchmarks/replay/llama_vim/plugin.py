"""The plugin's timers and requests: one request at a time, a speculative one behind each shown text."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import Awaitable, Callable
from typing import Any

from benchmarks.replay.completer import Ghost, OnShow, Opened
from benchmarks.replay.llama_vim.answers import Answers, keys_of
from benchmarks.replay.llama_vim.hint import Hint, hint
from benchmarks.replay.llama_vim.ring import CHUNK_LINES, Ring
from benchmarks.replay.llama_vim.window import PREFIX_LINES, SUFFIX_LINES, window, window_after

PREDICT_TOKENS = 128
FIRST_MS = 250
"""Decoding time of a first answer; the server looks at it at the end of a line."""
SPECULATIVE_MS = 1000
PROMPT_MS = 500
"""Sent, and not supported by the server."""
BUSY_SECONDS = 0.1
"""While a request runs, the next one is tried again after that."""
RIGHT_MOST = 8
"""With more characters behind the cursor nothing is asked for by itself."""
ENTER_SECONDS = 0.1
"""After the file was entered a chunk is picked."""
RING_SECONDS = 1.0
IDLE_SECONDS = 3.0
"""Chunks are sent along once the cursor has not moved for so long."""
PICK_ROWS = 32
"""Further than that from the last picked place two chunks are picked."""
SCOPE_ROWS = 1024

Post = Callable[[dict[str, Any]], Awaitable[dict[str, Any]]]


class Plugin:
    """The plugin in one file. `post` sends a request to the server and returns its answer."""

    def __init__(self, file: Opened, on_show: OnShow, post: Post, seed: int = 0) -> None:
        self._name = file.name.rpartition("/")[2]
        self._text, self._cursor = file.text, file.cursor
        self._on_show, self._post = on_show, post
        self._answers = Answers()
        self._ring = Ring(random.Random(seed))
        self._loop = asyncio.get_running_loop()
        self._moved_at = self._loop.time()
        self._picked_row = -SCOPE_ROWS  # no place was picked yet
        self._indent = 0
        self._hint: Hint | None = None
        self._job: asyncio.Task[None] | None = None
        self._again: asyncio.TimerHandle | None = None
        self.shown = 0
        """Moves that a text was shown after."""
        self.shown_from_memory = 0
        self._answered_by: str | None = None
        self._closed = False
        self._tasks = {asyncio.ensure_future(self._enter()), asyncio.ensure_future(self._fill_ring())}

    def edit(self, start: int, end: int, text: str) -> None:
        """Replace characters, and put the cursor behind the new ones."""
        self._text = self._text[:start] + text + self._text[end:]
        self.move(start + len(text))

    def move(self, cursor: int) -> None:
        """Put the cursor elsewhere, show what is remembered for that place, and ask."""
        self._cursor, self._moved_at, self._hint = cursor, self._loop.time(), None
        self._answered_by = None
        self._try_hint("memory")
        self._ask(())

    def accept(self, ghost: Ghost, length: int) -> None:
        """Insert the beginning of what is shown."""
        self.edit(self._cursor - ghost.back, self._cursor, ghost.text[:length])

    async def close(self) -> None:
        """Stop all timers and wait for the running request."""
        self._closed = True
        if self._again is not None:
            self._again.cancel()
        for task in self._tasks:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
        if self._job is not None:
            await self._job

    def _place(self) -> tuple[list[str], int, int]:
        before = self._text[: self._cursor]
        row = before.count("\n")
        return self._text.split("\n"), row, len(before) - (before.rfind("\n") + 1)

    def _ask(self, content: tuple[str, ...]) -> None:
        """Ask for the cursor's place, or for the place behind the shown lines `content`."""
        if self._job is not None:
            if self._again is not None:
                self._again.cancel()
            self._again = self._loop.call_later(BUSY_SECONDS, self._ask, content)
            return
        lines, row, column = self._place()
        place = window_after(lines, row, content, self._indent) if content else window(lines, row, column)
        if len(place.right) > RIGHT_MOST:
            return
        keys = keys_of(place)
        if any(self._answers.get(key) is not None for key in keys):
            return
        self._indent = place.indent
        half = CHUNK_LINES // 2
        self._ring.drop_similar(lines[max(0, row - half) : row + half + 1])
        request = {
            "id_slot": 0,
            "input_prefix": place.prefix,
            "input_suffix": place.suffix,
            "input_extra": self._ring.extra(self._name),
            "prompt": place.middle,
            "n_predict": PREDICT_TOKENS,
            "n_indent": place.indent,
            "top_k": 40,
            "top_p": 0.9,
            "samplers": ["top_k", "top_p", "infill"],
            "stream": False,
            "cache_prompt": True,
            "t_max_prompt_ms": PROMPT_MS,
            "t_max_predict_ms": SPECULATIVE_MS if content else FIRST_MS,
        }
        self._job = asyncio.ensure_future(self._run(request, keys))
        if abs(row - self._picked_row) > PICK_ROWS:
            self._ring.pick(lines[max(0, row - SCOPE_ROWS) : max(0, row - PREFIX_LINES) + 1], evict=False)
            self._ring.pick(lines[row + SUFFIX_LINES : row + SUFFIX_LINES + CHUNK_LINES + 1], evict=False)
            self._picked_row = row

    async def _run(self, request: dict[str, Any], keys: list[tuple[str, str]]) -> None:
        try:
            answer = await self._post(request)
        except OSError:
            answer = {}
        self._job = None
        text = answer.get("content")
        if text is None or self._closed:
            return
        self._answers.put(keys, str(text))
        if self._hint is None or not self._hint.acceptable:
            self._try_hint("model")

    def _try_hint(self, source: str) -> None:
        """Show what is remembered for the cursor's place, and ask for what comes behind it."""
        lines, row, column = self._place()
        text = self._answers.find(window(lines, row, column))
        if text is None:
            return
        self._hint = hint(text, lines, row, column)
        if self._hint.ghost.text:
            if self._answered_by is None:
                self._answered_by = source
                self.shown += 1
                self.shown_from_memory += source == "memory"
            self._on_show(self._hint.ghost)
        self._ask(self._hint.content)

    async def _enter(self) -> None:
        await asyncio.sleep(ENTER_SECONDS)
        lines, row, _ = self._place()
        half = CHUNK_LINES // 2
        self._ring.pick(lines[max(0, row - half) : row + half + 1], evict=True)

    async def _fill_ring(self) -> None:
        while True:
            await asyncio.sleep(RING_SECONDS)
            if self._loop.time() - self._moved_at >= IDLE_SECONDS and self._ring.promote():
                # The chunks are computed now, so that they are in the KV cache when they are needed.
                warm = {"input_prefix": "", "input_suffix": "", "prompt": "", "n_predict": 0, "samplers": []}
                extra = {"input_extra": self._ring.extra(self._name), "cache_prompt": True, "stream": False}
                limits = {"id_slot": 0, "temperature": 0.0, "t_max_prompt_ms": 1, "t_max_predict_ms": 1}
                with contextlib.suppress(OSError):
                    await self._post({**warm, **extra, **limits})
