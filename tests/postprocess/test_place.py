"""What a place knows of the document around it."""

from __future__ import annotations

import pytest

from spark_lsp.documents.text import TextSnapshot
from spark_lsp.postprocess import Place
from spark_lsp.syntax.languages import language_for


def place(marked: str, language_id: str = "python") -> Place:
    return Place.at(TextSnapshot.of(marked.replace("█", "")), marked.index("█"), language_for(language_id, ""), None)


@pytest.mark.parametrize(
    ("name", "language_id", "marked", "unit"),
    [
        ("four spaces", "python", "def f():\n    if a:\n        b\n█", "    "),
        ("two spaces", "typescript", "f({\n  a: {\n    b,\n  },\n█});\n", "  "),
        ("two and now and then four", "typescript", "f(\n    a);\nif (b) {\n  c;\n}\nif (d) {\n  e;\n}\n█", "  "),
        ("four and alignment by two", "python", "def f():\n    a(b,\n      c)\ndef g():\n    d\n█", "    "),
        ("eight of which some are four", "python", "class A:\n        a\nclass B:\n    b\n        c\n█", "    "),
        ("eight", "c", "void f(void)\n{\n        a();\n}\n█", " " * 8),
        ("tabs", "c", "void f(void)\n{\n\ta();\n}\n█", "\t"),
        ("nothing is indented", "python", "a\nb\n█", ""),
        ("nothing is indented in Go", "go", "package a\n█", "\t"),
    ],
)
def test_the_step_of_indentation(name: str, language_id: str, marked: str, unit: str) -> None:
    assert place(marked, language_id).unit == unit


def test_lines_around_without_their_ends() -> None:
    here = place("a\r\nb c█d\r\n\r\ne\r\n")
    assert (here.line_before, here.line_after) == ("b c", "d")
    assert here.lines_above == ("a",)
    assert here.below == ("e",)
    assert not here.growing
    assert here.while_growing().growing
