"""What other servers find wrong in a document, and what of it the model is shown.

A diagnostic belongs to lines. It moves with them, and goes when one of them changes: it was about another text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import IntEnum

from spark_lsp.context.extras import Chunk, comment_marks, within_comment
from spark_lsp.documents.moved_lines import moved_lines
from spark_lsp.documents.text import TextSnapshot
from spark_lsp.syntax.blocks import enclosing_block, indentation_block
from spark_lsp.syntax.parser import SyntaxTree

MOST_KEPT = 100
"""Of a document; the severest ones are kept."""
DIAGNOSTICS_CHARACTERS = 480
"""What they take of a prompt at most, about 150 tokens: a few are read, a list of them only distracts."""
DIAGNOSTICS_SHARE = 4
"""They take at most the fourth part of what stands before the window."""
NEAR_LINES = 3
"""So many lines above and below the cursor's block are near enough."""
BLOCK_LINES = 30
"""Of a longer block only so many lines on either side of the cursor count."""
MESSAGE_CHARACTERS = 160
"""Type checkers explain at length; the reason comes first."""
LINE_CHARACTERS = 100


class Severity(IntEnum):
    """As the protocol numbers them."""

    ERROR = 1
    WARNING = 2
    INFORMATION = 3
    HINT = 4


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding. Lines count from 0."""

    line: int
    last_line: int
    code: str
    """The text of the first line, without indentation."""
    message: str
    """On one line."""
    severity: Severity = Severity.ERROR


def diagnostic_at(
    snapshot: TextSnapshot, line: int, last_line: int, message: str, severity: Severity = Severity.ERROR
) -> Diagnostic | None:
    """Return a diagnostic of lines in `snapshot`, its message shortened; None without such a line or a message."""
    message = " ".join(message.split())[:MESSAGE_CHARACTERS].rstrip()
    if not 0 <= line <= last_line or line >= snapshot.line_count or not message:
        return None
    code = snapshot.line_text(line).strip()[:LINE_CHARACTERS]
    return Diagnostic(line, min(last_line, snapshot.line_count - 1), code, message, severity)


def merged(
    known: Sequence[Diagnostic], found: Sequence[Diagnostic], lines: range | None = None
) -> tuple[Diagnostic, ...]:
    """Return `found` in place of what is `known` of `lines`, or of the whole document; at most `MOST_KEPT`."""
    kept = [one for one in known if lines is not None and (one.last_line < lines.start or one.line >= lines.stop)]
    chosen = sorted({*kept, *found}, key=lambda one: (one.severity, one.line, one.message))[:MOST_KEPT]
    return tuple(sorted(chosen, key=lambda one: (one.line, one.severity, one.message)))


def relocated(known: Sequence[Diagnostic], old: TextSnapshot, new: TextSnapshot) -> tuple[Diagnostic, ...]:
    """Return the diagnostics of `old` where they stand in `new`, without those whose lines changed."""
    if not known:
        return ()
    places = moved_lines(old, new, [(one.line, one.last_line) for one in known])
    return tuple(
        replace(one, line=place[0], last_line=place[1])
        for one, place in zip(known, places, strict=True)
        if place is not None
    )


def diagnostics_room(characters: int) -> int:
    """Return how many of the characters in front of a window are kept free for diagnostics.

    It does not depend on what there is, so that diagnostics come and go without another choice of everything else.
    """
    return min(DIAGNOSTICS_CHARACTERS, characters // DIAGNOSTICS_SHARE)


def choose_diagnostics(
    name: str, known: Sequence[Diagnostic], snapshot: TextSnapshot, tree: SyntaxTree, cursor: int, characters: int
) -> list[Chunk]:
    """Return a comment on the errors and warnings in `snapshot` near the cursor's block, if there are any.

    Errors come first, then they stand in the order of the document, each once, as many as fit `characters`. Those that
    begin on the cursor's line are left out: code that is being written is wrong until it is complete.
    """
    if not known:
        return []
    here = snapshot.line_of(cursor)
    block = enclosing_block(tree, cursor) or indentation_block(tree.text, cursor)
    first = max(snapshot.line_of(block.start), here - BLOCK_LINES) - NEAR_LINES
    last = min(snapshot.line_of(block.end), here + BLOCK_LINES) + NEAR_LINES
    near = [
        one
        for one in sorted(known, key=lambda one: (one.severity, one.line))
        if one.severity <= Severity.WARNING and one.line <= last and one.last_line >= first and one.line != here
    ]
    before, after = comment_marks(tree.language)
    lines: list[str] = []
    chosen: list[Chunk] = []
    for text in dict.fromkeys(f"{one.code}  {one.severity.name.lower()}: {one.message}" for one in near):
        line = f"{before}{within_comment(text, after)}{after}"
        longer = Chunk(name, "\n".join([*lines, line]), is_comment=True)
        if longer.characters <= characters:
            lines.append(line)
            chosen = [longer]
    return chosen
