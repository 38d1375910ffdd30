"""How messages reach the server: standard input and output, or one TCP connection."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import sys
import threading
from collections.abc import Awaitable, Callable
from typing import BinaryIO

from pygls.io_ import StdoutWriter

from spark_lsp.server.app import SparkServer
from spark_lsp.server.framing import FrameDecoder

log = logging.getLogger(__name__)

SWITCH_SECONDS = 0.001
"""So long may the engine's thread, while it runs Python, keep the loop from a message. Python's own 5 ms are passed two
or three times on the way of a message: by the thread that reads, and by the loop."""
_READ_BYTES = 1 << 16
"""Most bytes taken at once; a pipe holds no more."""
Read = Callable[[], Awaitable[bytes]]
"""Gives the next bytes from the client as soon as there are any; none at the end."""


def protocol_stdout() -> BinaryIO:
    """Return a private copy of standard output, and point file descriptor 1 at standard error.

    Native code prints where it likes; after this, nothing but the protocol reaches the client.
    """
    sys.stdout.flush()
    private = os.dup(1)
    os.dup2(2, 1)
    return os.fdopen(private, "wb")


async def serve(server: SparkServer, read: Read, stop: threading.Event) -> None:
    """Handle the client's messages in their order until the end of the input or `stop`."""
    frames = FrameDecoder()
    while not stop.is_set() and (data := await read()):
        for message in frames.feed(data):
            server.protocol.receive(message)
            # A request begins to work on the text as it is now, before the next message changes it.
            await asyncio.sleep(0)
            if stop.is_set():
                return


def serve_stdio(server: SparkServer, stdin: BinaryIO, stdout: BinaryIO) -> int:
    """Serve until `exit`, the end of `stdin`, of which nothing was read yet, or a signal; return the exit code."""

    async def run(stop: threading.Event) -> None:
        server.protocol.set_writer(StdoutWriter(stdout))
        loop, source = asyncio.get_running_loop(), stdin.fileno()
        await serve(server, lambda: loop.run_in_executor(server.thread_pool, os.read, source, _READ_BYTES), stop)

    return _serve(server, run)


def serve_tcp(server: SparkServer, host: str, port: int) -> int:
    """Serve the first client that connects, until it leaves; return the exit code. Port 0 takes a free one."""

    async def run(stop: threading.Event) -> None:
        done = asyncio.Event()
        taken = False

        async def client(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            nonlocal taken
            if taken:
                writer.close()
                return
            taken = True
            server.protocol.set_writer(_StreamWriter(writer))
            try:
                await serve(server, lambda: reader.read(_READ_BYTES), stop)
            finally:
                done.set()

        listener = await asyncio.start_server(client, host, port)
        address = listener.sockets[0].getsockname()
        print(f"spark-lsp listens on {address[0]}:{address[1]}", file=sys.stderr, flush=True)
        async with listener:
            await done.wait()

    return _serve(server, run)


class _StreamWriter:
    """A TCP stream as pygls wants to write to it."""

    def __init__(self, stream: asyncio.StreamWriter) -> None:
        self._stream = stream

    def write(self, data: bytes) -> None:
        self._stream.write(data)

    def close(self) -> None:
        self._stream.close()


def _serve(server: SparkServer, run: Callable[[threading.Event], Awaitable[None]]) -> int:
    async def main() -> None:
        stop = threading.Event()
        server._stop_event = stop
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            with contextlib.suppress(NotImplementedError, ValueError):  # Windows, or not the main thread
                loop.add_signal_handler(number, _exit_cleanly)
        await run(stop)

    code = 1
    sys.setswitchinterval(SWITCH_SECONDS)
    try:
        asyncio.run(main())
        code = 0 if server.protocol._shutdown else 1
    except SystemExit as leaving:
        code = leaving.code if isinstance(leaving.code, int) else 1
    except (KeyboardInterrupt, BrokenPipeError, ConnectionError):
        log.info("The client is gone")
    finally:
        server.close()
        server.shutdown()
    return code


def _exit_cleanly() -> None:
    raise SystemExit(0)
