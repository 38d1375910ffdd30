"""Which client speaks these methods, what that changes, and what it is told about the state of the server.

It is recognised by the editor that it names in `initializationOptions`, or by the first of the methods that it uses.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from spark_lsp.documents.positions import Encoding
from spark_lsp.jobs import EngineState, Status
from spark_lsp.server import inline
from spark_lsp.server.copilot.completions import SharedAnswers
from spark_lsp.server.copilot.version import agree_on_version

if TYPE_CHECKING:
    from spark_lsp.server.app import SparkServer

EDITOR_KEYS = ("editorInfo", "editorPluginInfo")
"""Where a plugin names its editor and itself."""
ACCEPT_ALIASES = ("github.copilot.didAcceptCompletionItem", "github.copilot.didAcceptPanelCompletionItem")
"""Commands that plugins may have written down instead of running the one that came with the item."""


class CopilotClient:
    """The client, if it is one of these; belongs to the event loop."""

    def __init__(self, server: SparkServer) -> None:
        self._server = server
        self.speaks = False
        """Whether the client is known to speak these methods."""
        self.answers = SharedAnswers()
        self.panels: dict[str, asyncio.Task[None]] = {}
        """What fills the panel of a document, by its URI."""
        self._announced: dict[str, Any] | None = None

    def recognise(self) -> None:
        """Treat the client as one that speaks these methods from now on.

        Only then are the commands there: an editor may register each one that it hears of, and the plugin that owns the
        names may be installed beside us.
        """
        if self.speaks:
            return
        self.speaks = True
        for name in ACCEPT_ALIASES:
            self._server.command(name)(_accept)
        if self._server.engine_status is not None:
            self.announce(self._server.engine_status)

    def prepared(self, message: dict[str, Any]) -> dict[str, Any]:
        """Return an `initialize` message as it is meant, and recognise the client.

        A client of this kind counts in UTF-16 whatever it offers: the plugin writes its requests so, while the editor
        would send its edits in the encoding that is agreed on. Only UTF-16 suits both.
        """
        params = message.get("params")
        options = params.get("initializationOptions") if isinstance(params, dict) else None
        if not isinstance(params, dict) or not isinstance(options, dict):
            return message
        if not any(isinstance(options.get(key), dict) for key in EDITOR_KEYS):
            return message
        self.recognise()
        capabilities = params.get("capabilities")
        if isinstance(capabilities, dict) and isinstance(capabilities.get("general"), dict):
            general = {**capabilities["general"], "positionEncodings": [Encoding.UTF16.value]}
            params = {**params, "capabilities": {**capabilities, "general": general}}
        return {**message, "params": params}

    async def agree_on_version(self, params: dict[str, Any]) -> None:
        """Return when the document of a request is the one that it means, as `version.agree_on_version` says."""
        await agree_on_version(self._server, params)

    def announce(self, status: Status) -> None:
        """Tell a client of this kind how the server is, if that has changed; both generations hear it in their way."""
        current = self._description(status)
        if not self.speaks or current == self._announced:
            return
        self._announced = current
        shown = "InProgress" if current["busy"] else current["kind"]
        self._server.protocol.notify("didChangeStatus", current)
        self._server.protocol.notify("statusNotification", {"status": shown, **current})

    def _description(self, status: Status) -> dict[str, Any]:
        if not self._server.settings.completion.enabled:
            return _state("Inactive", "Suggestions are turned off in the settings.")
        if self._server.paused:
            return _state("Inactive", "Suggestions are paused.")
        if status.state is EngineState.FAILED:
            return _state("Error", status.message)
        if status.message and status.state is not EngineState.LOADING:
            # Not "busy" and back with each request: plugins show the message anew each time.
            return _state("Warning", status.message)
        return _state("Normal", busy=status.state in (EngineState.LOADING, EngineState.BUSY))


def _state(kind: str, message: str = "", *, busy: bool = False) -> dict[str, Any]:
    return {"kind": kind, "busy": busy, "message": message}


def _accept(ls: Any, *arguments: Any) -> None:
    # pygls looks up the annotations of commands when they are run: a name that only type checkers know would fail.
    inline.accepted(ls, arguments[0] if arguments else None)
