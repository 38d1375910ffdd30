"""Syntax trees: parsed anew, parsed again after an edit, or parsed little by little.

Parsing never fails. A document without a grammar, a text over `MAX_LENGTH` and a text on which the parser loses itself
give a tree whose root is None, and the rules by indentation apply.
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from spark_lsp.documents.shared import shared_end, shared_start
from spark_lsp.syntax.grammars import grammar, pausing_parser
from spark_lsp.syntax.languages import Language
from spark_lsp.syntax.offsets import EncodedText, Span

if TYPE_CHECKING:
    from tree_sitter import Node, Parser, Tree

MAX_LENGTH = 4_000_000
"""Code points. Measured on two cores: 4 MB of Python take 2.5 s and 105 MB; larger files are data, not source."""

_NEXT_TOKEN = re.compile(rb"\s*(?:\w+|[!-~])")
_REACH = 256
"""Bytes before an edit that are searched for a character that is not blank."""
PATIENCE_S = 10.0
"""Seconds of parsing after which a text is given up. Only text without any structure takes so long: its errors make
the parser try everything (300 kB of random brackets and quotes: 5 s)."""


@dataclass(frozen=True, slots=True)
class SyntaxTree:
    """A text and its tree. The root is None when there is no grammar, no time or too much text."""

    text: str
    language: Language
    root: Node | None = None
    tree: Tree | None = field(default=None, repr=False, compare=False)
    encoded: EncodedText | None = field(default=None, repr=False, compare=False)

    def byte_of(self, offset: int) -> int:
        """The UTF-8 byte of a code point, for calls into `root`."""
        return self.encoded.byte_of(offset) if self.encoded else 0

    def offset_of(self, byte: int) -> int:
        """The code point of a UTF-8 byte, for positions out of `root`."""
        return self.encoded.offset_of(byte) if self.encoded else 0

    def span_of(self, node: Node) -> Span:
        """Where a node of this tree stands in the text."""
        return Span(self.offset_of(node.start_byte), self.offset_of(node.end_byte))


def parse(text: str, language: Language, budget_s: float | None = None) -> SyntaxTree:
    """The tree of a text. With a budget, one that is not finished in time is empty; its work is lost."""
    return DocumentParser(language).tree(text, budget_s)


def reparse(base: SyntaxTree, text: str, budget_s: float | None = None) -> SyntaxTree:
    """The tree of a text that differs from `base` in one place; what stayed the same is taken over.

    `base` is left as it is, so tentative texts can be tried from it. An empty `base` means parsing anew.
    """
    parser = DocumentParser(base.language, base)
    return parser.tree(text, budget_s)


class DocumentParser:
    """The parser of one open document: every tree grows out of the last. Not thread safe."""

    def __init__(self, language: Language, last: SyntaxTree | None = None) -> None:
        self._language = language
        self._last = last if last is not None and last.tree is not None else None
        self._parser: Parser | None = None
        self._begun: tuple[EncodedText, Tree | None] | None = None  # a parse that is paused, and what it started from
        self._spent_s = 0.0  # on the parse that is paused
        self._gave_up = False

    def tree(self, text: str, budget_s: float | None = None) -> SyntaxTree:
        """The tree of `text`; an empty one when the budget is spent, and the next call goes on from there.

        A parse once begun is brought to its end even if the text has changed since: the new text then costs no more
        than an edit, and fast typing cannot keep a long first parse from finishing. The budget is kept to within
        `grammars.SLICE_S`, except where the parser searches for a way out of an error.
        """
        if self._last is not None and self._last.text == text:
            return self._last
        if not self._ready() or self._parser is None or len(text) > MAX_LENGTH:
            return SyntaxTree(text, self._language)
        deadline = None if budget_s is None else time.monotonic() + budget_s
        while self._last is None or self._last.text != text:
            if self._begun is None:
                new = EncodedText(text)
                self._begun = (new, None if self._last is None else _edited(self._last, new))
            if not self._go_on(self._parser, *self._begun, deadline):
                return SyntaxTree(text, self._language)
        return self._last

    def branch(self, text: str, budget_s: float | None = None) -> SyntaxTree:
        """The tree of a text that the document may become; the next tree of the document grows as if nothing was."""
        return DocumentParser(self._language, self._last).tree(text, budget_s)

    def close(self) -> None:
        """Lets go of the trees; the next call parses anew."""
        self._last = self._begun = self._parser = None
        self._spent_s = 0.0
        self._gave_up = False

    def _ready(self) -> bool:
        if self._parser is None and not self._gave_up:
            language = grammar(self._language.grammar)
            self._gave_up = language is None
            self._parser = None if language is None else pausing_parser(language)
        return not self._gave_up

    def _go_on(self, parser: Parser, new: EncodedText, old: Tree | None, deadline: float | None) -> bool:
        """Works on the parse that was begun; whether it is finished."""
        while True:
            began = time.monotonic()
            try:
                tree = parser.parse(new.data) if old is None else parser.parse(new.data, old)
            except ValueError:  # a slice of time is spent
                now = time.monotonic()
                self._spent_s += now - began
                if self._spent_s > PATIENCE_S:
                    self.close()
                    self._gave_up = True
                    return False
                if deadline is not None and now >= deadline:
                    return False
            else:
                self._last = SyntaxTree(new.text, self._language, tree.root_node, tree, new)
                self._begun = None
                self._spent_s = 0.0
                return True


def _edited(base: SyntaxTree, new: EncodedText) -> Tree | None:
    """A copy of the base's tree that knows where `new` differs."""
    if base.tree is None or base.encoded is None:
        return None
    before, after = base.encoded.data, new.data
    start = _common_prefix(before, after)
    rest = min(len(before), len(after)) - start
    kept = _common_suffix(before[len(before) - rest :], after[len(after) - rest :]) if rest else 0
    start, kept = _widened(before, start, kept)
    old_end, new_end = len(before) - kept, len(after) - kept
    row = int(np.count_nonzero(np.frombuffer(after, np.uint8, start) == 10))  # tree-sitter's rows end at "\n" only
    tree = base.tree.copy()
    tree.edit(
        start,
        old_end,
        new_end,
        (row, start - (after.rfind(b"\n", 0, start) + 1)),
        (row + before.count(b"\n", start, old_end), old_end - (before.rfind(b"\n", 0, old_end) + 1)),
        (row + after.count(b"\n", start, new_end), new_end - (after.rfind(b"\n", 0, new_end) + 1)),
    )
    return tree


def _widened(text: bytes, start: int, kept: int) -> tuple[int, int]:
    """The start of an edit and the bytes behind it, with the character before it and the token behind it taken in.

    Line ends and dedents are tokens of no width, as Python has them. Where an edit touches some, the parser compares
    what follows with its state in front of them, finds it unlike, and gives up all of the old tree from there on.
    """
    reach = text[max(0, start - _REACH) : start]
    code = reach.rstrip()
    if code:
        start -= len(reach) - len(code) + 1
        while start and _inside_code_point(text, start):
            start -= 1
    following = _NEXT_TOKEN.match(text, len(text) - kept)
    return start, kept - (len(following.group()) if following else 0)


def _common_prefix(one: bytes, other: bytes) -> int:
    """How many bytes two texts share at the start, up to the beginning of a code point."""
    shared = shared_start(one, other)
    while shared and (_inside_code_point(one, shared) or _inside_code_point(other, shared)):
        shared -= 1
    return shared


def _common_suffix(one: bytes, other: bytes) -> int:
    """How many bytes two pieces of the same length share at the end, from the beginning of a code point on."""
    size = len(one)
    shared = shared_end(one, other, size)
    while shared and _inside_code_point(one, size - shared):
        shared -= 1
    return shared


def _inside_code_point(data: bytes, position: int) -> bool:
    return position < len(data) and data[position] & 0xC0 == 0x80
