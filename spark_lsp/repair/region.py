"""Which lines are written anew for a fault: first the statement with its neighbours, then the block around it."""

from __future__ import annotations

from spark_lsp.documents.text import TextSnapshot
from spark_lsp.repair.fault import Fault
from spark_lsp.syntax.blocks import enclosing_block, indentation_block, statement_at
from spark_lsp.syntax.offsets import Span
from spark_lsp.syntax.parser import SyntaxTree

STATEMENT_LINES = 6
"""Of a longer statement, which is a compound one or a table, only the lines of the fault are written anew."""
BLOCK_LINES = 24
"""Of a longer block only so many lines around the fault are: a small model loses its way in more."""
LINE_CHARACTERS = 2000
"""A longer line is data; nobody would look through what a model makes of it."""
_ABOVE, _BELOW = 12, 3
_ABOVE_CHARACTERS, _BELOW_CHARACTERS = 600, 150
"""Of the text around the lines so much is shown, about 200 tokens: reading them is most of the time that it takes."""


def regions(snapshot: TextSnapshot, tree: SyntaxTree, fault: Fault) -> tuple[Span, ...]:
    """Return the lines to write anew, the smallest first, without the last line end; none where that makes no sense.

    A region begins and ends with a line that is probably right: it shows the model the indentation, and a fault is
    often reported on the line behind it.
    """
    first = snapshot.line_of(fault.start)
    last = max(first, snapshot.line_of(max(fault.start, fault.end - 1)))
    if last - first >= STATEMENT_LINES:
        last = first
    statement = statement_at(tree, _code_in_line(snapshot, fault.start))
    if statement is not None:
        begin, end = snapshot.line_of(statement.start), snapshot.line_of(statement.end)
        if begin <= first and last <= end and end - begin < STATEMENT_LINES:
            first, last = begin, end
    block = enclosing_block(tree, fault.start) or indentation_block(snapshot.text, fault.start)
    small = _with_neighbours(snapshot, first, last)
    large = (
        min(small[0], max(snapshot.line_of(block.start), first - BLOCK_LINES // 2)),
        max(small[1], min(snapshot.line_of(block.end), last + BLOCK_LINES // 2)),
    )
    chosen = [small] if small == large else [small, large]
    spans = (Span(snapshot.line_span(begin)[0], snapshot.line_span(end)[1]) for begin, end in chosen)
    return tuple(span for span in spans if _is_code(snapshot, span))


def surroundings(snapshot: TextSnapshot, region: Span) -> tuple[str, str]:
    """Return whole lines above and below a region, LF line ends, as much as a prompt has room for."""
    first, last = snapshot.line_of(region.start), snapshot.line_of(region.end)
    above = [snapshot.line_text(line) for line in range(max(0, first - _ABOVE), first)]
    below = [snapshot.line_text(line) for line in range(last + 1, min(snapshot.line_count, last + 1 + _BELOW))]
    while above and sum(map(len, above)) > _ABOVE_CHARACTERS:
        del above[0]
    while below and sum(map(len, below)) > _BELOW_CHARACTERS:
        del below[-1]
    return "".join(f"{line}\n" for line in above), "".join(f"{line}\n" for line in below)


def _with_neighbours(snapshot: TextSnapshot, first: int, last: int) -> tuple[int, int]:
    """Return the lines with the next one on each side, unless a blank line lies between."""
    if first > 0 and snapshot.line_text(first - 1).strip():
        first -= 1
    if last + 1 < snapshot.line_count and snapshot.line_text(last + 1).strip():
        last += 1
    return first, last


def _code_in_line(snapshot: TextSnapshot, offset: int) -> int:
    """Return the offset, moved to the first character of its line where it stands before that."""
    start, end = snapshot.line_span(snapshot.line_of(offset))
    line = snapshot.text[start:end]
    return max(offset, start + len(line) - len(line.lstrip()))


def _is_code(snapshot: TextSnapshot, span: Span) -> bool:
    text = snapshot.text[span.start : span.end]
    return bool(text.strip()) and max(map(len, text.splitlines())) <= LINE_CHARACTERS
