"""The log, sent to the client as `window/logMessage`, as much of it as the client's trace level asks for.

`off` gets warnings and errors, `messages` also what happens, `verbose` also every answer. Only sentences go out, never
a traceback. The log on standard error keeps its own level.
"""

from __future__ import annotations

import contextlib
import logging
from typing import TYPE_CHECKING, Any

from lsprotocol import types

if TYPE_CHECKING:
    from spark_lsp.server.app import SparkServer

PACKAGE = "spark_lsp"
LEVELS = {
    types.TraceValue.Off: logging.WARNING,
    types.TraceValue.Messages: logging.INFO,
    types.TraceValue.Verbose: logging.DEBUG,
}
_KINDS = {
    logging.DEBUG: types.MessageType.Log,
    logging.INFO: types.MessageType.Info,
    logging.WARNING: types.MessageType.Warning,
    logging.ERROR: types.MessageType.Error,
}
MOST_CHARACTERS = 2000
"""Of one message; a longer one has something in it that belongs into a file."""


class ClientLog(logging.Handler):
    """Sends records to the client, from any thread."""

    def __init__(self, server: SparkServer) -> None:
        super().__init__(logging.WARNING)
        self._server = server

    def emit(self, record: logging.LogRecord) -> None:
        """Send one record; it is lost where it cannot be sent."""
        with contextlib.suppress(Exception):  # a failure here must not be logged: that would come back here
            text = record.getMessage()[:MOST_CHARACTERS]
            kind = _KINDS[max(level for level in _KINDS if level <= max(record.levelno, logging.DEBUG))]
            self._server.post(self._send, types.LogMessageParams(type=kind, message=text))

    def _send(self, params: types.LogMessageParams) -> None:
        if not self._server.closed:
            self._server.window_log_message(params)


class Tracing:
    """Sets the client's level. The package's own logger lets through what either the client or the log wants."""

    def __init__(self, server: SparkServer) -> None:
        self._handler = ClientLog(server)
        self._package = logging.getLogger(PACKAGE)

    def set(self, value: Any) -> None:
        """Send as much as `value` says; what is no trace value counts as `off`."""
        level = LEVELS.get(value, logging.WARNING)
        self._package.addHandler(self._handler)
        self._handler.setLevel(level)
        self._package.setLevel(min(level, logging.getLogger().level or logging.WARNING))

    def stop(self) -> None:
        """Send nothing more."""
        self._package.removeHandler(self._handler)


def register(server: SparkServer) -> None:
    """Follow `$/setTrace`."""

    @server.feature(types.SET_TRACE)
    def set_trace(ls: SparkServer, params: types.SetTraceParams) -> None:
        ls.tracing.set(params.value)
