"""Tells the engine what is open, edited, visited and read, for the parts of the prompt beside the window.

Does nothing while all those parts are off. Only documents that are known not to be private get here.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from spark_lsp.context.sources import ContextSources, SourceText
from spark_lsp.documents.text import TextSnapshot
from spark_lsp.server.document_store import OpenDocument
from spark_lsp.server.paths import home_of, local_path, name_within, shown_name
from spark_lsp.syntax.languages import language_for

if TYPE_CHECKING:
    from spark_lsp.server.app import SparkServer


class ContextFeed:
    """Hands texts from the event loop to the engine's thread."""

    def __init__(self, server: SparkServer) -> None:
        self._server = server
        self._lock = threading.Lock()
        self._latest: dict[str, tuple[SourceText, int | None]] = {}
        """What the engine has not taken yet: only the newest text of a document matters."""

    @property
    def enabled(self) -> bool:
        """Whether any part is on."""
        return self._server.settings.context.shows_anything and self._server.settings.completion.enabled

    def touched(self, document: OpenDocument, offset: int | None) -> None:
        """The user edits or visits `document` at `offset`; None if that is not known."""
        if not self.enabled or document.excluded is not False or document.obstacle is not None:
            return
        source = self._source(document)
        with self._lock:
            waiting = document.uri in self._latest
            if waiting and offset is None:
                offset = self._latest[document.uri][1]
            self._latest[document.uri] = source, offset
        if not waiting:
            self._server.scheduler.tell(lambda sources: self._deliver(sources, document.uri))

    def diagnosed(self, document: OpenDocument) -> None:
        """The client told what is wrong in `document`; the next window that is planned takes it up."""
        if self._server.settings.context.diagnostics and document.excluded is False:
            self.touched(document, None)
            self._server.scheduler.tell(lambda sources: sources.diagnosed(document.uri))

    def forget(self, uri: str) -> None:
        """Hand on nothing more of a document that was closed or is private."""
        with self._lock:
            self._latest.pop(uri, None)

    def files(self, texts: Iterable[tuple[Path, str]], importer: OpenDocument | None = None) -> None:
        """Hand on files that were read; `importer` is the document that imports all of them."""
        if not self.enabled:
            return
        folders = self._server.folders
        sources = [
            SourceText(
                str(path),
                name_within(path, folders),
                _repository(path, folders),
                language_for("", path.name),
                TextSnapshot.of(text),
            )
            for path, text in texts
        ]
        keys = [source.key for source in sources]

        def errand(kept: ContextSources) -> None:
            for source in sources:
                kept.put(source)
            if importer is not None:
                kept.link(importer.uri, keys)

        self._server.scheduler.tell(errand)

    def forget_files(self) -> None:
        """Let go of every file that was read."""
        if self.enabled:
            self._server.scheduler.forget_files()

    def _deliver(self, sources: ContextSources, uri: str) -> None:
        with self._lock:
            latest = self._latest.pop(uri, None)
        if latest is None:
            return
        source, offset = latest
        if offset is None:
            sources.put(source, uri)
        else:
            sources.touch(uri, source, offset)

    def _source(self, document: OpenDocument) -> SourceText:
        folders, path = self._server.folders, local_path(document.uri)
        repository = _repository(path, folders) if path is not None else ""
        name = shown_name(document.uri, folders)
        key = str(path or document.uri)
        return SourceText(key, name, repository, document.language, document.snapshot, document.diagnostics)


def _repository(path: Path, folders: Iterable[Path]) -> str:
    home = home_of(path, folders)
    return home.name if home is not None else ""
