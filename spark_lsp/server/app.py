"""The server object: capabilities, life cycle, and who owns what.

The event loop owns documents and the completion cache; the scheduler's thread owns the engine. They meet in
`Scheduler.submit` and in callbacks that are posted to the loop.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from spark_lsp import __version__
from spark_lsp.cache import CompletionCache
from spark_lsp.documents.positions import Encoding
from spark_lsp.loading import OnFraction
from spark_lsp.metrics import Metrics
from spark_lsp.pipeline import Reason
from spark_lsp.scheduler import Loader, Scheduler, Status
from spark_lsp.server import (
    commands,
    configuration,
    copilot,
    diagnostics,
    fallback,
    fixes,
    inline,
    notebooks,
    parent,
    status,
    trace,
    watched_files,
)
from spark_lsp.server.configuration import Configuration
from spark_lsp.server.context_feed import ContextFeed
from spark_lsp.server.document_events import DocumentEvents
from spark_lsp.server.document_store import DocumentStore
from spark_lsp.server.exclusion_gate import ExclusionGate
from spark_lsp.server.module_feed import ModuleFeed
from spark_lsp.server.outcomes import Outcomes
from spark_lsp.server.paths import local_path
from spark_lsp.server.protocol import SparkProtocol
from spark_lsp.server.status import StatusFeed
from spark_lsp.server.trace import Tracing
from spark_lsp.server.workspace_reader import WorkspaceReader
from spark_lsp.settings import Settings

log = logging.getLogger(__name__)

LoaderFactory = Callable[[Settings, OnFraction], Loader]
"""Makes the loader from the user's settings and a callback for how far it is."""


class SparkServer(LanguageServer):
    """A language server that answers `textDocument/inlineCompletion` from a local model."""

    protocol: SparkProtocol

    def __init__(
        self, make_loader: LoaderFactory, settings: Settings | None = None, flags: Mapping[str, Any] | None = None
    ) -> None:
        """Take `settings` for the defaults, and `flags` for what the command line says."""
        super().__init__(
            "spark-lsp",
            __version__,
            text_document_sync_kind=types.TextDocumentSyncKind.Incremental,
            notebook_document_sync=notebooks.SYNC,
            protocol_cls=SparkProtocol,
        )
        self.settings = settings or Settings()
        self.configuration = Configuration(self, self.settings, flags or {})
        self.documents = DocumentStore()
        self.notebooks = notebooks.Notebooks(self)
        self.gate = ExclusionGate(self)
        self.feed = ContextFeed(self)
        self.reader = WorkspaceReader(self, self.gate.is_excluded)
        self.modules = ModuleFeed(self, self.gate.is_excluded)
        self.completions = CompletionCache()
        self.events = DocumentEvents(self)
        self.copilot = copilot.CopilotClient(self)
        self.metrics = Metrics()
        self.outcomes = Outcomes(self)
        self.status_feed = StatusFeed(self)
        self.tracing = Tracing(self)
        self.offers: OrderedDict[str, str] = OrderedDict()
        """Texts of the latest items by the identifier in their accept command."""
        self.shows_inline = False
        """Whether the client shows suggestions at the cursor, as far as it says."""
        self.closed = self.paused = self.loading_begun = False
        self.last_reason = ""
        self.make_loader = make_loader
        self._scheduler: Scheduler | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._told: set[str] = set()
        self._tasks: set[asyncio.Task[Any]] = set()
        _register(self)

    @property
    def scheduler(self) -> Scheduler:
        """The engine's mailbox; it exists from `initialize` on."""
        if self._scheduler is None:
            raise RuntimeError("the scheduler starts with the initialize request")
        return self._scheduler

    @property
    def folders(self) -> list[Path]:
        """The workspace folders on this machine, as the client sees them now."""
        uris = [folder.uri for folder in self.workspace.folders.values()] or [self.workspace.root_uri or ""]
        return [path for path in map(local_path, uris) if path is not None]

    @property
    def engine_status(self) -> Status | None:
        """What the engine is doing; None before `initialize`."""
        return self._scheduler.status if self._scheduler is not None else None

    @property
    def answering(self) -> bool:
        """Whether requests may get suggestions: neither turned off nor paused."""
        return self.settings.completion.enabled and not self.paused

    def report_server_error(self, error: Exception, source: Any) -> None:
        """Log an error. It is never sent: a client that went away would make the report fail, and so on."""
        log.warning("%s", error, exc_info=log.isEnabledFor(logging.DEBUG))

    def tell(self, sentence: str, kind: types.MessageType = types.MessageType.Warning) -> None:
        """Show one sentence to the user, once."""
        if sentence not in self._told:
            self._told.add(sentence)
            self.window_show_message(types.ShowMessageParams(type=kind, message=f"spark-lsp: {sentence}"))

    def count(self, reason: Reason) -> None:
        """Count an answered request by its reason."""
        self.last_reason = reason.value
        self.metrics.count_answer(reason.value)
        self.status_feed.changed()
        log.debug("Answered: %s", reason.value)

    # Life cycle

    def on_initialize(self, params: types.InitializeParams) -> None:
        """Read settings and agree on the position encoding; the answer does not wait for anything else."""
        self._loop = asyncio.get_running_loop()
        self.tracing.set(params.trace)
        self.settings = self.configuration.begin(params.initialization_options)
        self.gate.configure(self.settings.context.exclusions)
        # pygls gives the enumeration's member or a plain string, as the client wrote it.
        agreed = self.workspace.position_encoding or Encoding.UTF16
        self.documents.encoding = Encoding(getattr(agreed, "value", agreed))
        self._scheduler = Scheduler(
            self.configuration.loader(self.settings),
            self.metrics,
            lambda current: self.post(self.status_feed.on_status, current),
            lambda request, completion: self.post(inline.foreseen, self, request, completion),
            self.configuration.governor(self.settings),
        )
        if params.process_id is not None:
            self.start_task(parent.end_with(params.process_id))

    async def on_initialized(self) -> None:
        """Ask what is configured, then start loading the model and show it."""
        await asyncio.gather(self.configuration.ask(), self.status_feed.begin_load())
        self.loading_begun = True
        self.scheduler.start()
        await asyncio.gather(self.configuration.register(), watched_files.watch(self))

    def start_task(self, coroutine: Any) -> None:
        """Run a coroutine for the life of the server; its failure is logged."""
        self.keep_task(asyncio.ensure_future(coroutine))

    def keep_task(self, task: asyncio.Task[Any]) -> None:
        """Hold a task until it is done; the loop alone would let go of it."""
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def close(self) -> None:
        """Stop the engine; nothing is sent from now on."""
        self.closed = True
        self.tracing.stop()
        if self._scheduler is not None:
            self.outcomes.finish()
            self._scheduler.close()

    def shutdown(self) -> None:
        """Stop the main loop without waiting for the thread that reads standard input."""
        self.closed = True
        if self._stop_event is not None:
            self._stop_event.set()
        if self._thread_pool is not None:
            self._thread_pool.shutdown(wait=False)

    # From the engine's thread

    def post(self, callback: Callable[..., None], *arguments: Any) -> None:
        """Run `callback` on the event loop; safe from any thread, and silent once the loop is gone."""
        loop = self._loop
        if loop is None or self.closed:
            return
        try:
            loop.call_soon_threadsafe(callback, *arguments)
        except RuntimeError:  # the loop closed between the test and the call
            log.debug("The event loop is closed")


def _register(server: SparkServer) -> None:
    """Register every handler."""

    copilot.register(server)

    @server.feature(types.INITIALIZE)
    def initialize(ls: SparkServer, params: types.InitializeParams) -> None:
        ls.on_initialize(params)

    @server.feature(types.INITIALIZED)
    async def initialized(ls: SparkServer, _params: Any) -> None:
        await ls.on_initialized()

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE, types.SaveOptions(include_text=False))
    def did_save(ls: SparkServer, params: types.DidSaveTextDocumentParams) -> None:
        ls.events.saved(params.text_document.uri)

    inline.register(server)
    fallback.register(server)

    diagnostics.register(server)
    commands.register(server)
    configuration.register(server)
    status.register(server)
    trace.register(server)
    watched_files.register(server)
    fixes.register(server)
