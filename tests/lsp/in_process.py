"""The server in this process, with the scripted engine, and the client's end of its wire.

The bytes pass through the same code as over standard input; only the process is missing. So a test that sends what no
client would send takes milliseconds, and sees what the server holds.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import threading
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any

from spark_lsp.server.app import SparkServer
from spark_lsp.server.framing import FrameDecoder
from spark_lsp.server.transport import serve
from spark_lsp.settings import BackgroundSettings, Settings
from tests.lsp.scripted_server import scripted_loader

ANSWER_SECONDS = 120.0
"""A request without an answer by then has none; ten seconds are the server's own limit on a quiet machine."""


def frame(message: Any) -> bytes:
    """Return a JSON value with the right header."""
    body = json.dumps(message).encode()
    return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


class InProcess:
    """A started server: `async with InProcess(script=[...]) as wire`."""

    def __init__(
        self, *, encodings: Sequence[str] = (), options: Any = None, initialize: bool = True, **plan: Any
    ) -> None:
        self.server = SparkServer(scripted_loader(plan), Settings(background=BackgroundSettings(on_battery=True)))
        self.answers: list[dict[str, Any]] = []
        """Responses, in order."""
        self.messages: list[dict[str, Any]] = []
        """Notifications and requests from the server, in order."""
        self.asked = 0
        """Requests sent with `ask`."""
        self.on_request: Callable[[dict[str, Any]], None] = lambda message: self.send(
            {"jsonrpc": "2.0", "id": message["id"], "result": None}
        )
        """Answers a request from the server."""
        general = {"positionEncodings": list(encodings)} if encodings else {}
        capabilities = {"general": general, "window": {"workDoneProgress": True}}
        self.initialize_params = {
            "processId": None,
            "rootUri": None,
            "capabilities": {**capabilities, "textDocument": {"inlineCompletion": {}}},
            "initializationOptions": options,
        }
        self._initialize = initialize
        self._input: asyncio.Queue[bytes] = asyncio.Queue()
        self._output = FrameDecoder()
        self._ids = itertools.count(1_000_000)
        self._grown = asyncio.Event()
        self._stop = threading.Event()

    async def __aenter__(self) -> InProcess:
        self.server.protocol.set_writer(self)
        self._task = asyncio.ensure_future(serve(self.server, self._input.get, self._stop))
        if self._initialize:
            await self.handshake()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._input.put_nowait(b"")
        await self._task
        await asyncio.to_thread(self.server.close)
        self.server.shutdown()
        for task in [*self.server._tasks]:
            task.cancel()

    async def handshake(self) -> None:
        """Initialize the server and wait until the engine is there."""
        assert "result" in await self.ask("initialize", self.initialize_params)
        self.notify("initialized", {})
        while (await self.ask("spark/status"))["result"]["engine"] == "loading":
            await asyncio.sleep(0.005)

    # The server's writer

    def write(self, data: bytes) -> None:
        """Take what the server sends."""
        for message in self._output.feed(data):
            if "method" not in message:
                self.answers.append(message)
            else:
                self.messages.append(message)
                if "id" in message:
                    self.on_request(message)
        self._grown.set()
        self._grown = asyncio.Event()

    def close(self) -> None:
        """Nothing is to be closed."""

    # The client

    def send_bytes(self, data: bytes) -> None:
        """Send bytes as they are."""
        if data:  # none at all would be the end of the input
            self._input.put_nowait(data)

    def send(self, message: Any) -> None:
        """Send any JSON value."""
        self.send_bytes(frame(message))

    def notify(self, method: str, params: Any) -> None:
        """Send a notification."""
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    async def ask(self, method: str, params: Any = None) -> dict[str, Any]:
        """Send a request and return the whole response."""
        identifier = next(self._ids)
        self.asked += 1
        message = {"jsonrpc": "2.0", "id": identifier, "method": method}
        self.send(message if params is None else {**message, "params": params})
        return await self.answer(identifier)

    async def answer(self, identifier: Any, number: int = 1) -> dict[str, Any]:
        """Return the response with this id, or the `number`th of several."""

        def found() -> list[dict[str, Any]]:
            return [message for message in self.answers if message["id"] == identifier]

        await self.until(lambda: len(found()) >= number)
        return found()[number - 1]

    async def until(self, done: Callable[[], bool]) -> None:
        """Wait for the server to send what makes `done` true."""
        deadline = asyncio.get_running_loop().time() + ANSWER_SECONDS
        while not done():
            seconds = deadline - asyncio.get_running_loop().time()
            await asyncio.wait_for(self._grown.wait(), seconds)

    # Shorthands

    def open(self, uri: str, text: str, language: str = "python") -> None:
        """Open a document."""
        item = {"uri": uri, "languageId": language, "version": 1, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": item})

    def text(self, uri: str) -> str | None:
        """Return what the server holds of a document; None if it is not open."""
        document = self.server.documents.get(uri)
        return document.snapshot.text if document is not None else None
