from __future__ import annotations

import numpy as np
import pytest

from spark_lsp.documents import TextSnapshot


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", [""]),
        ("one", ["one"]),
        ("one\n", ["one", ""]),
        ("one\ntwo", ["one", "two"]),
        ("one\r\ntwo\r\n", ["one", "two", ""]),
        ("one\rtwo", ["one", "two"]),
        ("\r\r\n\n\r", ["", "", "", "", ""]),
        ("ä\r\nb", ["ä", "b"]),
        ("page\x0cbreak\x0btab\x1c\x1d\x1e", ["page\x0cbreak\x0btab\x1c\x1d\x1e"]),
        ("next\x85line\u2028separator\u2029end", ["next\x85line\u2028separator\u2029end"]),
        ("lone \ud800 surrogate\nnext", ["lone \ud800 surrogate", "next"]),
    ],
)
def test_lines_end_at_the_three_terminators_of_the_protocol_only(text: str, lines: list[str]) -> None:
    snapshot = TextSnapshot.of(text)
    assert [snapshot.line_text(line) for line in range(snapshot.line_count)] == lines


def test_line_of_gives_the_line_that_holds_an_offset_and_clamps() -> None:
    snapshot = TextSnapshot.of("ab\r\ncd\n")
    assert [snapshot.line_of(offset) for offset in (-5, 0, 2, 3, 4, 6, 7, 99)] == [0, 0, 0, 0, 1, 1, 2, 2]


def test_line_span_leaves_the_terminator_out_and_clamps() -> None:
    snapshot = TextSnapshot.of("ab\r\n\rcd")
    assert [snapshot.line_span(line) for line in (-1, 0, 1, 2, 3)] == [(0, 2), (0, 2), (4, 4), (5, 7), (5, 7)]


@pytest.mark.parametrize(
    ("text", "eol"),
    [
        ("", "\n"),
        ("no line end", "\n"),
        ("a\nb\n", "\n"),
        ("a\r\nb\r\nc\n", "\r\n"),
        ("a\rb\rc\n", "\r"),
        ("a\r\nb\n", "\n"),
    ],
)
def test_eol_is_the_most_used_terminator(text: str, eol: str) -> None:
    assert TextSnapshot.of(text).eol == eol


def test_a_snapshot_cannot_be_changed() -> None:
    snapshot = TextSnapshot.of("a\nb", version=3)
    with pytest.raises(ValueError, match="read-only"):
        snapshot.line_starts[0] = 1
    with pytest.raises(AttributeError):
        snapshot.text = "c"  # type: ignore[misc]


def test_snapshots_are_equal_when_text_and_version_are() -> None:
    assert TextSnapshot.of("a\nb", 1) == TextSnapshot.of("a\nb", 1)
    assert TextSnapshot.of("a\nb", 1) != TextSnapshot.of("a\nb", 2)
    assert hash(TextSnapshot.of("a\nb", 1)) == hash(TextSnapshot.of("a\nb", 1))


def test_line_starts_are_64_bit_offsets() -> None:
    assert TextSnapshot.of("a\nb").line_starts.dtype == np.int64
