"""What the tree says of a suggestion while it is written; ``█`` is the cursor."""

from __future__ import annotations

import pytest

from spark_lsp.decoding.guard import SyntaxGuard
from spark_lsp.documents.text import TextSnapshot
from spark_lsp.postprocess import Place
from spark_lsp.syntax import trial
from spark_lsp.syntax.languages import language_for
from spark_lsp.syntax.parser import SyntaxTree, parse, reparse


def guard(language_id: str, marked: str) -> SyntaxGuard:
    text, cursor = marked.replace("█", ""), marked.index("█")
    language = language_for(language_id, "")
    tree = parse(text, language)
    return SyntaxGuard(tree, cursor, Place.at(TextSnapshot.of(text), cursor, language, tree))


@pytest.mark.parametrize(
    ("language_id", "marked", "text", "complete"),
    [
        ("python", "x = █", "1", True),
        ("python", "x = █", "f(1,", False),
        ("python", "x = █", "f(')'", False),
        ("python", "x = f(█", "1)", True),
        ("python", "█", "# two numbers", False),
        ("python", "█", "# one\n# two\n# three\n# four", True),
        ("python", "█", "@cache", False),
        ("python", "█", "if a:", False),
        ("python", "x = █", '"""a\nb', False),
        ("rust", "    █", "#[derive(Debug)]", False),
        ("java", "    █", "@Override", False),
        ("c", "x = █", "1;", True),
        ("klingon", "x = █", "1", True),
        ("python", "# a comm█", "ent", True),
    ],
)
def test_a_statement_is_complete(language_id: str, marked: str, text: str, complete: bool) -> None:
    assert guard(language_id, marked).completes(text) is complete


@pytest.mark.parametrize(
    ("language_id", "marked", "text", "sound"),
    [
        ("python", "def f():█\n", "\n    a = 1", True),
        ("python", "def f():█\n", "\n    a = = 1", False),
        ("python", "def f():█\n", "\n    a = f(1,", True),
        ("python", "def f():█\n", "\n    try:\n        a()", True),
        ("typescript", "function f() {█\n}\n", "\n  a b c;", False),
        ("go", "func f() {█\n}\n", "\n\tif a {", True),
        ("go", "func f() {█\n}\n", "\n\tif a {\n\t\tb()\n\t}", True),
        ("c", "void f(void) {█\n}\n", "\n    if (a)", True),
        ("c", "void f(void) {█\n}\n", "\n    if (a)\n        // b", True),
        ("klingon", "x █", "( = = )", True),
    ],
)
def test_a_text_of_whole_lines_is_sound(language_id: str, marked: str, text: str, sound: bool) -> None:
    assert guard(language_id, marked).sound(text) is sound


def test_the_same_text_is_parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[str] = []

    def counting(base: SyntaxTree, text: str) -> SyntaxTree:
        parsed.append(text)
        return reparse(base, text)

    monkeypatch.setattr(trial, "reparse", counting)
    watched = guard("python", "def f():█\n")
    for _ in range(5):
        assert watched.sound("\n    a = 1")
        assert watched.completes("\n    a = 1")
    assert 1 <= len(parsed) <= 2
