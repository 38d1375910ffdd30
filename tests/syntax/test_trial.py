"""Texts tried one after the other give the same answers as each tried alone."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spark_lsp.syntax import adds_syntax_error, error_count, language_for, parse
from spark_lsp.syntax.trial import Trial

PYTHON = language_for("python", "")


def trial(marked: str) -> Trial:
    return Trial(parse(marked.replace("█", ""), PYTHON), marked.index("█"))


CASES = [
    ("right code", "x = █\n", "1", False),
    ("half a call", "x = 1\n█\n", "f(1", True),
    ("the errors that were there", "x = )1\ny = █\n", "2", False),
    ("a whole body", "def f():\n█\n\ndef g():\n    pass\n", "    return 1", False),
]


@pytest.mark.parametrize(("case", "marked", "text", "breaks"), CASES, ids=[case[0] for case in CASES])
def test_a_text_breaks_the_document(case: str, marked: str, text: str, breaks: bool) -> None:
    one = trial(marked)
    assert one.breaks(one.tree_with(text)) is breaks


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
    document, offset = marked.replace("█", ""), marked.index("█")
    tree, one = parse(document, PYTHON), trial(marked)
    for text in tried:
        whole = document[:offset] + text + document[offset:]
        alone = adds_syntax_error(tree, whole, offset, error_count(tree))
        assert (one.judges and one.breaks(one.tree_with(text))) is alone
