"""Whether a text adds a syntax error; ``█`` is where it goes."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spark_lsp.syntax import language_for, parse
from spark_lsp.syntax.trial import Trial


def trial(marked: str, language_id: str = "python") -> Trial:
    return Trial(parse(marked.replace("█", ""), language_for(language_id, "")), marked.index("█"))


@pytest.mark.parametrize(
    ("name", "language_id", "marked", "inserted", "expected"),
    [
        ("a statement", "python", "x = 1\n█\ny = 2\n", "z = 3", False),
        ("an open bracket", "python", "x = 1\n█\ny = 2\n", "f(", True),
        ("what completes a line that is broken", "python", "x = █\ny = 2\n", "3", False),
        ("what leaves it as broken as it was", "python", "x = f(█\ny = 2\n", "a, ", False),
        ("two values", "go", "func f() {\n\t█\n}\n", "a b c := 1", True),
        ("one closer too many", "rust", "fn f() {\n    g(█);\n}\n", "a)", True),
        ("a type that ends twice", "java", "class A {\n    █\n}\n", "int a;; }", True),
        ("a language without a grammar", "klingon", "x █", "((((", False),
        ("a whole body", "python", "def f():\n█\n\ndef g():\n    pass\n", "    return 1", False),
        ("where the document is broken already", "python", "x = [1, 2\n\ndef f():\n    return █\n", "g(1)", False),
    ],
)
def test_adds_a_syntax_error(name: str, language_id: str, marked: str, inserted: str, expected: bool) -> None:
    one = trial(marked, language_id)
    assert (one.judges and one.breaks(one.tree_with(inserted))) is expected


def test_a_line_is_ended_where_the_document_does_not() -> None:
    assert trial("█x = 1").tree_with_line("y = 2  ").text == "y = 2\nx = 1"
    assert trial("█\nx = 1").tree_with_line("y = 2  ").text == "y = 2\nx = 1"


def test_without_a_grammar_nothing_breaks() -> None:
    one = Trial(parse("x", language_for("", "notes")), 0)
    assert not one.judges
    assert not one.breaks(one.tree_with("((("))


texts = st.lists(st.sampled_from(["", "x", "f(", "f(1)", "    y = 1", "\n", "= = )", "if a:\n    b"]), max_size=6)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(["a = █\nb = 2\n", "def f():\n█\n\ndef g():\n    return 1\n", "class A:\n    █\n"]), texts)
def test_answers_do_not_depend_on_what_was_tried_before(marked: str, tried: list[str]) -> None:
    one = trial(marked)
    for text in tried:
        alone = trial(marked)
        assert one.judges is alone.judges
        assert one.breaks(one.tree_with(text)) is alone.breaks(alone.tree_with(text))
