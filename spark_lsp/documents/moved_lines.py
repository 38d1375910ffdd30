"""Where lines stand after an edit, for what is kept by line."""

from __future__ import annotations

from collections.abc import Sequence

from spark_lsp.documents.shared import shared_end, shared_start
from spark_lsp.documents.text import TextSnapshot


def moved_lines(
    old: TextSnapshot, new: TextSnapshot, pieces: Sequence[tuple[int, int]]
) -> list[tuple[int, int] | None]:
    """Return where each piece of `old`, from its first to its last line, stands in `new`; None where it changed.

    What lies between the first and the last place that differ counts as changed.
    """
    before, after = old.text, new.text
    shared = shared_start(before, after)
    room = min(len(before), len(after))
    # From the line's start: an inserted line may begin like the one that it pushed down.
    room -= int(old.line_starts[old.line_of(min(shared, room))])
    tail = len(before) - shared_end(before, after, room)
    growth = len(after) - len(before)
    found: list[tuple[int, int] | None] = []
    for first, last in pieces:
        start, end = old.line_span(first)[0], old.line_span(last)[1]
        begin = start + growth
        if end <= shared and new.line_span(new.line_of(end))[1] == end:
            found.append((first, last))
        elif start >= tail and int(new.line_starts[new.line_of(begin)]) == begin:
            moved = new.line_of(begin)
            found.append((moved, moved + last - first))
        else:
            found.append(None)
    return found
