"""What pyflakes reports of a text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pyflakes import api


@dataclass(frozen=True, slots=True)
class Finding:
    """One diagnostic; the line counts from 0, the column in code points."""

    line: int
    column: int
    message: str


class _Reporter:
    """Takes what pyflakes would print."""

    def __init__(self) -> None:
        self.found: list[Finding] = []

    def unexpectedError(self, filename: str, message: str) -> None:
        raise RuntimeError(f"pyflakes could not read the text: {message}")

    def syntaxError(self, filename: str, message: str, line: int | None, column: int | None, text: Any) -> None:
        self.found.append(Finding((line or 1) - 1, max((column or 1) - 1, 0), message))

    def flake(self, message: Any) -> None:
        text = message.message % message.message_args
        self.found.append(Finding(message.lineno - 1, message.col, text))


def findings(text: str) -> list[Finding]:
    """Return the diagnostics of a Python text: undefined names first, since an unused one often follows from them."""
    reporter = _Reporter()
    api.check(text, "module.py", reporter)
    return sorted(reporter.found, key=lambda one: ("undefined" not in one.message, one.line, one.column))
