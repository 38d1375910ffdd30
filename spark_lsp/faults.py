"""Unexpected failures in the log: the first of a kind in full, since the next keystroke may well repeat it."""

from __future__ import annotations

import logging


class FaultLog:
    """Belongs to one thread."""

    def __init__(self, log: logging.Logger) -> None:
        self._log = log
        self._seen: set[str] = set()

    def add(self, error: Exception) -> None:
        """Log a failure of the engine."""
        kind = f"{type(error).__name__}: {error}"
        self._log.error("The engine failed: %s", kind, exc_info=None if kind in self._seen else error)
        self._seen.add(kind)
