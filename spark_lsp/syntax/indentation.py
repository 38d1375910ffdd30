"""Blocks found by indentation alone: the rule for text without a grammar and for places the parser could not read."""

from __future__ import annotations

from collections.abc import Iterator

from spark_lsp.syntax.offsets import Span

TAB_WIDTH = 8
"""Columns, as Python counts. It matters only where tabs and spaces are mixed."""

MAX_LINES = 400
"""Lines looked at in each direction; a longer block is cut there, so that a flat file costs a millisecond or two."""


def indent_of(line: str) -> int:
    """The columns of white space a line begins with."""
    return len(line[: len(line) - len(line.lstrip())].expandtabs(TAB_WIDTH))


def line_start(text: str, offset: int) -> int:
    """Where the line that holds `offset` begins."""
    if text[max(offset - 1, 0) : offset + 1] == "\r\n":
        offset -= 1  # between the two is still on the line they end
    after_feed = text.rfind("\n", 0, offset) + 1
    return max(text.rfind("\r", after_feed, offset) + 1, after_feed)


def line_end(text: str, offset: int) -> int:
    """Where the line that holds `offset` ends, before its terminator."""
    feed = text.find("\n", offset)
    end = feed if feed != -1 else len(text)
    carriage_return = text.find("\r", offset, end)  # looked for up to the line feed only: most texts have none at all
    return carriage_return if carriage_return != -1 else end


def text_end(text: str, offset: int) -> int:
    """Where the last text before `offset` ends, white space left out; 0 when there is none."""
    while offset:
        start = max(offset - 4096, 0)  # a piece at a time, so that a large text is not copied
        kept = text[start:offset].rstrip()
        if kept:
            return start + len(kept)
        offset = start
    return 0


def indentation_block(text: str, offset: int) -> Span:
    """The block around `offset`: whole lines, from the line that opens it to its last line.

    A block is the run of lines indented at least as far as the cursor's, with the shallower line above them and, when
    it only closes something, the line below. At the left margin it is the paragraph between two blank lines. On a
    blank line the cursor's own column counts; at the left margin such a line stands alone.
    """
    offset = min(max(offset, 0), len(text))
    start = line_start(text, offset)
    end = line_end(text, offset)
    here = text[start:end]
    depth = indent_of(here) if here.strip() else indent_of(text[start:offset] + ".")
    if depth == 0 and not here.strip():
        return Span(start, end)
    header_depth = None
    for above_start, above_end in _lines_above(text, start):
        above = text[above_start:above_end]
        if above.strip():
            start = above_start
            if indent_of(above) < depth:
                header_depth = indent_of(above)
                break
        elif depth == 0:
            break
    for below_start, below_end in _lines_below(text, end):
        below = text[below_start:below_end]
        if below.strip():
            if indent_of(below) >= depth:
                end = below_end
                continue
            closes = not any(character.isalnum() for character in below)  # a lone "}" or "])"
            if closes and indent_of(below) == header_depth:
                end = below_end
            break
        if depth == 0:
            break
    return Span(start, end)


def _lines_above(text: str, start: int) -> Iterator[tuple[int, int]]:
    """The lines before the one that begins at `start`, nearest first."""
    for _ in range(MAX_LINES):
        if start == 0:
            return
        end = start - 1
        if end and text[end] == "\n" and text[end - 1] == "\r":
            end -= 1
        start = line_start(text, end)
        yield start, end


def _lines_below(text: str, end: int) -> Iterator[tuple[int, int]]:
    """The lines after the one that ends at `end`, nearest first."""
    for _ in range(MAX_LINES):
        if end >= len(text):
            return
        start = end + (2 if text[end : end + 2] == "\r\n" else 1)
        end = line_end(text, start)
        yield start, end
