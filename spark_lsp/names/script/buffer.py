"""The script that is being written, with the line of the cursor, which changes with every key, cut to its brackets."""

from __future__ import annotations

import re
from dataclasses import dataclass

from spark_lsp.names.script.closed import ClosedNames
from spark_lsp.names.script.lexical import without_strings
from spark_lsp.names.script.modules import ScriptFacts, ScriptLibrary, facts_of
from spark_lsp.names.script.pieces import Piece, PieceReader, Pieces

_MARK = "\x02"
"""Stands for the cursor, and is blanked where that is in a comment, a string or the text of a template."""
_NO_BRACKET = re.compile(r"[^()\[\]{}]")
_BRACE = re.compile(r"[{}]")


@dataclass(frozen=True, slots=True)
class Cut:
    """A text without its cursor's line."""

    above: str
    before: str
    """The brackets before the cursor on its line."""
    after: str
    below: str

    @staticmethod
    def at(text: str, cursor: int) -> Cut | None:
        """Cut a text with LF line ends; None if a comment or a template goes on beyond the line."""
        start = text.rfind("\n", 0, cursor) + 1
        end = text.find("\n", cursor)
        end = end if end != -1 else len(text)
        code, closed = without_strings(text[start:end])
        if not closed:
            return None
        size = cursor - start
        return Cut(text[:start], _NO_BRACKET.sub("", code[:size]), _NO_BRACKET.sub("", code[size:]), text[end:])


@dataclass(frozen=True, slots=True)
class ScriptBuffer:
    """What is known of a document at one line."""

    code: Pieces
    facts: ScriptFacts
    closed: ClosedNames
    """What it imports, and itself."""
    typed: bool
    """Whether it is TypeScript, in which nothing has a name that is not declared."""
    piece: Piece
    """That which the cursor is in."""
    line_start: int
    """Where the cursor's line begins in its piece."""
    in_code: bool
    """Whether the cursor is in code, and its piece can be relied on."""

    @staticmethod
    def read(cut: Cut, library: ScriptLibrary, reader: PieceReader, typed: bool) -> ScriptBuffer:
        """Return what is known of a document; `reader` has read it before."""
        before, after = cut.before, cut.after
        code = reader.read(f"{cut.above}{before}{_MARK}{after}{cut.below}")
        if not code.whole and _BRACE.search(before + after):  # those may be waiting for their partners
            other_before, other_after = _BRACE.sub("", before), _BRACE.sub("", after)
            other = reader.read(f"{cut.above}{other_before}{_MARK}{other_after}{cut.below}")
            if other.whole:
                code, before = other, other_before
        facts = facts_of(code)
        piece, offset = code.at(len(cut.above) + len(before))
        in_code = piece.code.startswith(_MARK, offset)
        return ScriptBuffer(
            code,
            facts,
            ClosedNames(library.with_buffer(facts)),
            typed,
            piece,
            offset - len(before),
            in_code,
        )
