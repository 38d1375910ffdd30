"""A script in pieces that are read alone, so that an edit makes only the piece around it be read again.

A piece begins where a line does that begins a declaration or an import without indentation, and goes to the next one,
or further where a comment or a template does, or a decorator stands alone.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import accumulate

from spark_lsp.names.script.bodies import NAME
from spark_lsp.names.script.brackets import Brackets
from spark_lsp.names.script.exports import Links, links_of
from spark_lsp.names.script.lexical import without_strings
from spark_lsp.names.script.shapes import Shape, shapes_of

_BEGIN = re.compile(
    r"^(?:@|(?:export|import|class|abstract|interface|function|async|const|let|var|enum|type|declare|namespace)\b)",
    re.MULTILINE,
)
_PUT = re.compile(rf"\.\s*(#?{NAME})\s*(?:\?\?|\|\||&&)?=(?![=>])")
_DECORATORS = re.compile(r"\s*@")
_DECORATED = re.compile(r"(?<![\w$.#])(?:class|function|export)\b")
_MOCKING = "jest", "vi.", "sinon"
_MOCKED = re.compile(r"(?<![\w$])(?:jest|vi|sinon)\s*\.\s*\w*(?:[mM]ock|stub|spyOn)\w*\s*\(")


@dataclass(frozen=True, slots=True)
class Piece:
    """What is read of a piece. Offsets count from its beginning."""

    text: str
    code: str
    """The text without strings."""
    brackets: Brackets
    shapes: tuple[Shape, ...]
    links: Links
    put: frozenset[str]
    """Attributes that are assigned to, of whatever."""
    closed: bool
    """Whether it ends outside comments and templates, and not with a decorator."""
    mocked: bool
    """Whether tests put something else in place of modules or their parts."""

    @staticmethod
    def read(text: str) -> Piece:
        """Return what is read of a text, whatever stands around it."""
        code, closed = without_strings(text)
        brackets = Brackets.of(code)
        alone = _DECORATORS.match(code) is not None and _DECORATED.search(code) is None
        return Piece(
            text,
            code,
            brackets,
            shapes_of(brackets, text),
            links_of(brackets, text),
            frozenset(_PUT.findall(code)),
            closed and not alone,
            any(tool in code for tool in _MOCKING) and _MOCKED.search(code) is not None,
        )


@dataclass(frozen=True, slots=True)
class Pieces:
    """A whole text."""

    pieces: tuple[Piece, ...] = ()
    starts: tuple[int, ...] = ()
    """The offset of each."""

    @staticmethod
    def of(pieces: tuple[Piece, ...]) -> Pieces:
        """Return the text that these pieces make, one behind the other."""
        return Pieces(pieces, tuple(accumulate((len(piece.text) for piece in pieces), initial=0))[:-1])

    @property
    def whole(self) -> bool:
        """Whether every comment, template and brace is closed."""
        return all(piece.brackets.whole for piece in self.pieces) and all(piece.closed for piece in self.pieces[-1:])

    def at(self, offset: int) -> tuple[Piece, int]:
        """Return the piece that text put in at an offset belongs to, and the offset in it."""
        index = max(bisect_right(self.starts, offset) - 1, 0)
        return self.pieces[index], offset - self.starts[index]


@dataclass(frozen=True, slots=True)
class PieceReader:
    """Cuts texts, and remembers the pieces of the last one."""

    known: dict[str, Piece] = field(default_factory=dict)
    """By their texts."""

    @staticmethod
    def of(known: Mapping[str, Piece]) -> PieceReader:
        """Return a reader that knows the pieces of a similar text."""
        return PieceReader(dict(known))

    def read(self, text: str) -> Pieces:
        """Return the pieces of a text with LF line ends; those of the last one are not read again."""
        kept: dict[str, Piece] = {}
        cuts = [*sorted({0, *(found.start() for found in _BEGIN.finditer(text))}), len(text)]
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
        self.known.clear()
        self.known.update(kept)
        return Pieces.of(tuple(found or [Piece.read("")]))
