"""Where lines stand after an edit; ``|`` in a case separates lines."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spark_lsp.documents.moved_lines import moved_lines
from spark_lsp.documents.shared import shared_end, shared_start
from spark_lsp.documents.text import TextSnapshot

CASES = [
    ("nothing changed", "a|b|c", "a|b|c", 1, 1),
    ("a line above was inserted", "a|b|c", "a|new|b|c", 1, 2),
    ("one that begins like the line below it", "a = 1|b = 2", "a = 1|b = 1|b = 2", 1, 2),
    ("a line below was inserted", "a|b|c", "a|b|new|c", 1, 1),
    ("Enter at its end", "a|b", "a|b|", 1, 1),
    ("Enter at its start", "a|b", "a||b", 1, 2),
    ("a line above was removed", "a|b|c", "b|c", 2, 1),
    ("another line was edited", "a|b|c", "a|x|c", 2, 2),
    ("it was edited", "a|b|c", "a|bx|c", 1, None),
    ("it was begun anew", "a|b|c", "a|xb|c", 1, None),
    ("it was removed", "a|b|c", "a|c", 1, None),
    ("it was joined with the line above", "a|b|c", "ab|c", 1, None),
    ("it was joined with the line below", "a|b|c", "a|bc", 1, None),
    ("everything is new", "a|b|c", "x|y|z", 1, None),
    ("the text was emptied", "a|b|c", "", 2, None),
]


def snapshot(text: str) -> TextSnapshot:
    return TextSnapshot.of(text.replace("|", "\n"))


@pytest.mark.parametrize(("case", "old", "new", "line", "moved"), CASES, ids=[case[0] for case in CASES])
def test_a_line(case: str, old: str, new: str, line: int, moved: int | None) -> None:
    found = moved_lines(snapshot(old), snapshot(new), [(line, line)])
    assert found == [None if moved is None else (moved, moved)]


def test_several_lines_stay_together_or_are_lost() -> None:
    old, pieces = snapshot("a|b|c|d"), [(1, 2), (2, 3)]
    assert moved_lines(old, snapshot("x|a|b|c|d"), pieces) == [(2, 3), (3, 4)]
    assert moved_lines(old, snapshot("a|x|c|d"), pieces) == [None, (2, 3)]


texts = st.text(st.sampled_from("ab\n\r"), max_size=12)


@settings(max_examples=100)
@given(texts, texts)
def test_a_line_that_is_found_has_the_same_text(old: str, new: str) -> None:
    one, other = TextSnapshot.of(old), TextSnapshot.of(new)
    for line, place in enumerate(moved_lines(one, other, [(n, n) for n in range(one.line_count)])):
        if place is not None:
            assert other.line_text(place[0]) == one.line_text(line)


@settings(max_examples=100)
@given(texts, texts, st.integers(0, 12))
def test_shared_ends(one: str, other: str, most: int) -> None:
    start, most = shared_start(one, other), min(most, len(one), len(other))
    assert one[:start] == other[:start]
    assert one[start : start + 1] != other[start : start + 1] or start == len(one) == len(other)
    end = shared_end(one, other, most)
    assert end <= most
    assert one[len(one) - end :] == other[len(other) - end :]
    assert end == most or one[len(one) - end - 1] != other[len(other) - end - 1]
