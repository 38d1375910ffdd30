from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spark_lsp.documents import ContentChange, Encoding, Range, TextSnapshot, apply_change, apply_changes
from spark_lsp.documents.edits import removes_one_character

from .plain_reference import changes, encodings, plain_change, plain_line_starts, texts


@pytest.mark.parametrize(
    ("before", "where", "inserted", "after"),
    [
        pytest.param("", Range(0, 0, 0, 0), "a", "a", id="into an empty document"),
        pytest.param("ab", Range(0, 2, 0, 2), "c\n", "abc\n", id="at the end of the document"),
        pytest.param("ab\n", Range(1, 0, 1, 0), "c", "ab\nc", id="on the empty last line"),
        pytest.param("ab\ncd\nef", Range(0, 1, 2, 1), "", "af", id="deletion over lines"),
        pytest.param("ab\ncd", Range(1, 1, 0, 1), "X", "aXd", id="reversed range"),
        pytest.param("ab\ncd", Range(0, 5, 7, 7), "!", "ab!", id="range past the end"),
        pytest.param("ab\ncd", Range(-3, -3, 0, 1), "!", "!b\ncd", id="range before the start"),
        pytest.param("a\r\nb", Range(0, 1, 0, 1), "\r", "a\r\r\nb", id="CR before CRLF"),
        pytest.param("a\nb", Range(0, 1, 0, 1), "\r", "a\r\nb", id="joins a CRLF from the left"),
        pytest.param("a\rb", Range(1, 0, 1, 0), "\n", "a\r\nb", id="joins a CRLF from the right"),
        pytest.param("a\rx\nb", Range(1, 0, 1, 1), "", "a\r\nb", id="deletion joins a CRLF"),
        pytest.param("x\x0cy\nz", Range(1, 0, 1, 1), "Z", "x\x0cy\nZ", id="form feed is no line end"),
        pytest.param("x\u2028y\nz", Range(1, 0, 1, 1), "Z", "x\u2028y\nZ", id="U+2028 is no line end"),
        pytest.param("😀b", Range(0, 2, 0, 3), "c", "😀c", id="after an emoji in UTF-16"),
        pytest.param("😀b", Range(0, 1, 0, 2), "", "b", id="half a surrogate pair deletes all of it"),
        pytest.param("ab", Range(0, 1, 0, 1), "\ud83d", "a\ud83db", id="lone surrogate"),
    ],
)
def test_an_edit_replaces_its_range(before: str, where: Range, inserted: str, after: str) -> None:
    snapshot = apply_change(TextSnapshot.of(before), ContentChange(inserted, where), Encoding.UTF16)
    assert snapshot.text == after
    assert snapshot.line_starts.tolist() == plain_line_starts(after)


def test_a_change_without_a_range_replaces_the_document() -> None:
    snapshot = apply_change(TextSnapshot.of("old", 1), ContentChange("new\nlines"), Encoding.UTF16, 2)
    assert snapshot == TextSnapshot.of("new\nlines", 2)


def test_without_a_version_the_old_one_is_kept() -> None:
    assert apply_change(TextSnapshot.of("a", 7), ContentChange("b"), Encoding.UTF8).version == 7


def test_each_change_refers_to_the_text_left_by_the_one_before() -> None:
    steps = [ContentChange("\n", Range(0, 1, 0, 1)), ContentChange("X", Range(1, 0, 1, 1))]
    assert apply_changes(TextSnapshot.of("ab", 1), steps, Encoding.UTF16, 2) == TextSnapshot.of("a\nX", 2)


def test_no_changes_only_set_the_version() -> None:
    assert apply_changes(TextSnapshot.of("ab", 1), [], Encoding.UTF16, 2) == TextSnapshot.of("ab", 2)


@settings(max_examples=200, deadline=None)
@given(texts, st.lists(changes, max_size=6), encodings)
def test_edits_agree_with_rebuilding_everything(text: str, steps: list[ContentChange], encoding: Encoding) -> None:
    snapshot = TextSnapshot.of(text)
    for step in steps:
        snapshot = apply_change(snapshot, step, encoding)
        text = plain_change(text, step, encoding)
        assert snapshot.text == text
        assert snapshot.line_starts.tolist() == plain_line_starts(text)
        assert not snapshot.line_starts.flags.writeable


@settings(max_examples=60, deadline=None)
@given(st.lists(changes, max_size=4), encodings)
def test_edits_in_a_long_document_agree_with_rebuilding_everything(
    steps: list[ContentChange], encoding: Encoding
) -> None:
    text = "".join(f"line {number} é😀{end}" for number, end in enumerate(["\n", "\r\n", "\r", "\x0c\n"] * 20))
    snapshot = TextSnapshot.of(text)
    for step in steps:
        snapshot = apply_change(snapshot, step, encoding)
        text = plain_change(text, step, encoding)
        assert snapshot.text == text
        assert snapshot.line_starts.tolist() == plain_line_starts(text)


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("abc", "ac", True),
        ("abc", "ab", True),
        ("aab", "ab", True),
        ("a", "", True),
        ("a😀", "a", True),
        ("a\r\nb", "ab", True),
        ("a\r\r\nb", "a\rb", True),
        ("a\r\n\r\nb", "a\r\nb", True),
        ("a\r\nb", "a\nb", True),
        ("abc", "abc", False),
        ("abc", "a", False),
        ("abc", "xb", False),
        ("ab", "abc", False),
        ("a\nb\n", "ba", False),
        ("a\n\rb", "ab", False),
        ("", "", False),
    ],
)
def test_one_press_of_a_key_removes_one_character(before: str, after: str, expected: bool) -> None:
    assert removes_one_character(before, after) is expected


@given(st.text("ab\r\n", min_size=1, max_size=12), st.data())
def test_whichever_character_goes_it_is_noticed(before: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(before) - 1))
    size = 2 if before.startswith("\r\n", at) else 1
    assert removes_one_character(before, before[:at] + before[at + size :])
