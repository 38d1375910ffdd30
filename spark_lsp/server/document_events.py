"""What follows from an open, changed, saved or closed document for everything that works with it."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from lsprotocol import types

from spark_lsp.documents.text import TextSnapshot
from spark_lsp.pipeline import CompletionRequest
from spark_lsp.server import watched_files
from spark_lsp.server.document_store import Obstacle, OpenDocument

if TYPE_CHECKING:
    from spark_lsp.server.app import SparkServer

log = logging.getLogger(__name__)


class DocumentEvents:
    """Tells the parts of the server; notebooks report the documents that they are made into here too."""

    def __init__(self, server: SparkServer) -> None:
        self._server = server

    def opened(self, document: OpenDocument) -> None:
        """Take over a document."""
        self._explain_obstacle(document)
        self._server.scheduler.supersede(document.uri)
        self._server.gate.check(document)

    def exclusion_known(self, document: OpenDocument) -> None:
        """Begin to work for a document, or end it, now that it is known whether it is private."""
        server = self._server
        if document.excluded:
            log.info("%s is private and is not completed", document.uri.rpartition("/")[2])
            document.diagnostics = ()
            server.feed.forget(document.uri)
            server.modules.forget(document.uri)
            server.completions.forget(document.uri)
            server.scheduler.forget(document.uri, keep=False)
        else:
            server.feed.touched(document, 0)
            server.reader.opened(document)
            server.modules.changed(document)

    def new_rules(self) -> None:
        """Look at everything again: other files may be private now, or the engine knows nothing of them."""
        server = self._server
        server.feed.forget_files()
        for document in server.documents:
            document.excluded = None  # nothing is done with it until that is known anew
            server.gate.check(document)
        server.reader.start_over(server.documents)
        server.modules.start_over()

    def change(self, params: types.DidChangeTextDocumentParams) -> None:
        """Apply an edit."""
        known = self._server.documents.get(params.text_document.uri)
        old = known.snapshot if known is not None else None
        document = self._server.documents.change(params.text_document, params.content_changes)
        if document is None or old is None:
            log.info("A change for a document that is not open was ignored")
        else:
            self.changed(document, old)

    def changed(self, document: OpenDocument, old: TextSnapshot) -> None:
        """Stop work on the text before an edit, which was `old`, and take in the new one."""
        server, edited = self._server, None
        if document.edited is not None and document.excluded is False and server.answering:
            edited = CompletionRequest(document.uri, document.snapshot, document.edited, document.language)
        server.scheduler.supersede(document.uri, edited)
        self._explain_obstacle(document)
        server.outcomes.edited(document, old)
        server.feed.touched(document, document.edited)
        server.modules.changed(document, typed=True)

    def saved(self, uri: str) -> None:
        """Let other documents profit from what was saved."""
        server = self._server
        watched_files.changed(server, {uri.rpartition("/")[2]})
        document = server.documents.get(uri)
        if document is not None:
            server.gate.saved(document)
            server.reader.saved(document)
            server.modules.saved(document)

    def close(self, uri: str) -> None:
        """Free everything kept for a document."""
        server = self._server
        document = server.documents.close(uri)
        if document is not None:
            server.outcomes.closed(document)
        server.completions.forget(uri)
        server.feed.forget(uri)
        server.modules.forget(uri)
        server.scheduler.forget(uri)

    def _explain_obstacle(self, document: OpenDocument) -> None:
        name = document.uri.rpartition("/")[2]
        if document.obstacle is Obstacle.TOO_LARGE:
            self._server.tell(f"{name} is too large to be completed; files of up to 8 million characters are.")
        elif document.obstacle is Obstacle.BINARY:
            self._server.tell(f"{name} is not a text file and is not completed.", types.MessageType.Info)
