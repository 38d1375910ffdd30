"""What is shown of a text is how what is shown of a longer one begins: nobody sees ghost text flip."""

from __future__ import annotations

import re

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from spark_lsp.documents.text import TextSnapshot
from spark_lsp.postprocess import Place, postprocess
from spark_lsp.syntax.languages import language_for
from tests.postprocess.cases import Case, all_cases

TAKEN_BACK = {("repetition", "a piece of a line"), ("next_lines", "a line that was begun")}
"""Two of the exceptions that `spark_lsp.postprocess` names; the third, a syntax error, is all of ``broken``."""
STEADY = [case for case in all_cases() if case.rule != "broken" and (case.rule, case.title) not in TAKEN_BACK]
LANGUAGE = language_for("typescript", "")
PIECES = (
    "a",
    "foo",
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    "\n",
    "\n  ",
    "\n}",
    ";",
    ", ",
    " = ",
    '"',
    "x",
    "  ",
    "// c",
    "if (x) {",
)
MARKED = (
    "foo(█)",
    'print("█");',
    "function f() {\n  if (a) {\n    █\n  }\n  return foo;\n}\n",
    "const a = foo(█, b): c",
    "foo(\n  a,\n  █\n);\n",
    "function f() {█\n}\n",
    "foo = x;\n█\nfoo;\na\n",
)


def assert_steady(written: str, place: Place) -> None:
    growing = place.while_growing()
    before = ""
    for length in range(len(written) + 1):
        shown = postprocess(written[:length], growing)
        assert shown.startswith(before), f"{before!r} became {shown!r} at {written[:length]!r}"
        before = shown
    assert postprocess(written, place).startswith(before)


@pytest.mark.parametrize("case", STEADY, ids=str)
def test_what_is_shown_only_grows(case: Case) -> None:
    assert_steady(case.written, case.place)


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(MARKED), st.lists(st.sampled_from(PIECES), max_size=14))
def test_what_is_shown_of_any_text_only_grows(marked: str, pieces: list[str]) -> None:
    written = "".join(pieces)
    assume(re.search(r"(\S.{0,23}?)\1{5,}", written, re.DOTALL) is None)  # another exception
    snapshot = TextSnapshot.of(marked.replace("█", ""))
    # Without a tree, since errors are one of the exceptions.
    assert_steady(written, Place.at(snapshot, marked.index("█"), LANGUAGE))
