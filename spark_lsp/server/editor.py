"""The client side: a scripted editor that talks to a real server process.

The demo, the benchmarks and the tests type through it. It sends what a careful editor sends: incremental changes, one
request after each key, and `partialResultToken` when it wants to see the text grow.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from spark_lsp.documents.edits import ContentChange, Range, apply_change
from spark_lsp.documents.positions import Encoding, position_at
from spark_lsp.documents.text import TextSnapshot
from spark_lsp.errors import SparkError

_STOP_SECONDS = 5.0
"""Time that a server gets to leave after `exit` before it is killed."""


class ServerGoneError(SparkError):
    """The server process ended while an answer was outstanding."""


class ResponseError(SparkError):
    """The server answered with an error."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(slots=True)
class _Buffer:
    snapshot: TextSnapshot
    cursor: int
    version: int = 1


@dataclass(slots=True)
class Editor:
    """One editor with its server. Use `start`, then `open`, `type` and `complete`, and `stop` at the end."""

    command: Sequence[str]
    environment: dict[str, str] | None = None
    encodings: Sequence[str] = ()
    """Position encodings to offer, the preferred one first; none means UTF-16, as the protocol says."""
    folder: Path | None = None
    """The workspace folder."""
    client: dict[str, Any] = field(default_factory=dict)
    """Members of the `initialize` parameters that take the place of the usual ones."""
    messages: list[dict[str, Any]] = field(default_factory=list)
    """Notifications and requests that came from the server, in order."""
    capabilities: dict[str, Any] = field(default_factory=dict)
    answers: dict[str, Any] = field(default_factory=dict)
    """Results for the server's requests by method; the others are answered with null."""
    _process: asyncio.subprocess.Process | None = None
    _reader: asyncio.Task[None] | None = None
    _ids: itertools.count[int] = field(default_factory=lambda: itertools.count(1))
    _pending: dict[int, asyncio.Future[Any]] = field(default_factory=dict)
    _partials: dict[str, Callable[[Any], None]] = field(default_factory=dict)
    _buffers: dict[str, _Buffer] = field(default_factory=dict)
    _encoding: Encoding = Encoding.UTF16

    async def start(self, options: Any = None, stderr: int | None = None) -> dict[str, Any]:
        """Start the server, initialize it with `options` and return its answer."""
        self._process = await asyncio.create_subprocess_exec(
            *self.command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=stderr,
            env={**os.environ, **(self.environment or {})},
        )
        self._reader = asyncio.ensure_future(self._read())
        capabilities = {
            "general": {"positionEncodings": list(self.encodings)} if self.encodings else {},
            "window": {"workDoneProgress": True},
            "textDocument": {"inlineCompletion": {}},
        }
        result: dict[str, Any] = await self.request(
            "initialize",
            {
                "processId": os.getpid(),
                "rootUri": self.folder.as_uri() if self.folder is not None else None,
                "capabilities": capabilities,
                "initializationOptions": options,
                **self.client,
            },
        )
        self.capabilities = result["capabilities"]
        self._encoding = Encoding(self.capabilities.get("positionEncoding", Encoding.UTF16))
        self.notify("initialized", {})
        return result

    @property
    def process(self) -> asyncio.subprocess.Process:
        """The server process."""
        if self._process is None:
            raise RuntimeError("the editor was not started")
        return self._process

    # Documents

    def open(self, uri: str, language: str, text: str, cursor: int | None = None) -> None:
        """Open a document; the cursor stands at its end unless given (code points)."""
        self._buffers[uri] = _Buffer(TextSnapshot.of(text), len(text) if cursor is None else cursor)
        item = {"uri": uri, "languageId": language, "version": 1, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": item})

    def text(self, uri: str) -> str:
        """Return the document as the editor sees it."""
        return self._buffers[uri].snapshot.text

    def cursor(self, uri: str) -> int:
        """Return the offset of the cursor."""
        return self._buffers[uri].cursor

    def type(self, uri: str, text: str) -> None:
        """Insert `text` at the cursor."""
        self.replace(uri, self._buffers[uri].cursor, self._buffers[uri].cursor, text)

    def replace(self, uri: str, start: int, end: int, text: str) -> None:
        """Replace a range (offsets) and put the cursor behind the new text."""
        self.edit(uri, [(start, end, text)])

    def edit(self, uri: str, changes: Sequence[tuple[int, int, str]]) -> None:
        """Replace ranges one after another, in one notification; the cursor stands behind the last new text."""
        buffer, events = self._buffers[uri], []
        for start, end, text in changes:
            first, last = self._position(buffer, start), self._position(buffer, end)
            buffer.snapshot = apply_change(buffer.snapshot, ContentChange(text, Range(*first, *last)), self._encoding)
            buffer.cursor = start + len(text)
            events.append({"range": {"start": _json_position(first), "end": _json_position(last)}, "text": text})
        self._send_changes(uri, events)

    def resend(self, uri: str) -> None:
        """Send the whole document anew, as some clients do with every change."""
        self._send_changes(uri, [{"text": self.text(uri)}])

    def close(self, uri: str) -> None:
        """Close a document."""
        del self._buffers[uri]
        self.notify("textDocument/didClose", {"textDocument": {"uri": uri}})

    def move(self, uri: str, offset: int) -> None:
        """Put the cursor elsewhere."""
        self._buffers[uri].cursor = offset

    async def complete(
        self, uri: str, *, invoked: bool = False, on_partial: Callable[[str], None] | None = None
    ) -> str:
        """Return the text of the first item at the cursor, or the empty string."""
        result = await self.request("textDocument/inlineCompletion", self.completion_params(uri, invoked, on_partial))
        return _first_text(result)

    def completion_params(
        self, uri: str, invoked: bool = False, on_partial: Callable[[str], None] | None = None
    ) -> dict[str, Any]:
        """Return the parameters of a request at the cursor."""
        buffer = self._buffers[uri]
        params: dict[str, Any] = {
            "textDocument": {"uri": uri},
            "position": _json_position(self._position(buffer, buffer.cursor)),
            "context": {"triggerKind": 1 if invoked else 2},
        }
        if on_partial is not None:
            token = f"partial-{next(self._ids)}"
            params["partialResultToken"] = token
            self._partials[token] = lambda value: on_partial(_first_text(value))
        return params

    async def status(self) -> dict[str, Any]:
        """Return the server's counters and state."""
        result: dict[str, Any] = await self.request("spark/status", None)
        return result

    async def ready(self, seconds: float) -> dict[str, Any]:
        """Wait until the engine has loaded or failed, at most `seconds`, and return the status."""
        deadline = asyncio.get_running_loop().time() + seconds
        while True:
            status = await self.status()
            if status["engine"] != "loading" or asyncio.get_running_loop().time() > deadline:
                return status
            await asyncio.sleep(0.05)

    # Messages

    def notify(self, method: str, params: Any) -> None:
        """Send a notification."""
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    async def request(self, method: str, params: Any) -> Any:
        """Send a request and return its result. Raises ResponseError or ServerGoneError."""
        _, answer = self.start_request(method, params)
        return await answer

    def start_request(self, method: str, params: Any) -> tuple[int, asyncio.Future[Any]]:
        """Send a request and return its id and the future of its result."""
        number = next(self._ids)
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._pending[number] = answer
        message = {"jsonrpc": "2.0", "id": number, "method": method}
        self.send(message if params is None else {**message, "params": params})
        return number, answer

    def send(self, message: Any) -> None:
        """Send any JSON value with the right header."""
        body = json.dumps(message).encode()
        self.send_bytes(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))

    def send_bytes(self, data: bytes) -> None:
        """Send bytes as they are."""
        if self.process.stdin is None:
            raise RuntimeError("the server has no input")
        self.process.stdin.write(data)

    async def stop(self) -> int:
        """Shut the server down in the proper way and return its exit code; kill it if it does not leave."""
        process = self.process
        if process.returncode is None:
            try:
                await asyncio.wait_for(self.request("shutdown", None), _STOP_SECONDS)
                self.notify("exit", None)
                await asyncio.wait_for(process.wait(), _STOP_SECONDS)
            except (SparkError, asyncio.TimeoutError, ConnectionError):
                process.kill()
        code = await process.wait()
        if process.stdin is not None:
            process.stdin.close()
        if self._reader is not None:
            await self._reader
        return code

    async def _read(self) -> None:
        stream = self.process.stdout
        if stream is None:
            return
        try:
            while True:
                header = await stream.readuntil(b"\r\n\r\n")
                fields = dict(line.split(b": ", 1) for line in header.strip().split(b"\r\n"))
                self._receive(json.loads(await stream.readexactly(int(fields[b"Content-Length"]))))
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        for answer in self._pending.values():
            if not answer.done():
                answer.set_exception(ServerGoneError("The server ended without answering."))
                answer.exception()  # nobody may be waiting for it
        self._pending.clear()

    def _receive(self, message: dict[str, Any]) -> None:
        if "method" not in message:
            answer = self._pending.pop(message["id"], None)
            if answer is None or answer.done():
                self.messages.append(message)
            elif "error" in message:
                answer.set_exception(ResponseError(message["error"]["code"], message["error"]["message"]))
                answer.exception()  # nobody may be waiting for it
            else:
                answer.set_result(message.get("result"))
            return
        self.messages.append(message)
        if "id" in message:
            self.send({"jsonrpc": "2.0", "id": message["id"], "result": self.answers.get(message["method"])})
        elif message["method"] == "$/progress":
            listener = self._partials.get(str(message["params"]["token"]))
            if listener is not None:
                listener(message["params"]["value"])

    def _send_changes(self, uri: str, events: list[dict[str, Any]]) -> None:
        buffer = self._buffers[uri]
        buffer.version += 1
        identifier = {"uri": uri, "version": buffer.version}
        self.notify("textDocument/didChange", {"textDocument": identifier, "contentChanges": events})

    def _position(self, buffer: _Buffer, offset: int) -> tuple[int, int]:
        return position_at(buffer.snapshot, offset, self._encoding)


def _json_position(position: tuple[int, int]) -> dict[str, int]:
    return {"line": position[0], "character": position[1]}


def _first_text(result: Any) -> str:
    items = result["items"] if result else []
    return str(items[0]["insertText"]) if items else ""
