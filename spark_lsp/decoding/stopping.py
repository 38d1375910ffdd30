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
from typing import Protocol

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


class Ending(Protocol):
    """Anything that knows where a text ends."""

    def check(self, text: str) -> Stop | None:
        """Return where `text` has to end, or None if it may go on."""


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
        walk = _Walk(self, lines)
        stop = walk.first_line()
        end = len(lines[0])
        for number in range(1, len(lines)):
            if stop is not None:
                return stop
            end += 1 + len(lines[number])
            stop = walk.line(number, text[:end])
            if walk.undecided:
                return None
        return stop

    def is_next(self, stripped: str, column: int) -> bool:
        """Whether a line is the one below the cursor; one of brackets only has to be indented alike."""
        if stripped != self.next_line:
            return False
        return _WORD.search(stripped) is not None or self.next_column is None or column == self.next_column


class _Walk:
    """One way through the lines of a text, and what is known after each."""

    def __init__(self, rule: StopRule, lines: list[str]) -> None:
        self.rule = rule
        self.lines = lines
        self.undecided = False
        """Whether it takes the rest of the last line to know."""
        self.in_block = rule.extent is Extent.BLOCK
        self.opener = rule.indentation
        self.own = False
        """Whether the suggestion opened the block itself, or a ``try`` did: the other clauses belong to it."""
        self.in_type = False
        self.paragraph = rule.paragraph
        self.body_seen = False
        self.deeper = False
        self.blanks = self.unsound = 0
        self.end_of_code = self.last_sound = len(lines[0])

    def first_line(self) -> Stop | None:
        """Take in the line of the cursor."""
        rule, begun = self.rule, self.lines[0]
        line = rule.line_before + begun
        self.own = self.in_block and bool(_TRY.match(rule.line_before))
        if not self.in_block and len(self.lines) > 1 and begun.strip():
            if rule.opens_block(line):
                self._open(line, self.opener)
            elif rule.completes(begun):
                return Stop(StopReason.STATEMENT, len(begun))
        self.deeper = self.body_seen = self.in_block and bool(line.strip()) and not rule.opens_block(line)
        return None

    def line(self, number: int, text: str) -> Stop | None:
        """Take in a line further down; `text` ends with it."""
        line = self.lines[number]
        finished = number < len(self.lines) - 1
        if not line.strip():
            self.blanks += finished
            return Stop(self._ended(), self.end_of_code) if self.blanks > 1 else None
        column = columns(line)
        stop = self._repetition(number, line, column, finished) or self._scope_end(line, column, finished, len(text))
        if stop is not None or self.undecided:
            return stop
        if self.in_block:
            self._enter(column)
        elif finished and self.rule.opens_block(line):
            self._open(line, column)
        elif finished and self.rule.completes(text):
            return Stop(StopReason.STATEMENT, len(text))
        if finished and self.in_block:
            stop = self._new_error(text)
        self.blanks = 0
        self.end_of_code = len(text)
        return stop

    def _ended(self) -> StopReason:
        return StopReason.BLOCK if self.in_block else StopReason.STATEMENT

    def _open(self, line: str, column: int) -> None:
        self.in_block = self.own = True
        self.opener = column
        self.in_type = bool(_TYPE.match(line))

    def _enter(self, column: int) -> None:
        """Take in a line of the block."""
        if self.in_type and not self.body_seen and column > self.opener:
            self.paragraph = column  # of the members: the first one that has a body ends with it
        self.deeper = self.deeper or not self.in_type or column > (self.paragraph or 0)
        self.body_seen = True

    def _repetition(self, number: int, line: str, column: int, finished: bool) -> Stop | None:
        closes_own = self.own and column == self.opener and closes_block(line)
        if finished and not closes_own and self.rule.is_next(line.strip(), column):
            return Stop(StopReason.SUFFIX, self.end_of_code)
        if number >= self.rule.max_lines:
            return Stop(StopReason.LINES, self.end_of_code)
        last = self.lines[number - _REPEATED_LINES + 1 : number + 1]
        if finished and len(last) == _REPEATED_LINES and len({one.strip() for one in last}) == 1:
            return Stop(StopReason.REPETITION, _end_of_line(self.lines, number - _REPEATED_LINES + 1))
        return None

    def _scope_end(self, line: str, column: int, finished: bool, end: int) -> Stop | None:
        """Return where the text ends if a line is outside the statement or the block, or closes the block."""
        if not self.in_block:
            return Stop(StopReason.STATEMENT, self.end_of_code) if column < self.opener else None
        ends_paragraph = self.blanks and self.paragraph is not None and column <= self.paragraph and self.deeper
        if column > self.opener or (column == self.opener and not self.body_seen):
            return Stop(StopReason.BLOCK, self.end_of_code) if ends_paragraph else None
        if column == self.opener and self.own and _GOES_ON.match(line):
            return None
        if column == self.opener and closes_block(line):
            self.undecided = not finished
            return Stop(StopReason.BLOCK, end) if finished else None
        self.undecided = self.own and column == self.opener and not finished and _may_go_on(line.strip())
        return None if self.undecided else Stop(StopReason.BLOCK, self.end_of_code)

    def _new_error(self, text: str) -> Stop | None:
        if self.rule.sound(text):
            self.unsound, self.last_sound = 0, len(text)
            return None
        self.unsound += 1
        return Stop(StopReason.SYNTAX, self.last_sound) if self.unsound == _UNSOUND_LINES else None


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
