"""A Python text in pieces that are read alone, so that an edit makes only the piece around it be read again.

A piece begins where a line does that begins a definition, and goes to the next one, or further where a string or a
joined line does. What is read of a text does not depend on where it is cut.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate

from spark_lsp.names.lines import STRING_LINE, CodeLine, read_code, without_strings

_DEFINITIONS = {"def ": ("", "async"), "class ": ("",)}
"""What a piece begins with, and what may stand before it. Of such a line no bracket is open: it begins a statement."""
_MOST_INDENTED = 100
"""Characters before a definition on its line; keeps a very long line from being searched again and again."""
_ON_SELF = re.compile(r"self\.(\w+)"), re.compile(r"cls\.(\w+)")
_USED = re.compile(r"self\.(?!__)(\w+)"), re.compile(r"cls\.(?!__)(\w+)")
_BOUND = (
    re.compile(r"self\.(\w+)[ \t]*=(?!=)"),
    re.compile(r"cls\.(\w+)[ \t]*=(?!=)"),
    re.compile(r"^[ \t]*(?:self|cls)\.(\w+)[ \t]*:", re.MULTILINE),
    re.compile(r"\b(?:as|for)[ \t]+[(\[]?(?:self|cls)\.(\w+)"),
)
_BOUND_TOGETHER = re.compile(r"^[ \t]*[(\[]?(?:[\w.*]+[ \t]*,[ \t]*)+[\w.*]*[ \t]*[)\]]?[ \t]*=(?!=)", re.MULTILINE)
"""Several targets of one assignment."""
_PUT = re.compile(r"\.(\w+)[ \t]*(?::[^=\n]{1,80})?=(?!=)")
_MODULE_MADE_LATER = re.compile(
    r"\bglobals\(\)|\bsys\.modules\[\s*__name__\s*\]|\b_convert_\w*\(|[lL]azy_?(?:[mM]odule|[iI]mport|[lL]oad)"
)
"""Anywhere in a module: it may have names that no reader sees."""
_CLASS_MADE_LATER = re.compile(
    r"__(?:getattr\w*|setattr|dict|init_subclass)__|(?:setattr|vars|exec|locals)\(|(?:has|get)attr\(\s*(?:self|cls)\b"
)
"""In a class: its instances may have names that no reader sees."""
_MARKS = (
    "globals()",
    "__name__",
    "_convert_",
    "azy",
    "__getattr",
    "__setattr__",
    "__dict__",
    "__init_subclass__",
    "setattr(",
    "vars(",
    "exec(",
    "locals(",
    "hasattr(",
    "getattr(",
)
"""Where a text has none of these, none of the two above is in it; this is much faster to find out."""
_UNFINISHED = re.compile(r"NotImplementedError|abstractmethod")
_OLD_PYTHON = re.compile(r"print\s+[\"'\w]|except\s+[\w.]+\s*,\s*\w+\s*:")
_FUNCTION = re.compile(r"(?:async\s+)?def\s+\w")
_TELLING = ("import", "from", "global")
"""What the lines of a function begin with that matter outside of it."""
_OPENING = ("@", "async", "def", "class")


@dataclass(frozen=True, slots=True)
class Span:
    """Some whole lines, and what matters of them if they belong to a class."""

    text: str
    on_self: frozenset[str]
    """Every attribute of `self` and `cls`."""
    used: frozenset[str]
    """The same, outside strings and comments, without names such as `__dict__`."""
    bound: frozenset[str]
    """Those of them that are assigned to."""
    made_later: bool
    """Whether instances of the class may have names that no reader sees."""
    unfinished: bool
    """Whether something is left to classes made of it."""

    @staticmethod
    def read(text: str, masked: str) -> Span:
        """Return what matters of a text; `masked` is the same one without strings."""
        on_self = _on_self(_ON_SELF, text)
        used = _on_self(_USED, masked)
        bound = _on_self(_BOUND, masked) if used else frozenset()
        for targets in _BOUND_TOGETHER.findall(masked) if used else ():
            bound |= _on_self(_USED, targets)
        made_later = _is_marked(masked) and _CLASS_MADE_LATER.search(masked) is not None
        return Span(text, on_self, used, bound, made_later, _UNFINISHED.search(masked) is not None)


@dataclass(frozen=True, slots=True)
class Piece:
    """What is read of a piece. Line numbers count from its first line."""

    span: Span
    masked: str
    lines: tuple[CodeLine, ...]
    noted: tuple[CodeLine, ...]
    """Those that say something of the module or a class."""
    height: int
    """Lines that it has, the last one too if it does not end."""
    closed: bool
    """Whether it ends outside strings and joined lines; else it must be read with what follows."""
    whole: bool
    """Whether every bracket is closed, and every string."""
    made_later: bool
    """Whether the module may have names that no reader sees."""
    old: bool
    """Whether it is written for Python 2."""
    put: frozenset[str]
    """Attributes that are assigned to, of whatever."""

    @staticmethod
    def read(text: str) -> Piece:
        """Return what is read of a text, whatever stands around it."""
        masked, closed = without_strings(text)
        code = read_code(masked, closed)
        old = any(_OLD_PYTHON.match(line.text) for line in code.lines if line.text.startswith(("print", "except")))
        return Piece(
            Span.read(text, masked.replace(STRING_LINE, "\n")),
            masked,
            code.lines,
            _noted(code.lines),
            text.count("\n") + (text[-1:] != "\n"),
            closed and masked.rstrip()[-1:] != "\\" and not text.endswith("\\\n"),
            code.whole,
            _is_marked(masked) and _MODULE_MADE_LATER.search(masked) is not None,
            old,
            frozenset(_PUT.findall(masked)),
        )

    def part(self, first: int, end: int) -> Span:
        """Return some lines of it."""
        text = "\n".join(self.span.text.split("\n")[first:end])
        return Span.read(text, "\n".join(self.masked.replace(STRING_LINE, "\n").split("\n")[first:end]))


@dataclass(frozen=True, slots=True)
class Pieces:
    """A whole text."""

    pieces: tuple[Piece, ...] = ()
    starts: tuple[int, ...] = ()
    """The number of the first line of each."""
    whole: bool = True
    """Whether every string and every bracket is closed; else lines may be cut or joined wrongly."""

    @staticmethod
    def of(pieces: tuple[Piece, ...]) -> Pieces:
        """Return the text that these pieces make, one behind the other."""
        starts = accumulate((piece.height for piece in pieces), initial=0)
        return Pieces(pieces, tuple(starts)[:-1], all(piece.whole for piece in pieces))

    def spans(self, first: int, end: int) -> Iterator[Span]:
        """Yield what the lines from `first` to `end` are made of."""
        for index in range(max(bisect_right(self.starts, first) - 1, 0), len(self.pieces)):
            piece, start = self.pieces[index], self.starts[index]
            if start >= end:
                return
            inside = first <= start and start + piece.height <= end
            yield piece.span if inside else piece.part(max(first - start, 0), end - start)

    def mentioning(self, name: str) -> Iterator[str]:
        """Yield the logical lines that a name may stand in."""
        for piece in self.pieces:
            if name in piece.masked:
                yield from (line.text for line in piece.lines if name in line.text)

    def upwards(self, line: int) -> Iterator[CodeLine]:
        """Yield the logical lines that begin above a line, the lowest first."""
        for piece, start in zip(reversed(self.pieces), reversed(self.starts), strict=True):
            if start < line:
                for one in reversed(piece.lines):
                    if one.first + start < line:
                        yield CodeLine(one.text, one.column, one.first + start)


class PieceReader:
    """Cuts texts, and remembers the pieces of the last one."""

    def __init__(self, known: Mapping[str, Piece] | None = None) -> None:
        """Start with the pieces of a similar text."""
        self.known: Mapping[str, Piece] = known or {}
        """By their texts."""

    def read(self, text: str) -> Pieces:
        """Return the pieces of a text with LF line ends; those of the last one are not read again."""
        kept: dict[str, Piece] = {}
        cuts = [*_cuts(text), len(text)]
        found: list[Piece] = []
        at, last = 0, len(cuts) - 1
        while at < last:
            size = 1
            while True:
                end = min(at + size, last)
                held = text[cuts[at] : cuts[end]]
                piece = kept.get(held) or self.known.get(held) or Piece.read(held)
                kept[held] = piece
                if piece.closed or end == last:
                    break
                size *= 2
            found.append(piece)
            at = end
        self.known = kept
        return Pieces.of(tuple(found))


def _cuts(text: str) -> list[int]:
    """Return where pieces may begin; finding a word is much faster than any pattern for lines."""
    found = {0}
    for word, before in _DEFINITIONS.items():
        at = text.find(word)
        while at != -1:
            start = text.rfind("\n", max(at - _MOST_INDENTED, 0), at) + 1
            if start and text[start:at].strip(" \t") in before:
                found.add(start)
            at = text.find(word, at + 1)
    return sorted(found)


def _noted(lines: tuple[CodeLine, ...]) -> tuple[CodeLine, ...]:
    if not lines or not _FUNCTION.match(lines[0].text):
        return lines
    column = lines[0].column
    end = next((at for at in range(1, len(lines)) if lines[at].column <= column), len(lines))
    if any(line.text.startswith(_OPENING) for line in lines[1:end]):
        return lines
    return (lines[0], *(line for line in lines[1:end] if line.text.startswith(_TELLING)), *lines[end:])


def _on_self(patterns: Iterable[re.Pattern[str]], text: str) -> frozenset[str]:
    return frozenset(name for pattern in patterns for name in pattern.findall(text))


def _is_marked(masked: str) -> bool:
    return any(mark in masked for mark in _MARKS)
