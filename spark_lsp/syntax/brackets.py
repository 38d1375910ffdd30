"""Which brackets are open at a place, and which of them the text behind it closes.

Brackets are counted by a small lexer, so those in strings and comments do not count, and it works on text that no
parser can read. The scan is kept short: it begins and ends at a line of code at the left margin.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

from spark_lsp.syntax.indentation import indent_of, line_start
from spark_lsp.syntax.languages import Language
from spark_lsp.syntax.lexical import Token, opening_of, tokens

CLOSER_OF = {"(": ")", "[": "]", "{": "}"}
OPENER_OF = {closer: opener for opener, closer in CLOSER_OF.items()}
SCAN_LIMIT = 16_384
"""Code points read in each direction: about 400 lines, more than a function has."""
_BRACKET = re.compile(r"'[()\[\]{}]'|[()\[\]{}]")
"""A bracket; one that is a character, as C has them, is matched with its quotes, so that it is no bracket."""
_AT_MARGIN = re.compile(r"(?!\w+:\s*(?:\n|$))[^\s()\[\]{}#*'\"`<]")
"""What a line of code at the left margin begins with: no bracket, directive or comment, and no label, as C has them."""


_BRACES = frozenset({"rust", "zig", "perl", "r", "powershell", "tcl", "graphql", "prisma", "json", "gleam"})
"""Languages whose blocks, or whose only nesting, are braces although they have no ``/* */``."""


def braces_make_blocks(language: Language) -> bool:
    """Whether a block is what stands between braces, however it is indented."""
    c_like = language.block_comment == ("/*", "*/") and language.name != "sql"
    return c_like or language.name in _BRACES


@dataclass(frozen=True, slots=True)
class OpenBracket:
    """A bracket before the cursor that is still open there."""

    opener: str
    closer: int | None
    """Where the text after the cursor closes it, in code points from the cursor; None if nothing does."""


@dataclass(frozen=True, slots=True)
class Openness:
    """What is open at a place."""

    brackets: tuple[OpenBracket, ...] = ()
    """Outermost first."""
    quote: str = ""
    """What began the string or the comment that the place is in; empty in code."""


@dataclass(slots=True)
class _Open:
    opener: str
    column: int
    begins: int
    closer: int | None = None


def openness_at(text: str, offset: int, language: Language) -> Openness:
    """What is open at `offset`, as far as `SCAN_LIMIT` reaches.

    A closer that begins its line belongs to the bracket whose line is indented like it, so a block that is being
    written does not take the closer of the block around it.
    """
    begin = _scan_start(text, offset)
    before = text[begin:offset]
    found = list(tokens(before, language))
    quote = opening_of(before, found[-1], language) if found and not found[-1].closed else ""
    stack: list[_Open] = []
    for position, bracket in _outside(before, found):
        if bracket in CLOSER_OF:
            stack.append(_Open(bracket, indent_of(before[line_start(before, position) :]), begin + position))
        else:
            _close(stack, bracket)
    opened = tuple(stack)
    after = text[offset : _scan_end(text, offset)]
    for position, bracket in brackets_in(after, language, quote):
        if not stack:
            break
        if bracket in CLOSER_OF:
            stack.append(_Open(bracket, indent_of(after[line_start(after, position) :]), offset + position))
            continue
        newline = after.rfind("\n", 0, position)
        first = newline != -1 and not after[newline:position].strip()
        column = indent_of(after[newline + 1 : position + 1]) if first else None
        closed = _close(stack, bracket, column)
        if closed is not None:
            closed.closer = position
    return Openness(tuple(OpenBracket(one.opener, one.closer) for one in opened), quote)


def brackets_in(text: str, language: Language, quote: str = "") -> Iterator[tuple[int, str]]:
    """The brackets of a text and their offsets, without those in strings and comments.

    `quote` is what began the string or the comment that the text starts in.
    """
    shift = len(quote)
    for position, bracket in _outside(quote + text, tokens(quote + text, language)):
        if position >= shift:
            yield position - shift, bracket


def _outside(text: str, found: Iterable[Token]) -> Iterator[tuple[int, str]]:
    """The brackets of a text between the strings and comments that were found in it."""
    position = 0
    for start, end in chain(((token.start, token.end) for token in found), [(len(text), len(text))]):
        for match in _BRACKET.finditer(text, position, start):
            if match.end() == match.start() + 1:
                yield match.start(), match.group()
        position = end


def _close(stack: list[_Open], closer: str, column: int | None = None) -> _Open | None:
    """Take what `closer` closes off the stack, with what stands open inside it; None if it closes nothing."""
    wanted = OPENER_OF[closer]
    matching = [index for index, one in enumerate(stack) if one.opener == wanted]
    if not matching:
        return None
    index = matching[-1]
    if column is not None and stack[index].column != column:
        index = next((other for other in reversed(matching) if stack[other].column == column), index)
    closed = stack[index]
    del stack[index:]
    return closed


def _scan_start(text: str, offset: int) -> int:
    low = line_start(text, max(offset - SCAN_LIMIT, 0))
    at = line_start(text, offset)
    while at > low:
        at = line_start(text, at - 1)
        if _AT_MARGIN.match(text, at):
            return at
    return low


def _scan_end(text: str, offset: int) -> int:
    high = min(len(text), offset + SCAN_LIMIT)
    newline = text.find("\n", offset, high)
    while newline != -1:
        if _AT_MARGIN.match(text, newline + 1):
            return newline
        newline = text.find("\n", newline + 1, high)
    return high
