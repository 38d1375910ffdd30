"""What the plugin sends of the file around the cursor. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

PREFIX_LINES = 256
SUFFIX_LINES = 64
_BLANKS = " \t"


@dataclass(frozen=True, slots=True)
class Window:
    """The text around a place, as the server gets it."""

    prefix: str
    """Whole lines above."""
    middle: str
    """The part of the line before the cursor; the server puts it behind the prefix."""
    suffix: str
    indent: int
    """Blanks that the line begins with; a line with fewer ends the answer."""
    right: str
    """The part of the line behind the cursor."""


def window(lines: Sequence[str], row: int, column: int) -> Window:
    """Return the window at a place; rows and columns count from 0. A blank line is seen as an empty one."""
    line = lines[row]
    middle, right, indent = line[:column], line[column:], len(line) - len(line.lstrip(_BLANKS))
    if not line.strip(_BLANKS):
        middle, right, indent = "", "", 0
    above = lines[max(0, row - PREFIX_LINES) : row]
    return Window(_joined(above), middle, _suffix(right, lines, row), indent, right)


def window_after(lines: Sequence[str], row: int, content: Sequence[str], indent: int) -> Window:
    """Return the window behind the shown lines `content`, as if they had been accepted; `indent` is the last one's."""
    if len(content) == 1:
        middle, above = lines[row] + content[0], list(lines[max(0, row - PREFIX_LINES) : row])
    else:
        middle = content[-1]
        above = list(lines[max(0, row - PREFIX_LINES + len(content) - 1) : row])
        above += [lines[row] + content[0], *content[1:-1]]
    return Window(_joined(above), middle, _suffix("", lines, row), indent, "")


def _joined(lines: Sequence[str]) -> str:
    return "\n".join(lines) + "\n"


def _suffix(right: str, lines: Sequence[str], row: int) -> str:
    return f"{right}\n" + _joined(lines[row + 1 : row + 1 + SUFFIX_LINES])
