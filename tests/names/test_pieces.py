"""What is read of a text piece by piece is what is read of it as a whole, whatever was edited before."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from spark_lsp.documents.text import TextSnapshot
from spark_lsp.names.facts import ModuleFacts, facts_of
from spark_lsp.names.index import NameIndex
from spark_lsp.names.lines import CodeLine
from spark_lsp.names.modules import Library
from spark_lsp.names.pieces import Piece, PieceReader, Pieces
from spark_lsp.syntax.languages import language_for

TEXT = '''"""A module.

class of its own
def is a word
"""
import os
from a.b import (c,
    d as e)

LIMIT = 3

@final
class Tree(Base, metaclass=ABCMeta):
    """A tree."""
    kind: str = "x"

    def __init__(self, x):
        self.x, self.y = x, None
        import json

    @staticmethod
    def make(path):
        global made
        path.name = 1
        return getattr(path, "def f():")

    async def walk(self):
        def inner(a=(1,
                     2)):
            class Local:
                z = self.inner
            return Local
        raise NotImplementedError

    tail = [walk]

Tree.late = 1

class Leaf(Tree): pass

def top(a, b=\'\'\'
def not_code():
\'\'\'):
    return a + \\
        b

if LIMIT:
    async def last(): return globals()
'''
SNIPPETS = [
    *(
        '"""',
        "'''",
        "'",
        '"',
        "\\",
        "\\\n",
        "(",
        ")",
        "[",
        "]",
        "{",
        "\n",
        " ",
        "    ",
        "\t",
        "#",
        "x.",
        "self.new",
        "cls.a",
    ),
    *(
        "def f(self):\n",
        "    def g(other): pass\n",
        "class Mixin:\n",
        "async def h():\n",
        "@property\n",
        "import os, re\n",
    ),
    *(
        "from . import *\n",
        "global g\n",
        "setattr(",
        "__dict__",
        "abstractmethod",
        "globals()",
        "print 'old'\n",
        "other.b",
    ),
    *(
        "class A(B[int], C): x = 1; y = 2\n",
        "        class Inner(Tree):\n            v: int\n",
        "def ",
        "class ",
        "async ",
    ),
]
edits = st.lists(
    st.tuples(st.integers(0, len(TEXT)), st.integers(0, 40), st.sampled_from(["", *SNIPPETS]), st.booleans()),
    min_size=1,
    max_size=8,
)


def read_whole(text: str) -> ModuleFacts:
    return facts_of(Pieces.of((Piece.read(text),)))


def lines(facts: ModuleFacts) -> list[CodeLine]:
    return [*facts.code.upwards(1 << 30)]


def without_code(facts: ModuleFacts) -> ModuleFacts:
    return replace(facts, code=Pieces(whole=facts.code.whole))


def edited(text: str, at: int, removed: int, put: str, at_line: bool) -> str:
    at = min(at, len(text))
    if at_line:
        at = text.rfind("\n", 0, at) + 1
    return text[:at] + put + text[at + removed :]


@settings(max_examples=100, deadline=None)
@given(edits)
@example([(TEXT.index("make"), 0, "'", False)]).via("a definition without a name is no function")
@example([(0, len(TEXT), "x = (1,\nasync class A:\n", False)]).via("only a function is async")
@example([(0, len(TEXT), "x = '\\\n\ndef f(): pass\n", False)]).via("a string of one line, joined and not closed")
def test_facts_after_edits_are_those_of_the_text_read_as_a_whole(changes: list[tuple[int, int, str, bool]]) -> None:
    reader, text = PieceReader(), TEXT
    reader.read(text)
    for change in changes:
        text = edited(text, *change)
        facts, whole = facts_of(reader.read(text)), read_whole(text)
        assert lines(facts) == lines(whole)
        assert without_code(facts) == without_code(whole)
        assert facts.code == PieceReader().read(text), "what was read before changes nothing"


@pytest.mark.parametrize(("first", "end"), [(0, 3), (14, 40), (20, 21), (31, 33), (40, 99)])
def test_lines_of_a_class_are_found_wherever_pieces_begin_and_end(first: int, end: int) -> None:
    code = PieceReader().read(TEXT)
    assert len(code.pieces) > 8
    joined = "".join(span.text if span.text.endswith("\n") else span.text + "\n" for span in code.spans(first, end))
    assert joined.split("\n")[:-1] == TEXT.split("\n")[: -1 if end == 99 else None][first:end]


def test_an_edit_in_a_function_reads_that_function_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    reader = PieceReader()
    reader.read(TEXT)
    texts: list[str] = []
    read = Piece.read

    def noting(text: str) -> Piece:
        texts.append(text)
        return read(text)

    monkeypatch.setattr(Piece, "read", staticmethod(noting))
    reader.read(TEXT.replace("path.name = 1", "path.name = 2"))
    assert [text.split("(")[0].strip() for text in texts] == ["def make"]


def test_lines_that_hold_only_a_backslash_are_no_statements() -> None:
    facts = read_whole("\\\nclass A:\n    \\\n\n    x = \\\n  1\n\\")
    assert [line.text for line in lines(facts)] == ["x = 1", "class A:"], "the lowest first"


def test_a_line_of_many_words_is_not_searched_for_each_of_them() -> None:
    code = PieceReader().read("class def " * 20_000 + "\ndef f(): pass\n")
    assert [piece.lines[0].text[:5] for piece in code.pieces] == ["class", "def f"]


def test_a_closed_document_is_let_go_of() -> None:
    index, python = NameIndex(), language_for("python", "")
    text = "class A:\n    def f(self):\n        self.\n"
    for every in (False, True):
        index.use("main", Library())
        check = index.check("main", python, TextSnapshot.of(text), len(text) - 1)
        assert check is not None and check.look("unheard + 1", -99).unknown == 0
        assert index._readers
        if every:
            index.forget_all()
        else:
            index.forget("main")
        assert not index._readers
