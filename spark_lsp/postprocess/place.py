"""The place that a suggestion goes to, as the rules see it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Place:
    """Text around the cursor, with LF line ends."""

    line_before: str
    """The cursor's line up to the cursor."""
    line_after: str
    """The cursor's line from the cursor on, without its line end."""
    lines_below: tuple[str, ...] = ()
    """Some lines below the cursor's line."""
