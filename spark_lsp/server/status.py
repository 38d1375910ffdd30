"""What the server tells about itself: load progress and the `spark/status` request."""

from __future__ import annotations

import asyncio
import logging
import uuid
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from spark_lsp import __version__
from spark_lsp.scheduler import EngineState, Status

if TYPE_CHECKING:
    from spark_lsp.server.app import SparkServer

log = logging.getLogger(__name__)

STATUS_METHOD = "spark/status"
_TOKEN_SECONDS = 5.0
"""A client that does not answer the request for a progress token by then gets none."""


class LoadProgress:
    """A work-done progress for loading the model."""

    def __init__(self, server: SparkServer, token: str) -> None:
        self._server = server
        self._token = token
        self._percentage = 0
        self._send(types.WorkDoneProgressBegin(title="Loading the completion model", percentage=0))

    def report(self, fraction: float) -> None:
        """Show the loaded fraction, once for each full percent."""
        percentage = int(fraction * 100)
        if percentage > self._percentage:
            self._percentage = percentage
            self._send(types.WorkDoneProgressReport(percentage=percentage))

    def finish(self, status: Status) -> bool:
        """End the progress if the model is loaded or failed to load; whether it ended."""
        if status.state is EngineState.LOADING:
            return False
        ready = status.state is not EngineState.FAILED
        self._send(types.WorkDoneProgressEnd(message=f"{status.model} is ready" if ready else "not loaded"))
        return True

    def _send(self, value: Any) -> None:
        self._server.progress(types.ProgressParams(token=self._token, value=self._server.protocol.plain(value)))


async def begin_load_progress(server: SparkServer) -> LoadProgress | None:
    """Return a progress that the client agreed to, or None if it does not show any."""
    window = server.client_capabilities.window
    if window is None or not window.work_done_progress:
        return None
    token = str(uuid.uuid4())
    try:
        await asyncio.wait_for(
            server.window_work_done_progress_create_async(types.WorkDoneProgressCreateParams(token=token)),
            _TOKEN_SECONDS,
        )
    except Exception:
        log.info("The client did not create a progress token")
        return None
    return LoadProgress(server, token)


def status_report(server: SparkServer) -> dict[str, Any]:
    """Return the answer to `spark/status`: the engine's state, and the counters since start."""
    status = server.engine_status
    server.scheduler.count_decoded()
    return {
        "engine": status.state.value if status is not None else EngineState.LOADING.value,
        "model": status.model if status is not None else "",
        "message": status.message if status is not None else "",
        "version": __version__,
        "documents": len(server.documents),
        "lastReason": server.last_reason,
        **server.metrics.as_dict(),
    }
