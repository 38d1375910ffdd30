"""Hands open documents, their neighbours and what they import to the engine.

It learns them as a source of drafts in idle time, and shows parts of them to the model if the settings say so.

One document at a time, and only once the model is loaded: until then nothing but URIs is kept. The disk is read in a
thread, so that neither the event loop nor the engine waits for it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from spark_lsp.context.exclusions import looks_secret
from spark_lsp.scheduler import EngineState
from spark_lsp.server.document_store import OpenDocument
from spark_lsp.server.import_reader import read_imports
from spark_lsp.server.neighbours import Exclusion, nothing_excluded, read_neighbours
from spark_lsp.server.paths import local_path

if TYPE_CHECKING:
    from spark_lsp.server.app import SparkServer

WAITING_DOCUMENTS = 64
"""Most documents that wait to be read; an editor that restores a session opens many, of which the latest matter."""


class WorkspaceReader:
    """Reads for the event loop. `is_excluded` is asked, in the thread, before any file is read or taken in."""

    def __init__(self, server: SparkServer, is_excluded: Exclusion = nothing_excluded) -> None:
        self._server = server
        self._is_excluded = is_excluded
        self._pending: dict[str, bool] = {}
        """URIs to be read, and whether with their neighbours."""
        self._running = False
        self._epoch = 0

    def opened(self, document: OpenDocument) -> None:
        """Read a document and its neighbours, soon."""
        self._pending[document.uri] = True
        if len(self._pending) > WAITING_DOCUMENTS:
            del self._pending[next(iter(self._pending))]
        self.wake()

    def saved(self, document: OpenDocument) -> None:
        """Read a document again, soon."""
        self._pending.setdefault(document.uri, False)
        self.wake()

    def start_over(self, documents: Iterable[OpenDocument]) -> None:
        """Read everything again; what is being read now was allowed by rules that hold no longer."""
        self._epoch += 1
        for document in documents:
            self.opened(document)

    def wake(self) -> None:
        """Go on if there is something to read and an engine to learn it."""
        settings, status = self._server.settings.completion, self._server.engine_status
        context = self._server.settings.context
        wanted = settings.drafting or context.definitions or context.snippets
        if not (settings.enabled and settings.workspace and wanted):
            self._pending.clear()
        ready = status is not None and status.state in (EngineState.IDLE, EngineState.BUSY)
        if self._pending and ready and not self._running:
            self._running = True
            self._server.start_task(self._work())

    async def _work(self) -> None:
        try:
            while self._pending and not self._server.closed:
                uri = next(iter(self._pending))
                await self._read(uri, with_neighbours=self._pending.pop(uri))
        finally:
            self._running = False

    async def _read(self, uri: str, *, with_neighbours: bool) -> None:
        document = self._server.documents.get(uri)
        if document is None or document.obstacle is not None:
            return
        path, allowed = local_path(uri), not looks_secret(unquote(uri).rpartition("/")[2])
        if path is not None and allowed:
            epoch = self._epoch
            read = await asyncio.to_thread(self._read_disk, path, document, with_neighbours)
            if read is None or epoch != self._epoch:
                return
            for file, text in read.neighbours:
                self._server.scheduler.read(str(file), text)
            if self._server.settings.context.snippets:
                self._server.feed.files(read.neighbours)
            if self._server.settings.context.definitions:
                self._server.feed.files(read.imported, document)
        if allowed:
            self._server.scheduler.read(str(path or uri), document.snapshot.text)

    def _read_disk(self, path: Path, document: OpenDocument, with_neighbours: bool) -> _Read | None:
        """Return what was read for a document, None if it must not be read itself."""
        if self._is_excluded(path):
            return None
        settings, read = self._server.settings, _Read()
        if with_neighbours and (settings.completion.drafting or settings.context.snippets):
            read.neighbours += read_neighbours(
                path, document.language, is_excluded=self._is_excluded, stop=lambda: self._server.closed
            )
        if settings.context.definitions:
            read.imported += read_imports(
                path,
                document.snapshot.text,
                document.language,
                self._server.folders,
                is_excluded=self._is_excluded,
                stop=lambda: self._server.closed,
            )
        return read


@dataclass(slots=True)
class _Read:
    """Files by their paths."""

    neighbours: list[tuple[Path, str]] = field(default_factory=list)
    imported: list[tuple[Path, str]] = field(default_factory=list)
