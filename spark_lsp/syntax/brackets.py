"""Which brackets are open at a place, and which of them the text behind it closes.

Brackets are counted by a small lexer, so those in strings and comments do not count, and it works on text that no
parser can read. The scan is kept short: it begins and ends at a line of code at the left margin.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

from spark_lsp.syntax.indentation import indent_of, line_end, line_start
from spark_lsp.syntax.languages import Language
from spark_lsp.syntax.lexical import Token, opening_of, tokens

CLOSER_OF = {"(": ")", "[": "]", "{": "}"}
OPENER_OF = {closer: opener for opener, closer in CLOSER_OF.items()}
_QUOTES = ("'", '"', "`")
SCAN_LIMIT = 16_384
"""Code points read in each direction: about 400 lines, more than a function has."""
_BRACKET = re.compile(r"'[()\[\]{}]'|[()\[\]{}]")
"""A bracket; one that is a character, as C has them, is matched with its quotes, so that it is no bracket."""
_AT_MARGIN = re.compile(r"(?!\w+:\s*(?:\n|$))[^\s()\[\]{}#*/'\"`<]")
"""What a line of code at the left margin begins with: no bracket, directive or comment, and no label, as C has them."""


_BRACES = frozenset({"rust", "zig", "perl", "r", "powershell", "tcl", "graphql", "prisma", "json", "gleam"})
"""Languages whose blocks, or whose only nesting, are braces although they have no ``/* */``."""


def braces_make_blocks(language: Language) -> bool:
    """Whether a block is what stands between braces, however it is indented."""
    c_like = language.block_comment == ("/*", "*/") and language.name != "sql"
    return c_like or language.name in _BRACES


@dataclass(frozen=True, slots=True)
class OpenBracket:
    """A bracket that is open at a place."""

    opener: str
    column: int
    """Indentation of its line."""


@dataclass(frozen=True, slots=True)
class NeededBracket:
    """What a closer after a place needs before it."""

    opener: str
    column: int | None
    """Indentation of the closer if it begins its line: it closes a bracket whose line is indented alike."""
    here: bool
    """Whether the closer stands on the line of the place."""


@dataclass(frozen=True, slots=True)
class Openness:
    """What is open at a place."""

    brackets: tuple[OpenBracket, ...] = ()
    """Outermost first."""
    needed: tuple[NeededBracket, ...] = ()
    """By the text after the place, nearest first."""
    quote: str = ""
    """What began the string or the comment that the place is in; empty in code."""
    quote_closed: bool = False
    """Whether the text after the place ends that string: its quote occurs there an odd number of times."""


def openness_at(text: str, offset: int, language: Language) -> Openness:
    """What is open at `offset`, as far as `SCAN_LIMIT` reaches."""
    begin = _scan_start(text, offset)
    before = text[begin:offset]
    found = list(tokens(before, language))
    quote = opening_of(before, found[-1], language) if found and not found[-1].closed else ""
    stack: list[OpenBracket] = []
    for position, bracket in _outside(before, found):
        if bracket in CLOSER_OF:
            stack.append(OpenBracket(bracket, indent_of(before[line_start(before, position) :])))
        else:
            take_closed(stack, NeededBracket(OPENER_OF[bracket], None, here=True))
    after = text[offset : _scan_end(text, offset)]
    own_column = indent_of(text[line_start(text, offset) : offset] + ".")
    opened: list[OpenBracket] = []
    needed: list[NeededBracket] = []
    closed = _is_closed(text, offset, quote)
    begins_in = quote if closed or quote[-1:] not in _QUOTES else ""  # else what is written ends the string
    for position, bracket in brackets_in(after, language, begins_in):
        newline = after.rfind("\n", 0, position)
        column = own_column if newline == -1 else indent_of(after[newline + 1 : position + 1])
        if bracket in CLOSER_OF:
            opened.append(OpenBracket(bracket, column))
            continue
        begins_line = newline != -1 and not after[newline:position].strip()
        need = NeededBracket(OPENER_OF[bracket], column if begins_line else None, here=newline == -1)
        if not take_closed(opened, need):
            needed.append(need)
    return Openness(tuple(stack), tuple(needed), quote, closed)


def take_closed(stack: list[OpenBracket], need: NeededBracket) -> bool:
    """Take off the stack what a closer closes, with what stands open inside it; False if it closes nothing.

    A closer that begins its line closes a bracket whose line is indented alike, if there is one: a block that is being
    written does not take the closer of the block around it.
    """
    matching = [index for index, one in enumerate(stack) if one.opener == need.opener]
    if not matching:
        return False
    alike = [index for index in matching if stack[index].column == need.column]
    del stack[(alike or matching)[-1] :]
    return True


def unmet(stack: list[OpenBracket], needed: tuple[NeededBracket, ...]) -> tuple[int, int]:
    """How many of the closers after a place close nothing if the brackets of `stack` are open there.

    First those on the line of the place, then all of them.
    """
    stack = stack.copy()
    missed = [need.here for need in needed if not take_closed(stack, need)]
    return sum(missed), len(missed)


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


def _is_closed(text: str, offset: int, quote: str) -> bool:
    if quote[-1:] not in _QUOTES:
        return False
    if quote == 'r#"':
        return '"#' in text[offset : offset + SCAN_LIMIT]
    if len(quote) > 1 or quote == "`":  # these span lines
        return text.count(quote, offset) % 2 == 1
    rest = text[offset : line_end(text, offset)]
    return len(re.sub(rf"\\.|[^{quote}\\]", "", rest)) % 2 == 1


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
