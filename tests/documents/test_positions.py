from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spark_lsp.documents import Encoding, TextSnapshot, offset_at, position_at, units

from .plain_reference import coordinates, encodings, plain_lines, plain_offset, plain_width, texts

UTF8, UTF16, UTF32 = Encoding.UTF8, Encoding.UTF16, Encoding.UTF32
MIXED = "aé中😀z\r\nsecond"


@pytest.mark.parametrize(
    ("encoding", "character", "offset"),
    [
        (UTF32, 3, 3),
        (UTF32, 4, 4),
        (UTF16, 3, 3),
        (UTF16, 4, 3),  # between the two halves of the emoji
        (UTF16, 5, 4),
        (UTF8, 1, 1),
        (UTF8, 2, 1),  # inside the two bytes of é
        (UTF8, 3, 2),
        (UTF8, 5, 2),  # inside the three bytes of 中
        (UTF8, 6, 3),
        (UTF8, 9, 3),  # inside the four bytes of the emoji
        (UTF8, 10, 4),
        (UTF8, 11, 5),
    ],
)
def test_a_position_inside_a_code_point_gives_its_start(encoding: Encoding, character: int, offset: int) -> None:
    assert offset_at(TextSnapshot.of(MIXED), 0, character, encoding) == offset


@pytest.mark.parametrize("encoding", list(Encoding))
@pytest.mark.parametrize(
    ("line", "character", "offset"),
    [(0, -1, 0), (0, 99, 5), (1, 99, 13), (-1, 3, 0), (2, 0, 13), (99, 99, 13)],
)
def test_a_position_out_of_bounds_is_clamped(encoding: Encoding, line: int, character: int, offset: int) -> None:
    assert offset_at(TextSnapshot.of(MIXED), line, character, encoding) == offset


@pytest.mark.parametrize("encoding", list(Encoding))
def test_an_offset_inside_a_crlf_is_the_end_of_the_line(encoding: Encoding) -> None:
    assert position_at(TextSnapshot.of("ab\r\ncd"), 3, encoding) == (0, 2)


@pytest.mark.parametrize(("offset", "position"), [(-4, (0, 0)), (99, (1, 6))])
def test_an_offset_out_of_bounds_is_clamped(offset: int, position: tuple[int, int]) -> None:
    assert position_at(TextSnapshot.of(MIXED), offset, UTF16) == position


@settings(max_examples=200, deadline=None)
@given(texts, encodings)
def test_units_are_the_sum_of_the_widths_of_the_code_points(text: str, encoding: Encoding) -> None:
    assert units(text, encoding) == sum(plain_width(character, encoding) for character in text)


@settings(max_examples=200, deadline=None)
@given(texts, coordinates, coordinates, encodings)
def test_offset_at_agrees_with_counting_character_by_character(
    text: str, line: int, character: int, encoding: Encoding
) -> None:
    assert offset_at(TextSnapshot.of(text), line, character, encoding) == plain_offset(text, line, character, encoding)


@settings(max_examples=200, deadline=None)
@given(texts, st.integers(0, 60), encodings)
def test_an_offset_survives_the_round_trip_unless_it_lies_inside_a_crlf(
    text: str, offset: int, encoding: Encoding
) -> None:
    offset = min(offset, len(text))
    snapshot = TextSnapshot.of(text)
    inside_crlf = text[offset - 1 : offset + 1] == "\r\n" if offset else False
    assert offset_at(snapshot, *position_at(snapshot, offset, encoding), encoding) == offset - inside_crlf


@settings(max_examples=100, deadline=None)
@given(texts, encodings)
def test_every_position_of_every_line_survives_the_round_trip(text: str, encoding: Encoding) -> None:
    snapshot = TextSnapshot.of(text)
    for line, content in enumerate(plain_lines(text)):
        character = 0
        for code_point in content:
            assert position_at(snapshot, offset_at(snapshot, line, character, encoding), encoding) == (line, character)
            character += plain_width(code_point, encoding)
