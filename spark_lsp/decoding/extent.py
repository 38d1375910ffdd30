"""How much to write at this place: the rest of the line, a statement or a block.

Mid-line the rest of the line; at a line's end and on an empty line a statement; after a line that opens a block, and
after a comment that announces code, a block.
"""

from __future__ import annotations

from spark_lsp.decoding.stopping import Extent, StopRule, columns
from spark_lsp.documents.text import TextSnapshot
from spark_lsp.postprocess.place import Place
from spark_lsp.syntax.blocks import ScopeKind, opens_block, scope_kind, statement_at
from spark_lsp.syntax.languages import Language
from spark_lsp.syntax.parser import SyntaxTree, reparse

_CLOSING = frozenset(")]}>\"'`,;: \t")
"""Characters to the right of the cursor that do not count as code: editors put most of them there themselves."""
_OPENERS, _CLOSERS = "([{", ")]}"


def choose_extent(snapshot: TextSnapshot, tree: SyntaxTree, cursor: int, place: Place, language: Language) -> Extent:
    """Return how much to write at `cursor`."""
    if any(character not in _CLOSING for character in place.line_after):
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
    language: Language,
    max_lines: int,
) -> StopRule:
    """Return the rule that ends a suggestion of `extent` at `cursor`."""

    def opens(line: str) -> bool:
        return opens_block(line, language)

    def completes(text: str) -> bool:
        return _completes(place.line_before + text, language) and _statement_ends(tree, cursor, text)

    indentation = columns(place.line_before)
    if extent is Extent.BLOCK and not place.line_before.strip():
        above = _line_above(snapshot, cursor)
        if above is not None and opens(above[0]):
            indentation = columns(above[0])
        else:  # a comment announces code at its own level: only a shallower line ends it
            indentation -= 1
    return StopRule(
        extent=extent,
        line_before=place.line_before,
        indentation=indentation,
        next_line=next((line.strip() for line in place.lines_below if line.strip()), ""),
        max_lines=max_lines,
        opens_block=opens,
        completes=completes,
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


def _completes(text: str, language: Language) -> bool:
    """Whether brackets are closed and the last line does not ask for another one."""
    depth = 0
    for character in text:
        depth += (character in _OPENERS) - (character in _CLOSERS)
    last = text.rstrip()
    return depth <= 0 and bool(last) and last[-1] not in ",\\" and not opens_block(last.rpartition("\n")[2], language)


def _statement_ends(tree: SyntaxTree, cursor: int, text: str) -> bool:
    """Whether the statement at the cursor does not go beyond the inserted text; true where there is no grammar."""
    if tree.root is None:
        return True
    before, after = tree.text[:cursor], tree.text[cursor:]
    inserted = text.rstrip()
    separator = "" if after.startswith(("\n", "\r")) else "\n"
    changed = reparse(tree, before + inserted + separator + after)
    first = len(inserted) - len(inserted.lstrip())
    statement = statement_at(changed, cursor + first)
    return statement is None or statement.end <= cursor + len(inserted) + 1
