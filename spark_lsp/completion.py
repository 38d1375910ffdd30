"""What the pipeline is asked and what it answers."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from spark_lsp.decoding.generate import Generation
from spark_lsp.decoding.stopping import StopReason
from spark_lsp.documents.text import TextSnapshot
from spark_lsp.gate import AUTOMATIC, INVOKED, Scored, confident, doubted, line_probabilities, scope_at
from spark_lsp.postprocess import (
    Place,
    Rule,
    drop_broken_end,
    drop_lines_above,
    drop_lines_below,
    drop_rest_of_line,
    judge,
    whole_lines,
)
from spark_lsp.settings import CompletionSettings
from spark_lsp.syntax.languages import Language
from spark_lsp.syntax.lexical import ScopeKind


class Reason(str, Enum):
    """Why a completion is empty, or that it is not."""

    SHOWN = "shown"
    CACHED = "cached"
    OTHERS = "others"
    NOTHING = "nothing-to-add"
    DUPLICATE = "duplicate-suffix"
    REPETITION = "repetition"
    SYNTAX = "syntax-error"
    LOW_CONFIDENCE = "low-confidence"
    COMMENT = "comment"
    STRING = "string"
    DELETION = "deletion"
    COLD = "cold"
    CANCELLED = "cancelled"
    SUPERSEDED = "superseded"
    LOADING = "loading"
    UNAVAILABLE = "unavailable"
    DISABLED = "disabled"
    PAUSED = "paused"
    EXCLUDED = "excluded"
    UNKNOWN_DOCUMENT = "unknown-document"
    TOO_LARGE = "too-large"
    BINARY = "binary"
    FAILED = "failed"
    DONE = "done"
    """Of work that is no completion."""


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
    invoked: bool = False
    """Whether the user asked for it, rather than the editor."""
    beside: tuple[str, ...] = ()
    """Texts that are known for the place: others are wanted, for the user to choose from."""


@dataclass(frozen=True, slots=True)
class Completion:
    """What to insert at the cursor, and how it came about."""

    text: str
    """LF line ends; empty if there is nothing to show."""
    reason: Reason
    generation: Generation | None = None
    seconds: float = 0.0
    if_invoked: str = ""
    """What an invoked request at the place is shown, which may be more than an automatic one is."""
    ungated: str = ""
    """What post-processing left, however unsure the model was of it."""
    others: tuple[str, ...] = ()
    """The answer to a request that has texts already: other ones."""


_EMPTIED: dict[Rule, Reason] = {
    drop_rest_of_line: Reason.DUPLICATE,
    drop_lines_below: Reason.DUPLICATE,
    drop_lines_above: Reason.REPETITION,
    drop_broken_end: Reason.SYNTAX,
}
"""What it means that a rule left nothing; for the others there was nothing to add."""


def unwanted(place: Place, settings: CompletionSettings) -> Reason | None:
    """Return why a place gets no completion that nobody asked for; None where it may get one."""
    if settings.comments and settings.strings:
        return None
    scope = scope_at(place)
    if scope is ScopeKind.COMMENT and not settings.comments:
        return Reason.COMMENT
    return Reason.STRING if scope is ScopeKind.STRING and not settings.strings else None


def finished(
    generation: Generation, place: Place, seconds: float = 0.0, *, invoked: bool = False, gate: bool = True
) -> Completion:
    """Return what is shown of a generation, or why nothing is."""
    text = generation.text
    if generation.stop in (StopReason.DEADLINE, StopReason.TOKENS, StopReason.LINES):
        text = whole_lines(text)
    shown, emptied = judge(text, place)
    if shown:
        reason = Reason.SHOWN
    elif emptied is None or not generation.text.strip():
        reason = Reason.COLD if generation.stop is StopReason.DEADLINE else Reason.NOTHING
    else:
        reason = _EMPTIED.get(emptied, Reason.NOTHING)
    text = if_invoked = shown
    if shown and gate:
        written = Scored(generation.text, generation.probabilities, generation.ends)
        lines = line_probabilities(shown, doubted(written, generation.unknown_names))
        if_invoked = confident(shown, lines, place, INVOKED)
        text = if_invoked if invoked else confident(shown, lines, place, AUTOMATIC)
        reason = reason if text else Reason.LOW_CONFIDENCE
    return Completion(text, reason, generation, seconds, if_invoked, ungated=shown)
