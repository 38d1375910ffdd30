"""The place that a suggestion goes to, as the rules see it."""

from __future__ import annotations

from dataclasses import dataclass

from spark_lsp.documents.text import TextSnapshot

_LINES_BELOW = 12
"""Lines under the cursor that the rules compare with."""


@dataclass(frozen=True, slots=True)
class Place:
    """Text around the cursor, with LF line ends."""

    line_before: str
    """The cursor's line up to the cursor."""
    line_after: str
    """The cursor's line from the cursor on, without its line end."""
    lines_below: tuple[str, ...] = ()
    """Some lines below the cursor's line."""

    @staticmethod
    def at(snapshot: TextSnapshot, cursor: int) -> Place:
        """Return the place at an offset of a document."""
        line = snapshot.line_of(cursor)
        start, end = snapshot.line_span(line)
        below = range(line + 1, min(line + 1 + _LINES_BELOW, snapshot.line_count))
        return Place(
            snapshot.text[start:cursor],
            snapshot.text[cursor : max(cursor, end)],
            tuple(snapshot.line_text(number) for number in below),
        )
