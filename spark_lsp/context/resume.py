"""Taking up a document where an earlier server left it: its sequence and its window, from disk and to disk.

The window comes back with the sequence, since the prompt depends on where the anchor stood. Both are treated as if the
server had never ended: the window is kept as far as the text still agrees with it, and the longest common prefix
decides what of the sequence is reused.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterable

from spark_lsp.context.extras import extras_from_note
from spark_lsp.context.session import SLOTS, DocumentSession, Saved
from spark_lsp.context.window import CompletionContext
from spark_lsp.decoding.kv_cache import KVCache
from spark_lsp.decoding.prefix import common_prefix
from spark_lsp.decoding.snapshots import SnapshotStore
from spark_lsp.errors import CancelledError

LEAST_TOKENS = 64
"""A shorter sequence is not worth a file: it is computed in one slice."""
MIN_SECONDS = 60.0
"""Time between two saves of a document while it is edited, and before the first: a save writes some 10 MB."""
LEAVE_SECONDS = 0.4
"""No save is begun later than this after the server was told to end, which it has to do within a second."""


class Resumption:
    """Saves and restores the sequences of documents. Belongs to the engine's thread."""

    def __init__(
        self, cache: KVCache, store: SnapshotStore | None, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Use `store`; without one nothing is saved or restored."""
        self._cache = cache
        self._store = store
        self._clock = clock
        self.enabled = True

    def resume(self, uri: str, document: DocumentSession) -> bool:
        """Restore the sequence of a document that has none, and its window if it has none; False if that was not done.

        It takes as long as reading and checking a file of some 10 MB, less than 0.1 s on two cores.
        """
        if document.saved is None:
            document.saved = Saved((), self._clock())
        if self._store is None or not self.enabled or any(self._cache.tokens((uri, slot)) for slot in range(SLOTS)):
            return False
        snapshot = self._store.find(uri)
        if snapshot is None:
            return False
        try:
            window = CompletionContext(**{**snapshot.note, "extras": extras_from_note(snapshot.note["extras"])})
        except (TypeError, KeyError, ValueError):  # written by a version with other fields
            return False
        if not self._cache.restore((uri, document.slot), snapshot.state, snapshot.tokens):
            self._store.discard(uri)
            return False
        if document.windows[document.slot] is None:
            document.adopt(window)
        document.saved = Saved(snapshot.tokens, self._clock())
        return True

    def save_due(
        self, documents: Iterable[tuple[str, DocumentSession]], interrupted: Callable[[], bool] = lambda: False
    ) -> bool:
        """Save one document if its time has come and what its prompts begin with is not on disk; False if none is due.

        Raises CancelledError as soon as `interrupted()` is true; nothing is half-written then.
        """

        def check() -> None:
            if interrupted():
                raise CancelledError

        now = self._clock()
        return any(
            document.saved is not None
            and now - document.saved.at >= MIN_SECONDS
            and common_prefix(document.saved.tokens, document.written)
            < document.frozen
            <= common_prefix(self._tokens(uri, document), document.written)
            and self._save(uri, document, check)
            for uri, document in documents
        )

    def leave(self, uri: str, document: DocumentSession) -> None:
        """Save a document that is closed, if the disk has not the same already."""
        if document.saved is None or document.saved.tokens != self._tokens(uri, document):
            self._save(uri, document, lambda: None)

    def discard(self, uri: str) -> None:
        """Remove what is kept of a document."""
        if self._store is not None:
            self._store.discard(uri)

    def leave_all(self, documents: Iterable[tuple[str, DocumentSession]]) -> None:
        """Save documents in the order given until `LEAVE_SECONDS` are over."""
        until = self._clock() + LEAVE_SECONDS
        for uri, document in documents:
            if self._clock() < until:
                self.leave(uri, document)

    def _tokens(self, uri: str, document: DocumentSession) -> tuple[int, ...]:
        return self._cache.tokens((uri, document.slot))

    def _save(self, uri: str, document: DocumentSession, check: Callable[[], None]) -> bool:
        """Save a document; False if it is not worth it.

        A failure of the disk counts as done: to try again at once would fail again.
        """
        tokens, window = self._tokens(uri, document), document.windows[document.slot]
        if self._store is None or not self.enabled or window is None or len(tokens) < LEAST_TOKENS:
            return False
        check()
        state = self._cache.state((uri, document.slot))
        if state is None:
            return False
        self._store.keep(uri, tokens, dataclasses.asdict(window), state, check)
        document.saved = Saved(tokens, self._clock())
        return True
