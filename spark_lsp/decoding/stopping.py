"""Where a suggestion ends: a token that is not needed is a token that is not decoded.

The rule looks at the text so far, after every step:

=================  ================================================================================
extent             ends
=================  ================================================================================
`LINE`             at the first line end (there is code to the right of the cursor)
`STATEMENT`        at the line end that completes the statement; a statement that opens a block takes it along
`BLOCK`            where the indentation falls back to that of the line that opened the block
=================  ================================================================================

All of them end at the text that follows the cursor, at repetition, at a second blank line and at the line limit.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

TAB_COLUMNS = 4
"""Only used to compare indentations, which a file writes in one way throughout."""
_CLOSERS = ")]}"
_REPEATED_LINES = 3
"""So many equal lines in a row are a loop, not code."""
_LOOP = re.compile(r"(\S.{0,23}?)\1{5,}$", re.DOTALL)
"""A short piece six times in a row at the end of the text; looked for in the last `_LOOP_WINDOW` characters."""
_LOOP_WINDOW = 160


class Extent(Enum):
    """How much to write."""

    LINE = "line"
    STATEMENT = "statement"
    BLOCK = "block"


class StopReason(str, Enum):
    """Why a generation ended."""

    END = "end-of-generation"
    LINE = "line-end"
    STATEMENT = "statement-end"
    BLOCK = "block-end"
    SUFFIX = "suffix-reached"
    REPETITION = "repetition"
    LINES = "line-limit"
    TOKENS = "token-limit"
    DEADLINE = "deadline"
    CONTEXT = "context-full"
    INVALID = "invalid-text"


@dataclass(frozen=True, slots=True)
class Stop:
    """End here, and keep the first `keep` characters."""

    reason: StopReason
    keep: int


@dataclass(frozen=True, slots=True)
class StopRule:
    """Everything the rule knows about the place of the cursor."""

    extent: Extent
    indentation: int
    """Columns before the first character of the line that the suggestion continues, or that opened its block."""
    line_before: str = ""
    """The cursor's line up to the cursor."""
    next_line: str = ""
    """The first line below the cursor that is not blank, stripped."""
    max_lines: int = 1000
    opens_block: Callable[[str], bool] = lambda line: False
    """Whether a line ends by opening a block."""
    completes: Callable[[str], bool] = lambda text: True
    """Whether a statement that ends with this text is complete."""

    def check(self, text: str) -> Stop | None:
        """Return where `text` has to end, or None if it may go on."""
        loop = _LOOP.search(text[-_LOOP_WINDOW:])
        if loop is not None and loop.group(1).strip(" \t-=#*/"):
            begin = len(text) - len(text[-_LOOP_WINDOW:]) + loop.start()
            return Stop(StopReason.REPETITION, begin + len(loop.group(1)))
        lines = text.split("\n")
        if self.extent is Extent.LINE:
            return Stop(StopReason.LINE, len(lines[0])) if len(lines) > 1 else None
        return self._check_lines(text, lines)

    def _check_lines(self, text: str, lines: list[str]) -> Stop | None:
        in_block = self.extent is Extent.BLOCK
        opener = self.indentation
        end_of_previous = end_of_code = len(lines[0])
        first = self.line_before + lines[0]
        if not in_block and len(lines) > 1 and lines[0].strip():
            if self.opens_block(first):
                in_block = True
            elif self.completes(lines[0]):
                return Stop(StopReason.STATEMENT, len(lines[0]))
        body_seen = in_block and bool(first.strip()) and not self.opens_block(first)
        blanks = 0
        for number, line in enumerate(lines[1:], start=1):
            end = end_of_previous + 1 + len(line)
            finished = number < len(lines) - 1
            stripped = line.strip()
            if not stripped:
                blanks += finished
                if blanks > 1:
                    return Stop(StopReason.BLOCK if in_block else StopReason.STATEMENT, end_of_code)
                end_of_previous = end
                continue
            if finished and stripped == self.next_line:
                return Stop(StopReason.SUFFIX, end_of_code)
            if number >= self.max_lines:
                return Stop(StopReason.LINES, end_of_code)
            if finished and self._repeats(lines, number):
                return Stop(StopReason.REPETITION, _end_of_line(lines, number - _REPEATED_LINES + 1))
            column = columns(line)
            if in_block and column <= opener and (body_seen or column < opener):
                if column == opener and stripped[0] in _CLOSERS and body_seen:
                    return Stop(StopReason.BLOCK, end) if finished else None
                return Stop(StopReason.BLOCK, end_of_code)
            if not in_block and column < opener:
                return Stop(StopReason.STATEMENT, end_of_code)
            if finished and not in_block:
                if self.opens_block(line):
                    in_block, opener = True, column
                elif self.completes(text[:end]):
                    return Stop(StopReason.STATEMENT, end)
            elif in_block:
                body_seen = True
            blanks = 0
            end_of_previous = end_of_code = end
        return None

    def _repeats(self, lines: list[str], number: int) -> bool:
        last = lines[number - _REPEATED_LINES + 1 : number + 1]
        return len(last) == _REPEATED_LINES and len({line.strip() for line in last}) == 1


def _end_of_line(lines: list[str], number: int) -> int:
    return sum(len(line) for line in lines[: number + 1]) + number


def columns(line: str) -> int:
    """Return the columns of leading white space, a tab counting up to the next multiple of `TAB_COLUMNS`."""
    expanded = line.expandtabs(TAB_COLUMNS)
    return len(expanded) - len(expanded.lstrip(" "))
