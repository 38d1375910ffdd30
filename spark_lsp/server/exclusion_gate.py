"""Whether open documents are private, found out on the disk in a thread before anything is done with them.

An excluded document is not completed, not prepared in idle time and not read as context; what an earlier server kept of
it on disk is removed.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from spark_lsp.context.exclusions import Exclusions, looks_secret
from spark_lsp.server.document_store import OpenDocument
from spark_lsp.server.paths import local_path

if TYPE_CHECKING:
    from spark_lsp.server.app import SparkServer


class ExclusionGate:
    """Answers for the event loop; `is_excluded` answers for threads that read files."""

    def __init__(self, server: SparkServer) -> None:
        self._server = server
        self._exclusions = Exclusions()
        self._checks: dict[str, asyncio.Task[None]] = {}
        """The latest check of each document, as long as it runs."""

    def configure(self, enabled: bool) -> None:
        """Exclude files, or none at all."""
        self._exclusions.enabled = enabled

    def is_excluded(self, path: Path) -> bool:
        """Whether a file is private; looks at the disk."""
        return self._exclusions.is_excluded(path)

    def check(self, document: OpenDocument) -> None:
        """Find out whether a document is private; `document.excluded` tells when that is known."""
        path = local_path(document.uri)
        if path is None:
            # On no disk, or not on ours: only the name says something.
            secret = looks_secret(unquote(document.uri).rpartition("/")[2])
            self._decide(document, self._exclusions.enabled and secret)
        elif not self._exclusions.enabled:
            self._decide(document, False)
        else:
            self._exclusions.use_roots(self._server.folders)
            task = asyncio.ensure_future(self._ask(document, path))
            self._checks[document.uri] = task
            self._server.keep_task(task)

    def saved(self, document: OpenDocument) -> None:
        """Look again at a document after a save; it may be another file now."""
        self.check(document)

    def rules_changed(self) -> None:
        """Read all rules again, and look at everything by them."""
        self._exclusions.refresh()
        self._server.events.new_rules()

    async def excluded(self, document: OpenDocument) -> bool:
        """Return whether a document is private, as soon as that is known."""
        while document.excluded is None:
            task = self._checks.get(document.uri)
            if task is None:
                return True  # closed meanwhile, or the check failed
            await asyncio.shield(task)
        return document.excluded

    async def _ask(self, document: OpenDocument, path: Path) -> None:
        try:
            excluded = await asyncio.to_thread(self._exclusions.is_excluded, path)
            latest = self._checks.get(document.uri) is asyncio.current_task()
            if latest and self._server.documents.get(document.uri) is document:
                self._decide(document, excluded)
        finally:
            if self._checks.get(document.uri) is asyncio.current_task():
                del self._checks[document.uri]

    def _decide(self, document: OpenDocument, excluded: bool) -> None:
        changed, document.excluded = document.excluded is not excluded, excluded
        if changed:
            self._server.events.exclusion_known(document)
