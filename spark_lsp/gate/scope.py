"""Whether the cursor stands in a comment or in a string."""

from __future__ import annotations

from spark_lsp.postprocess import Place
from spark_lsp.syntax.indentation import line_start
from spark_lsp.syntax.lexical import ScopeKind, open_at_end, tokens
from spark_lsp.syntax.scopes import scope_kind

_DOCUMENTED = frozenset({"python", "starlark", "gdscript", "julia"})
"""Languages in which a string that stands alone documents what it stands in or above."""
_TRIPLE = frozenset({'"""', "'''"})
_PREFIXES = frozenset({"", "r", "u"})
"""What may stand before the quotes of a docstring."""


def scope_at(place: Place) -> ScopeKind:
    """Return what a character typed at the cursor becomes part of: code, a comment or a string.

    The tree decides; where there is none, the delimiters do, as far as `openness_at` looks back. The end of a line
    comment is in the comment. A docstring, that is a triple-quoted string that begins its line outside brackets, is a
    comment: it is prose for the reader.
    """
    kind = scope_kind(place.tree, place.cursor) if place.tree is not None else _by_delimiters(place)
    return ScopeKind.COMMENT if kind is ScopeKind.STRING and _is_docstring(place) else kind


def _by_delimiters(place: Place) -> ScopeKind:
    mark, line, language = place.openness.quote, place.line_before, place.language
    if not mark:
        return ScopeKind.CODE
    if mark == language.line_comment or (language.block_comment is not None and mark == language.block_comment[0]):
        return ScopeKind.COMMENT
    last = [None, *tokens(line, language)][-1]
    begins_here = last is not None and not last.closed
    in_interpolation = begins_here and open_at_end(line, language) is None
    return ScopeKind.CODE if in_interpolation else ScopeKind.STRING


def _is_docstring(place: Place) -> bool:
    quote = place.openness.quote
    if place.language.name not in _DOCUMENTED or quote not in _TRIPLE or place.openness.brackets:
        return False
    before = place.tree.text[: place.cursor] if place.tree is not None else _text_before(place)
    start = before.rfind(quote)
    return start != -1 and before[line_start(before, start) : start].strip().lower() in _PREFIXES


def _text_before(place: Place) -> str:
    return "\n".join([*place.lines_above, place.line_before])
