"""How much to write at this place: the rest of the line, a statement or a block.

Mid-line the rest of the line; at a line's end and on an empty line a statement; after a line that opens a block, and
after a comment that announces code, a block.
"""

from __future__ import annotations

from spark_lsp.decoding.guard import SyntaxGuard
from spark_lsp.decoding.stopping import Extent, StopRule, columns
from spark_lsp.documents.text import TextSnapshot
from spark_lsp.postprocess.mid_line import CLOSING
from spark_lsp.postprocess.place import Place
from spark_lsp.syntax.blocks import ScopeKind, opens_block, scope_kind
from spark_lsp.syntax.languages import Language
from spark_lsp.syntax.parser import SyntaxTree


def choose_extent(snapshot: TextSnapshot, tree: SyntaxTree, cursor: int, place: Place, language: Language) -> Extent:
    """Return how much to write at `cursor`."""
    if any(character not in CLOSING for character in place.line_after):
        return Extent.LINE
    if scope_kind(tree, cursor) is ScopeKind.COMMENT:
        return Extent.LINE
    if place.line_before.strip():
        if place.line_after.strip():
            return Extent.LINE
        return Extent.BLOCK if opens_block(place.line_before, language) else Extent.STATEMENT
    above = _line_above(snapshot, cursor)
    if above is None:
        return Extent.STATEMENT
    text, start = above
    if opens_block(text, language):
        return Extent.BLOCK
    inside = start + len(text.rstrip())
    comment = scope_kind(tree, inside) is ScopeKind.COMMENT or _is_comment(text, language)
    return Extent.BLOCK if comment else Extent.STATEMENT


def stop_rule(
    extent: Extent,
    snapshot: TextSnapshot,
    tree: SyntaxTree,
    cursor: int,
    place: Place,
    max_lines: int,
) -> StopRule:
    """Return the rule that ends a suggestion of `extent` at `cursor`."""

    guard = SyntaxGuard(tree, cursor, place)
    indentation, paragraph = columns(place.line_before), None
    if extent is Extent.BLOCK and not place.line_before.strip():
        above = _line_above(snapshot, cursor)
        if above is not None and place.opens(above[0]):
            indentation = columns(above[0])
        else:  # a comment announces code at its own level: a shallower line ends it, or the end of the paragraph
            paragraph = indentation
            indentation -= 1
    below = next((line for line in place.lines_below if line.strip()), "")
    return StopRule(
        extent=extent,
        line_before=place.line_before,
        indentation=indentation,
        next_line=below.strip(),
        next_column=columns(below),
        max_lines=max_lines,
        paragraph=paragraph,
        opens_block=place.opens,
        completes=guard.completes,
        sound=guard.sound,
    )


def _line_above(snapshot: TextSnapshot, cursor: int) -> tuple[str, int] | None:
    """Return the next line above the cursor's that is not blank, and where it starts."""
    for line in range(snapshot.line_of(cursor) - 1, -1, -1):
        text = snapshot.line_text(line)
        if text.strip():
            return text, int(snapshot.line_starts[line])
    return None


def _is_comment(line: str, language: Language) -> bool:
    return bool(language.line_comment) and line.lstrip().startswith(language.line_comment or "")
