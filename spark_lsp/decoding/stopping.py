"""Where a suggestion ends: a token that is not needed is a token that is not decoded.

The rule looks at the text so far, after every step:

=================  ================================================================================
extent             ends
=================  ================================================================================
`LINE`             at the first line end (there is code to the right of the cursor)
`STATEMENT`        at the line end that completes the statement; a statement that opens a block takes it along
`BLOCK`            where the indentation falls back to that of the line that opened the block
=================  ================================================================================

All of them end at the text that follows the cursor, at repetition, at a second blank line, at the line limit, and where
whole lines have a syntax error that was not there. A block is at most one function: after a comment that announces code
it ends with the paragraph, and of a class that the suggestion begins it is the first method.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from spark_lsp.syntax.openers import closes_block

TAB_COLUMNS = 4
"""Only used to compare indentations, which a file writes in one way throughout."""
_REPEATED_LINES = 3
"""So many equal lines in a row are a loop, not code."""
_LOOP = re.compile(r"(\S.{0,23}?)\1{5,}$", re.DOTALL)
"""A short piece six times in a row at the end of the text; looked for in the last `_LOOP_WINDOW` characters."""
_LOOP_WINDOW = 160
_LOOP_LENGTH = 20
"""Characters of a loop in all: ``000000`` is a number."""
_UNSOUND_LINES = 2
"""Whole lines with a new error in a row that end a suggestion: a single one may be completed by the next."""
_TYPE = re.compile(
    r"\s*(?:(?:export|default|public|private|protected|abstract|final|static|sealed|data|pub|unsafe)\s+)*"
    r"(?:class|interface|trait|impl|struct|namespace|module|mod|object|extension)\b"
)
"""A line that begins a class or the like, whose members are blocks of their own."""
_GOES_ON = re.compile(r"\s*[)\]}]*\s*(?:else|elif|elsif|elseif|except|catch|rescue|ensure|finally)\b")
_TRY = re.compile(r"\s*try\b")
_WORD = re.compile(r"\w")


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
    SYNTAX = "syntax-error"
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
    next_column: int | None = None
    """Its indentation in columns, which a line of brackets only has to share; None asks for the same text only."""
    max_lines: int = 1000
    paragraph: int | None = None
    """After a blank line, a line that stands no deeper than this ends a block."""
    opens_block: Callable[[str], bool] = lambda line: False
    """Whether a line ends by opening a block."""
    completes: Callable[[str], bool] = lambda text: True
    """Whether a statement that ends with this text is complete."""
    sound: Callable[[str], bool] = lambda text: True
    """Whether a text of whole lines adds no syntax error, as far as can be told before the rest is there."""

    def check(self, text: str) -> Stop | None:
        """Return where `text` has to end, or None if it may go on."""
        loop = _LOOP.search(text[-_LOOP_WINDOW:])
        if loop is not None and loop.group(1).strip(" \t-=#*/") and len(loop.group()) >= _LOOP_LENGTH:
            begin = len(text) - len(text[-_LOOP_WINDOW:]) + loop.start()
            return Stop(StopReason.REPETITION, begin + len(loop.group(1)))
        lines = text.split("\n")
        if self.extent is Extent.LINE:
            return Stop(StopReason.LINE, len(lines[0])) if len(lines) > 1 else None
        return self._check_lines(text, lines)

    def _check_lines(self, text: str, lines: list[str]) -> Stop | None:
        in_block = self.extent is Extent.BLOCK
        opener, paragraph, goes_on = self.indentation, self.paragraph, bool(_TRY.match(self.line_before))
        end_of_previous = end_of_code = len(lines[0])
        first = self.line_before + lines[0]
        if not in_block and len(lines) > 1 and lines[0].strip():
            if self.opens_block(first):
                in_block = goes_on = True
            elif self.completes(lines[0]):
                return Stop(StopReason.STATEMENT, len(lines[0]))
        in_type = goes_on and bool(_TYPE.match(first))
        deeper = body_seen = in_block and bool(first.strip()) and not self.opens_block(first)
        blanks = unsound = 0
        last_sound = len(lines[0])
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
            column = columns(line)
            closes_own = goes_on and column == opener and closes_block(line)
            if finished and not closes_own and self._is_next(stripped, column):
                return Stop(StopReason.SUFFIX, end_of_code)
            if number >= self.max_lines:
                return Stop(StopReason.LINES, end_of_code)
            if finished and self._repeats(lines, number):
                return Stop(StopReason.REPETITION, _end_of_line(lines, number - _REPEATED_LINES + 1))
            if in_block and column <= opener and (body_seen or column < opener):
                if column == opener and body_seen and goes_on and _GOES_ON.match(line):
                    pass
                elif column == opener and closes_block(line) and body_seen:
                    return Stop(StopReason.BLOCK, end) if finished else None
                elif finished or not (goes_on and column == opener and _may_go_on(stripped)):
                    return Stop(StopReason.BLOCK, end_of_code)
                else:
                    return None
            if not in_block and column < opener:
                return Stop(StopReason.STATEMENT, end_of_code)
            if in_block and blanks and paragraph is not None and column <= paragraph and deeper:
                return Stop(StopReason.BLOCK, end_of_code)
            if finished and not in_block:
                if self.opens_block(line):
                    in_block, goes_on, opener, in_type = True, True, column, bool(_TYPE.match(line))
                elif self.completes(text[:end]):
                    return Stop(StopReason.STATEMENT, end)
            elif in_block:
                if in_type and not body_seen and column > opener:
                    paragraph = column
                deeper = deeper or not in_type or column > (paragraph or 0)
                body_seen = True
            if finished and in_block:
                if self.sound(text[:end]):
                    unsound, last_sound = 0, end
                else:
                    unsound += 1
                    if unsound == _UNSOUND_LINES:
                        return Stop(StopReason.SYNTAX, last_sound)
            blanks = 0
            end_of_previous = end_of_code = end
        return None

    def _is_next(self, stripped: str, column: int) -> bool:
        """Whether a line is the one below the cursor; one of brackets only has to be indented alike."""
        if stripped != self.next_line:
            return False
        return _WORD.search(stripped) is not None or self.next_column is None or column == self.next_column

    def _repeats(self, lines: list[str], number: int) -> bool:
        last = lines[number - _REPEATED_LINES + 1 : number + 1]
        return len(last) == _REPEATED_LINES and len({line.strip() for line in last}) == 1


def _may_go_on(begun: str) -> bool:
    """Whether an unfinished line may become one that goes on with the statement before it."""
    words = ("else", "elif", "elsif", "except", "catch", "rescue", "ensure", "finally")
    return any(word.startswith(begun) for word in words)


def _end_of_line(lines: list[str], number: int) -> int:
    return sum(len(line) for line in lines[: number + 1]) + number


def columns(line: str) -> int:
    """Return the columns of leading white space, a tab counting up to the next multiple of `TAB_COLUMNS`."""
    expanded = line.expandtabs(TAB_COLUMNS)
    return len(expanded) - len(expanded.lstrip(" "))
