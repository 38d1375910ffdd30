"""The progress of one repair, which the user may cancel where the client shows it."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from spark_lsp.repair.search import MOST_ANSWERS

if TYPE_CHECKING:
    from spark_lsp.server.app import SparkServer

log = logging.getLogger(__name__)


class RepairProgress:
    """A work-done progress with the client's token, or one that the client agrees to; else nothing is shown."""

    def __init__(self, server: SparkServer, title: str, token: Any, on_cancel: Callable[[], None]) -> None:
        """Begin. `on_cancel` is called on the event loop when the user stops it."""
        self._server = server
        self._title = title
        self._on_cancel = on_cancel
        self._token: str | int | None = None
        self._ended = False
        if isinstance(token, (str, int)) and not isinstance(token, bool):
            self._begin(token)
            return
        window = server.client_capabilities.window
        if window is not None and window.work_done_progress:
            server.start_task(self._create())

    def report(self, number: int) -> None:
        """Show that the model writes its answer of that number."""
        if self._token is not None and not self._ended:
            message = "The model reads the fault" if number == 1 else f"The model tries another answer ({number})"
            percentage = min(99, 100 * number // (MOST_ANSWERS + 1))
            report = types.WorkDoneProgressReport(message=message, percentage=percentage)
            self._server.work_done_progress.report(self._token, report)

    def end(self, message: str) -> None:
        """Show that it is over."""
        self._ended = True
        if self._token is not None:
            self._server.work_done_progress.end(self._token, types.WorkDoneProgressEnd(message=message))
            self._server.work_done_progress.tokens.pop(self._token, None)
            self._token = None

    async def _create(self) -> None:
        token = str(uuid.uuid4())
        try:
            await self._server.window_work_done_progress_create_async(types.WorkDoneProgressCreateParams(token=token))
        except Exception:
            log.info("The client did not create a progress token")
            return
        if not self._ended:
            self._begin(token)

    def _begin(self, token: str | int) -> None:
        self._token = token
        begin = types.WorkDoneProgressBegin(title=self._title, cancellable=True, percentage=0)
        self._server.work_done_progress.begin(token, begin)
        stopped = self._server.work_done_progress.tokens[token]
        stopped.add_done_callback(lambda done: self._on_cancel() if done.cancelled() else None)
