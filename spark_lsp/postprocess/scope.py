"""Nothing past the end of the cursor's block, where indentation or a word ends blocks."""

from __future__ import annotations

from spark_lsp.postprocess.place import Place
from spark_lsp.syntax.brackets import CLOSER_OF, braces_make_blocks, brackets_in
from spark_lsp.syntax.indentation import indent_of
from spark_lsp.syntax.lexical import tokens
from spark_lsp.syntax.openers import closes_block


def limit_scope(text: str, place: Place) -> str:
    """Return `text` up to the first line that stands left of the cursor's block, a closing word of the block kept.

    Where braces make blocks, `balance_closers` does this. Lines inside brackets or strings may stand anywhere.
    """
    lines = text.split("\n")
    if len(lines) == 1 or place.openness.quote or braces_make_blocks(place.language):
        return text
    opener, floor = _borders(lines, place)
    inside = _continued_lines(text, place)
    for number, line in enumerate(lines[1:], start=1):
        column = indent_of(line)
        if column < floor and line.strip() and number not in inside:
            closes = opener is not None and column == opener and closes_block(line)
            return "\n".join(lines[: number + closes])
    return text


def _borders(lines: list[str], place: Place) -> tuple[int | None, int]:
    """The column of the line that opened the block, if that is the cursor's or the one above, and the least column."""
    before = place.line_before
    if before.strip():
        column = indent_of(before)
        return (column, column + 1) if place.opens(before) else (None, column)
    first = next((line for line in [before + lines[0], *lines[1:]] if line.strip()), "")
    above = place.line_above
    if above and place.opens(above) and indent_of(first) > indent_of(above):
        return indent_of(above), indent_of(above) + 1
    return None, indent_of(first)


def _continued_lines(text: str, place: Place) -> frozenset[int]:
    """The lines of `text` that begin inside brackets or inside a string."""
    depth = len(place.openness.brackets)
    changes = [(at, 1 if bracket in CLOSER_OF else -1) for at, bracket in brackets_in(text, place.language)]
    strings = [(token.start, token.end) for token in tokens(text, place.language)]
    inside, position, line = set(), 0, 0
    while (position := text.find("\n", position) + 1) > 0:
        line += 1
        now = depth + sum(change for at, change in changes if at < position)
        if now > 0 or any(start < position < end for start, end in strings):
            inside.add(line)
    return frozenset(inside)
