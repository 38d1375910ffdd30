"""Work-done progress: what takes long, in the place where the editor shows such things."""

from __future__ import annotations

import asyncio
import logging
import uuid
from typing import TYPE_CHECKING, Any

from lsprotocol import types

if TYPE_CHECKING:
    from spark_lsp.server.app import SparkServer

log = logging.getLogger(__name__)

_TOKEN_SECONDS = 5.0
"""A client that does not answer the request for a progress token by then gets none."""


class Progress:
    """One piece of work. Nothing is shown before `begin`, nor by a client that shows no progress."""

    def __init__(self, server: SparkServer, title: str) -> None:
        self._server = server
        self._title = title
        self._token: str | None = None
        self._percentage = 0
        self._ended = False

    async def begin(self) -> None:
        """Show it, if the client agrees and the work is not done meanwhile."""
        window = self._server.client_capabilities.window
        if window is None or not window.work_done_progress:
            return
        token = str(uuid.uuid4())
        try:
            await asyncio.wait_for(
                self._server.window_work_done_progress_create_async(types.WorkDoneProgressCreateParams(token=token)),
                _TOKEN_SECONDS,
            )
        except Exception:
            log.info("The client did not create a progress token")
            return
        if not self._ended:
            self._token = token
            self._send(types.WorkDoneProgressBegin(title=self._title, percentage=self._percentage))

    def report(self, fraction: float) -> None:
        """Show the done fraction, once for each full percent."""
        percentage = int(fraction * 100)
        if percentage > self._percentage and not self._ended:
            self._percentage = percentage
            self._send(types.WorkDoneProgressReport(percentage=percentage))

    def end(self, message: str) -> None:
        """Show that the work is done; safe to call twice."""
        if not self._ended:
            self._ended = True
            self._send(types.WorkDoneProgressEnd(message=message))

    def _send(self, value: Any) -> None:
        if self._token is not None:
            self._server.progress(types.ProgressParams(token=self._token, value=self._server.protocol.plain(value)))
