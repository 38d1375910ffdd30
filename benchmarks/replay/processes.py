"""Child processes of a program that is measured: their processor time, and when they are at rest."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

import psutil

from benchmarks.latency.peer import START_SECONDS, why_not
from benchmarks.replay.completer import CompleterError

REST_SECONDS = 1.0
"""A process that uses next to no processor time for so long is at rest."""
REST_SHARE = 0.05
REST_MOST_SECONDS = 30.0
"""Background work that lasts longer goes on beside the next program's turn."""
STOP_SECONDS = 10.0
LINE_BYTES = 2**24
"""The longest answer of a child."""


def processor_seconds(process: int) -> float:
    """Return the processor time of a process and its children so far."""
    try:
        own = psutil.Process(process)
        return sum(sum(one.cpu_times()[:2]) for one in [own, *own.children(recursive=True)])
    except psutil.NoSuchProcess:
        return 0.0


async def rest(process: int) -> None:
    """Wait until a process is at rest, for `REST_MOST_SECONDS` at most."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + REST_MOST_SECONDS
    while loop.time() < deadline:
        before = processor_seconds(process)
        await asyncio.sleep(REST_SECONDS)
        if processor_seconds(process) - before < REST_SHARE * REST_SECONDS:
            return


class Child:
    """A Python module in a process of its own; a line of JSON goes in, a line of JSON comes out."""

    def __init__(self, name: str, module: str, *arguments: str) -> None:
        self._name = name
        self._command = [sys.executable, "-m", module, *arguments]
        self._process: asyncio.subprocess.Process | None = None
        self._log = b""
        self._reader: asyncio.Task[None] | None = None

    @property
    def pid(self) -> int:
        """The process."""
        assert self._process is not None
        return self._process.pid

    async def start(self) -> Any:
        """Start the process and return its first line. Raises CompleterError if it ends before."""
        pipe = asyncio.subprocess.PIPE
        self._process = await asyncio.create_subprocess_exec(
            *self._command, stdin=pipe, stdout=pipe, stderr=pipe, limit=LINE_BYTES
        )
        self._reader = asyncio.ensure_future(self._read_log())
        try:
            line = await asyncio.wait_for(self._read_line(), START_SECONDS)
        except asyncio.TimeoutError:
            line = b""
        if not line:
            await self.stop()
            assert self._process.returncode is not None
            raise CompleterError(why_not(self._process.returncode, self._log.decode("utf-8", "replace"), self._name))
        return json.loads(line)

    async def ask(self, question: Any) -> Any:
        """Return the answer to `question`; one at a time. Raises CompleterError if the process is gone."""
        assert self._process is not None and self._process.stdin is not None
        self._process.stdin.write(json.dumps(question).encode() + b"\n")
        line = await self._read_line()
        if not line:
            raise CompleterError(f"{self._name} ended while it was measured.")
        return json.loads(line)

    async def stop(self) -> None:
        """End the process: its input is closed, and it is killed if it does not leave."""
        process = self._process
        if process is None:
            return
        if process.stdin is not None:
            process.stdin.close()
        try:
            await asyncio.wait_for(process.wait(), STOP_SECONDS)
        except asyncio.TimeoutError:
            process.kill()
            await process.wait()
        if self._reader is not None:
            await self._reader

    async def _read_line(self) -> bytes:
        assert self._process is not None and self._process.stdout is not None
        return await self._process.stdout.readline()

    async def _read_log(self) -> None:
        """Keep the end of what the process says, so that it never waits for a full pipe."""
        assert self._process is not None and self._process.stderr is not None
        while data := await self._process.stderr.read(2**16):
            self._log = (self._log + data)[-(2**16) :]
