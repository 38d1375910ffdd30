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

from pygls.io_ import StdinAsyncReader, StdoutWriter, run_async

from spark_lsp.server.app import SparkServer

log = logging.getLogger(__name__)

SWITCH_SECONDS = 0.001
"""So long may the engine's thread, while it runs Python, keep the loop from a message. Python's own 5 ms are passed two
or three times on the way of a message: by the thread that reads, and by the loop."""


def protocol_stdout() -> BinaryIO:
    """Return a private copy of standard output, and point file descriptor 1 at standard error.

    Native code prints where it likes; after this, nothing but the protocol reaches the client.
    """
    sys.stdout.flush()
    private = os.dup(1)
    os.dup2(2, 1)
    return os.fdopen(private, "wb")


def serve_stdio(server: SparkServer, stdin: BinaryIO, stdout: BinaryIO) -> int:
    """Serve until `exit`, the end of `stdin` or a signal; return the exit code."""

    async def run(stop: threading.Event) -> None:
        server.protocol.set_writer(StdoutWriter(stdout))
        await run_async(stop, StdinAsyncReader(stdin, server.thread_pool), server.protocol, log, _log_error)

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
                await run_async(stop, reader, server.protocol, log, _log_error)
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


def _log_error(error: Exception, _source: object) -> None:
    log.warning("A message could not be handled: %s", error)


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
