"""Lets the engine know the modules that open documents import, so that it can tell which names exist.

One document at a time, in a thread, and again only when its imports change. Does nothing while the setting
`completion.names` is off, and never for a private document.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from spark_lsp.names.writing import KnownModules
from spark_lsp.scheduler import EngineState
from spark_lsp.server.document_store import OpenDocument
from spark_lsp.server.module_languages import MODULE_LANGUAGES, LibraryReader, ModuleLanguage
from spark_lsp.server.neighbours import Exclusion
from spark_lsp.server.paths import local_path

if TYPE_CHECKING:
    from spark_lsp.server.app import SparkServer

WAITING_DOCUMENTS = 64
"""Most documents that wait; the latest matter."""
SETTLE_SECONDS = 1.0
"""After an edit of an import, since its name is still being typed."""


class ModuleFeed:
    """Belongs to the event loop."""

    def __init__(self, server: SparkServer, is_excluded: Exclusion) -> None:
        self._server = server
        languages = dict.fromkeys(MODULE_LANGUAGES.values())
        self._readers: dict[ModuleLanguage, LibraryReader] = {one: one.reader(is_excluded) for one in languages}
        self._pending: dict[str, bool] = {}
        """URIs, and whether they wait for typing to end."""
        self._imports: dict[str, tuple[str, ...]] = {}
        """Those that a document had when its modules were read."""
        self._running = False
        self._epoch = self._read_epoch = 0

    @property
    def enabled(self) -> bool:
        """Whether names are checked."""
        return self._server.settings.completion.enabled and self._server.settings.completion.names

    def changed(self, document: OpenDocument, *, typed: bool = False) -> None:
        """Read the modules of a document soon, if its imports are new; later if an edit may have `typed` them.

        They are looked for after the typing, since going through 5,000 lines takes 2 ms.
        """
        if not self.enabled or _language(document) is None or document.excluded is not False:
            return
        if document.obstacle is not None or (not typed and self._imports.get(document.uri) == _imports(document)):
            return
        self._pending[document.uri] = typed and self._pending.get(document.uri, True)
        if len(self._pending) > WAITING_DOCUMENTS:
            del self._pending[next(iter(self._pending))]
        self.wake()

    def saved(self, document: OpenDocument) -> None:
        """Look again at what every open document imports: it may be this one."""
        language = _language(document)
        for other in self._server.documents if language is not None else ():
            if _language(other) is language:
                self._imports.pop(other.uri, None)
                self.changed(other)

    def forget(self, uri: str) -> None:
        """Let go of a document that was closed or is private."""
        self._pending.pop(uri, None)
        self._imports.pop(uri, None)

    def start_over(self) -> None:
        """Let go of everything that was read, and read it again: other files may be private now."""
        self._epoch += 1
        self._imports.clear()
        self._server.scheduler.tell_names(lambda names: names.forget_all())
        for document in self._server.documents:
            self.changed(document)

    def wake(self) -> None:
        """Go on if there is something to read and an engine to use it."""
        status = self._server.engine_status
        ready = status is not None and status.state in (EngineState.IDLE, EngineState.BUSY)
        if self._pending and ready and not self._running:
            self._running = True
            self._server.start_task(self._work())

    async def _work(self) -> None:
        try:
            while self._pending and not self._server.closed:
                uri = next(iter(self._pending))
                if self._pending.pop(uri):
                    await asyncio.sleep(SETTLE_SECONDS)
                await self._read(uri)
        finally:
            self._running = False

    async def _read(self, uri: str) -> None:
        document = self._server.documents.get(uri)
        language = _language(document) if document is not None else None
        if document is None or language is None or document.excluded is not False:
            return
        epoch, imports, text = self._epoch, _imports(document), document.snapshot.text
        if self._imports.get(uri) == imports:
            return
        folders = self._server.folders
        library = await asyncio.to_thread(self._read_disk, language, local_path(uri), text, folders)
        if epoch != self._epoch or self._server.documents.get(uri) is not document or document.excluded is not False:
            return
        self._imports[uri] = imports
        self._server.scheduler.tell_names(lambda names: names.use(uri, library))

    def _read_disk(self, language: ModuleLanguage, path: Path | None, text: str, folders: list[Path]) -> KnownModules:
        if self._epoch != self._read_epoch:
            for reader in self._readers.values():
                reader.forget()
            self._read_epoch = self._epoch
        return self._readers[language].library(path, text, folders, stop=lambda: self._server.closed)


def _language(document: OpenDocument) -> ModuleLanguage | None:
    return MODULE_LANGUAGES.get(document.language.name)


def _imports(document: OpenDocument) -> tuple[str, ...]:
    language = _language(document)
    return tuple(language.imports.findall(document.snapshot.text)) if language is not None else ()
