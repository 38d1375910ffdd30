"""What became of suggestions, from the editor's side: feeds the counts and keeps them on disk.

The file is written in a thread, once in a while and only if something was counted, and when the server ends.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from spark_lsp.completion import Completion
from spark_lsp.context.window import with_line_feeds
from spark_lsp.documents.text import TextSnapshot
from spark_lsp.server.document_store import OpenDocument
from spark_lsp.statistics import store

if TYPE_CHECKING:
    from spark_lsp.server.app import SparkServer

FLUSH_SECONDS = 20.0
"""Time after which counts are written: so much is lost if the process is killed."""
LAST_LOCK_SECONDS = 0.3
"""Time that the end of the server may wait for another server's turn."""


class Outcomes:
    """Belongs to the event loop."""

    def __init__(self, server: SparkServer) -> None:
        self._server = server
        self._book = server.metrics.offers
        self._timer: asyncio.TimerHandle | None = None
        self.flush_seconds = FLUSH_SECONDS

    def offered(self, identifier: str, document: OpenDocument, snapshot: TextSnapshot, cursor: int, text: str) -> None:
        """The client gets `text` for the place."""
        before = snapshot.text[:cursor]
        self._book.offered(
            identifier,
            document.uri,
            document.language.name,
            with_line_feeds(snapshot.text),
            cursor - before.count("\r\n"),
            text,
        )
        self._wake()

    def wrote(self, document: str, completion: Completion) -> None:
        """The engine wrote a text; its drafter is counted with it."""
        if completion.generation is not None:
            self._book.wrote(document, completion.if_invoked, completion.generation.drafter)

    def accepted(self, identifier: str) -> None:
        """The user took a suggestion."""
        offer = self._book.document_of(identifier)
        if self._server.metrics.count_accept(identifier) and offer is not None:
            document = self._server.documents.get(offer)
            if document is not None:
                self._book.look(offer, with_line_feeds(document.snapshot.text))
        self._server.status_feed.changed()
        self._wake()

    def edited(self, document: OpenDocument, old: TextSnapshot) -> None:
        """A document was changed."""
        if self._book.follows(document.uri):
            self._book.edited(document.uri, with_line_feeds(old.text), with_line_feeds(document.snapshot.text))

    def closed(self, document: OpenDocument) -> None:
        """A document is closed."""
        if self._book.follows(document.uri):
            self._book.closed(document.uri, with_line_feeds(document.snapshot.text))

    def finish(self) -> None:
        """Write what is left; the server ends."""
        if self._timer is not None:
            self._timer.cancel()
        if self._server.settings.statistics.keep:
            store.add(store.statistics_path(), self._book.take(), seconds=LAST_LOCK_SECONDS)

    def _wake(self) -> None:
        if self._timer is None and not self._server.closed:
            due = self._book.due_in()
            seconds = self.flush_seconds if due is None else min(self.flush_seconds, due)
            self._timer = asyncio.get_running_loop().call_later(seconds, self._tick)

    def _tick(self) -> None:
        self._timer = None
        self._book.judge(self._text_of)
        if self._server.settings.statistics.keep:
            self._server.start_task(self._write())
        if self._book.due_in() is not None:
            self._wake()

    async def _write(self) -> None:
        counts = self._book.take()
        if counts and not await asyncio.to_thread(store.add, store.statistics_path(), counts):
            self._book.give_back(counts)

    def _text_of(self, uri: str) -> str | None:
        document = self._server.documents.get(uri)
        return with_line_feeds(document.snapshot.text) if document is not None else None
