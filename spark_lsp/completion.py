"""What the pipeline is asked and what it answers."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from spark_lsp.decoding.generate import Generation
from spark_lsp.documents.text import TextSnapshot
from spark_lsp.syntax.languages import Language


class Reason(str, Enum):
    """Why a completion is empty, or that it is not."""

    SHOWN = "shown"
    CACHED = "cached"
    NOTHING = "nothing-to-add"
    DUPLICATE = "duplicate-suffix"
    COLD = "cold"
    CANCELLED = "cancelled"
    SUPERSEDED = "superseded"
    LOADING = "loading"
    UNAVAILABLE = "unavailable"
    DISABLED = "disabled"
    EXCLUDED = "excluded"
    UNKNOWN_DOCUMENT = "unknown-document"
    TOO_LARGE = "too-large"
    BINARY = "binary"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class CompletionRequest:
    """One place in one version of one document."""

    document: str
    """A key for the document, its URI."""
    snapshot: TextSnapshot
    cursor: int
    """Offset in code points."""
    language: Language
    deadline: float | None = None
    """Value of `time.monotonic()` at which the generation ends with what it has, in seconds."""
    patient: bool = False
    """Whether the whole window is worth waiting for: nobody is typing, and there may be no idle time later."""


@dataclass(frozen=True, slots=True)
class Completion:
    """What to insert at the cursor, and how it came about."""

    text: str
    """LF line ends; empty if there is nothing to show."""
    reason: Reason
    generation: Generation | None = None
    seconds: float = 0.0
