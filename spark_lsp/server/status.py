"""What the server tells about itself: progress, and `spark/status` as a request and as a notification.

The notification goes to clients that say `sparkStatus: true` among their experimental capabilities: others would log
that they do not know it, at every keystroke.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from spark_lsp import __version__
from spark_lsp.loading import DOWNLOAD
from spark_lsp.scheduler import EngineState, Status
from spark_lsp.server.progress import Progress
from spark_lsp.statistics.report import acceptance_rate

if TYPE_CHECKING:
    from spark_lsp.server.app import SparkServer

STATUS_METHOD = "spark/status"
STATUS_CAPABILITY = "sparkStatus"
NOTIFY_SECONDS = 0.1
"""Changes within so long are one notification: a keystroke makes the engine busy and idle again."""


class StatusFeed:
    """Shows progress, sends notifications and wakes who waits for the engine. Belongs to the event loop."""

    def __init__(self, server: SparkServer) -> None:
        self._server = server
        self._load: Progress | None = None
        self._download: Progress | None = None
        self._calibration: Progress | None = None
        self._loads = 0
        self._sent: dict[str, Any] = {}
        self._timer: asyncio.TimerHandle | None = None

    async def begin_load(self) -> None:
        """Show from now on how far the loading of a model is."""
        self._load = progress = Progress(self._server, "Loading the completion model")
        await progress.begin()

    def on_fraction(self, fraction: float, stage: str = "") -> None:
        """Show how far a model is downloaded or loaded."""
        if stage != DOWNLOAD:
            if self._download is not None:
                self._download.end("downloaded")
                self._download = None
            if self._load is not None:
                self._load.report(fraction)
            return
        if self._download is None:
            self._download = Progress(self._server, "Downloading the completion model")
            self._server.start_task(self._download.begin())
        self._download.report(fraction)

    def on_status(self, current: Status) -> None:
        """Show what became of the work, tell it to the client, and give the engine what it needs now."""
        if current.state is not EngineState.LOADING:
            failed = current.state is EngineState.FAILED
            for progress in (self._download, self._load):
                if progress is not None:
                    progress.end("not loaded" if failed else f"{current.model} is ready")
            self._download = self._load = None
        self._show_calibration(current.calibrated)
        self.changed()
        server = self._server
        if self._loads and current.loads != self._loads:  # another model knows nothing of what is open
            server.completions.clear()
            server.events.new_rules()
        self._loads = current.loads
        server.reader.wake()
        server.modules.wake()
        if current.message:
            server.tell(current.message)

    def changed(self) -> None:
        """Tell clients that asked for it, soon, and plugins of the other server at once."""
        current = self._server.engine_status
        if current is not None:
            self._server.copilot.announce(current)
        if self._timer is None and self._wanted:
            self._timer = asyncio.get_running_loop().call_later(NOTIFY_SECONDS, self._notify)

    @property
    def _wanted(self) -> bool:
        offered = self._server.client_capabilities.experimental
        return bool(_value(offered, STATUS_CAPABILITY))

    def _notify(self) -> None:
        self._timer = None
        current = summary(self._server)
        if current != self._sent and not self._server.closed:
            self._sent = current
            self._server.protocol.notify(STATUS_METHOD, current)

    def _show_calibration(self, fraction: float | None) -> None:
        if fraction is None or fraction >= 1.0:
            if self._calibration is not None:
                self._calibration.end("measured")
                self._calibration = None
        elif fraction > 0:
            if self._calibration is None:
                self._calibration = Progress(self._server, "Measuring the speed of this machine")
                self._server.start_task(self._calibration.begin())
            self._calibration.report(fraction)


def summary(server: SparkServer) -> dict[str, Any]:
    """Return what a status line shows: the `spark/status` notification, and the beginning of the request's answer.

    `tokensPerSecond` is the mean over the latest generations, 0 before the first; `acceptanceRate` is the share of
    suggestions shown since start that were accepted, null if none was shown.
    """
    status = server.engine_status
    return {
        "engine": status.state.value if status is not None else EngineState.LOADING.value,
        "model": status.model if status is not None else "",
        "variant": status.variant if status is not None else "",
        "message": status.message if status is not None else "",
        "paused": server.paused,
        "lastReason": server.last_reason,
        "tokensPerSecond": round(server.metrics.tokens_per_second, 1),
        "acceptanceRate": acceptance_rate(server.metrics.offers.total),
    }


def status_report(server: SparkServer) -> dict[str, Any]:
    """Return the answer to `spark/status`: the engine's state, and the counters since start."""
    server.scheduler.count_decoded()
    return {
        **summary(server),
        "version": __version__,
        "documents": len(server.documents),
        **server.metrics.as_dict(),
    }


def _value(data: Any, key: str) -> Any:
    """Return a member of what a client sent as any JSON value."""
    return data.get(key) if isinstance(data, dict) else getattr(data, key, None)


def register(server: SparkServer) -> None:
    """Answer the request."""

    @server.feature(STATUS_METHOD)
    def show_status(ls: SparkServer, _params: Any) -> dict[str, Any]:
        return status_report(ls)
