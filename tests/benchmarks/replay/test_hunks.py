from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.replay.hunks import LONGEST_LINE, MOST_CHARACTERS, Hunk, hunks
from spark_lsp.documents.shared import shared_start

ABOVE = "def first():\n    return 1\n"
ADDED = "\n\ndef second(value):\n    return value + 2\n"


def test_new_lines_follow_enter_at_the_end_of_the_line_above() -> None:
    assert hunks(ABOVE, ABOVE + ADDED) == [Hunk(len(ABOVE) - 1, "", "\n" + ADDED[:-1])]


def test_new_lines_at_the_top_are_typed_with_their_line_end() -> None:
    assert hunks(ABOVE, "from typing import Any\n" + ABOVE) == [Hunk(0, "", "from typing import Any\n")]


@pytest.mark.parametrize(
    ("old", "new", "typed"),
    [
        ("total = price\n", "total = price * (1 + rate_of(it))\n", Hunk(13, "", " * (1 + rate_of(it))")),
        ("call(alpha, beta)\n", "call(alpha_of(things), beta)\n", Hunk(5, "alpha", "alpha_of(things)")),
        ("x = 1\ny = 2\n", "first = 10\nsecond = 20\n", Hunk(0, "x = 1\ny = 2", "first = 10\nsecond = 20")),
    ],
)
def test_what_stays_of_a_changed_line_is_not_typed_again_but_whole_words_are(old: str, new: str, typed: Hunk) -> None:
    assert hunks(old, new) == [typed]


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("a\n", "b\n", "too short"),
        ("", "x = " + "1" * MOST_CHARACTERS + "\n", "too long"),
        ("", "x = " + "'y' " * LONGEST_LINE + "\n", "a line too wide for code"),
        ("if a:\n  return some_value\n", "if a:\n    return some_value\n", "blanks only"),
        ("", "Ünïcode is not typed here\n", "not ASCII"),
        ("def removed_function():\n    pass\n", "", "a deletion alone"),
    ],
)
def test_an_edit_that_is_no_moderate_writing_is_left_out(old: str, new: str, why: str) -> None:
    assert hunks(old, new) == [], why


LINES = st.lists(st.sampled_from(["alpha_beta = 1\n", "    gamma(delta)\n", "\n", "return epsilon\n"]), max_size=12)


@given(LINES, LINES)
@settings(max_examples=60, deadline=None)
def test_every_hunk_stands_in_the_newer_version(old: list[str], new: list[str]) -> None:
    text = "".join(new)
    for hunk in hunks("".join(old), text):
        assert text[hunk.start : hunk.start + len(hunk.new)] == hunk.new


@given(st.text("ab", max_size=9), st.text("ab", max_size=9))
@settings(max_examples=60, deadline=None)
def test_two_texts_agree_up_to_their_first_different_character(left: str, right: str) -> None:
    count = shared_start(left, right)
    assert left[:count] == right[:count]
    assert left[count : count + 1] != right[count : count + 1] or min(len(left), len(right)) == count
