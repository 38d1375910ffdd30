"""Python code as logical lines, found without a tree: a buffer is full of errors while one writes in it."""

from __future__ import annotations

import re
from dataclasses import dataclass

TAB_COLUMNS = 8
"""As Python counts them."""
_QUOTED = re.compile(
    r'"""[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*"""'
    r"|'''[^'\\]*(?:(?:\\.|'(?!''))[^'\\]*)*'''"
    r'|(?P<unclosed>"""|\'\'\')'
    r'|"[^"\\\n]*(?:\\.[^"\\\n]*)*"?'
    r"|'[^'\\\n]*(?:\\.[^'\\\n]*)*'?"
    r"|#[^\n]*",
    re.DOTALL,
)
STRING_LINE = "\x01"
"""Stands for a line end within a string."""
_BRACKET = re.compile(r"[()\[\]{}]")
_UNCLOSED = '"\0"'
"""Stands for the quotes of a string that is not closed; no code has a NUL."""
_STATEMENT = re.compile(r"\s*(?:def|class|async\s+def|return|raise|import|while|with|try|pass|break|continue|global)\b")
"""What begins a statement and can begin no line within brackets."""


@dataclass(frozen=True, slots=True)
class CodeLine:
    """A statement with its continuation lines, or the head of one that has a block."""

    text: str
    """Without indentation and comments, strings emptied."""
    column: int
    first: int
    """Number of its first physical line, from 0."""


@dataclass(frozen=True, slots=True)
class Code:
    """A text as logical lines."""

    lines: tuple[CodeLine, ...]
    whole: bool
    """Whether every string and every bracket is closed; else lines may be cut or joined wrongly."""


def without_strings(text: str) -> tuple[str, bool]:
    """Return Python code of the same length with comments and the insides of strings blanked, line ends included.

    The flag is False if a string of several lines is not closed; the text then ends, blanked, with it.
    """
    masked = _QUOTED.sub(_blank, text)
    unclosed = masked.find(_UNCLOSED)
    if unclosed == -1:
        return masked, True
    masked = _QUOTED.sub(_blank, text[:unclosed])
    return masked + " " * (len(text) - len(masked)), False


def _blank(match: re.Match[str]) -> str:
    found = match[0]
    size, quote = len(found), found[0]
    if quote == "#" or size < 2:
        return " " * size
    if "\n" in found:
        # One that is not closed may end with a joined line.
        end = STRING_LINE if found[-1] == "\n" else quote
        return quote + re.sub(r"[^\n]", " ", found[1:-1]).replace("\n", STRING_LINE) + end
    return _UNCLOSED if match.lastgroup is not None else quote + " " * (size - 2) + quote


def read_code(masked: str, whole: bool = True) -> Code:
    """Return the logical lines of what `without_strings` gave."""
    found: list[CodeLine] = []
    parts: list[str] = []
    depth = column = first = 0
    within_strings = 0
    for number, line in enumerate(masked.split("\n")):
        bare = line.strip()
        number += within_strings
        if STRING_LINE in line:
            within_strings += line.count(STRING_LINE)
        if not bare:
            continue
        if depth > 0 and _STATEMENT.match(line):
            depth, whole = 0, False
            found.append(CodeLine(" ".join(parts), column, first))
            parts = []
        if not parts:
            head = line[: len(line) - len(line.lstrip())]
            column, first = len(head.expandtabs(TAB_COLUMNS)) if "\t" in head else len(head), number
        goes_on = bare[-1] == "\\"
        joined = bare[:-1].rstrip() if goes_on else bare
        if joined:
            parts.append(joined)
        if _BRACKET.search(bare) is not None:
            depth += bare.count("(") + bare.count("[") + bare.count("{")
            depth -= bare.count(")") + bare.count("]") + bare.count("}")
        if depth < 0:
            depth, whole = 0, False
        if depth == 0 and not goes_on and parts:
            found.append(CodeLine(" ".join(parts) if len(parts) > 1 else parts[0], column, first))
            parts = []
    if parts:
        found.append(CodeLine(" ".join(parts), column, first))
    return Code(tuple(found), whole and depth == 0)
