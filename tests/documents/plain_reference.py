"""The documents stage written as plainly as possible: everything is rebuilt from the text, one character at a time."""

from __future__ import annotations

import re

from hypothesis import strategies as st

from spark_lsp.documents import ContentChange, Encoding, Range

PIECES = [
    "a", "word", " ", "\t", "\n", "\r\n", "\r", "\x0c", "\x0b", "\x85", "\u2028", "é", "e\u0301", "ß", "中", "\uffff",
    "😀", "👩\u200d💻", "\U0010ffff", "\ud83d", "\ude00",
]  # fmt: skip

texts = st.lists(st.sampled_from(PIECES), max_size=25).map("".join)
encodings = st.sampled_from(list(Encoding))
coordinates = st.integers(-2, 12)
ranges = st.builds(Range, coordinates, coordinates, coordinates, coordinates)
changes = st.builds(ContentChange, texts, st.none() | ranges)


def plain_lines(text: str) -> list[str]:
    """The lines without their terminators."""
    return re.split("\r\n|\n|\r", text)


def plain_line_starts(text: str) -> list[int]:
    return [0, *(match.end() for match in re.finditer("\r\n|\n|\r", text))]


def plain_width(character: str, encoding: Encoding) -> int:
    code = ord(character)
    if encoding is Encoding.UTF8:
        return 1 if code < 0x80 else 2 if code < 0x800 else 3 if code < 0x10000 else 4
    if encoding is Encoding.UTF16:
        return 1 if code < 0x10000 else 2
    return 1


def plain_offset(text: str, line: int, character: int, encoding: Encoding) -> int:
    lines = plain_lines(text)
    if line < 0:
        return 0
    if line >= len(lines):
        return len(text)
    used = taken = 0
    for code_point in lines[line]:
        used += plain_width(code_point, encoding)
        if used > character:
            break
        taken += 1
    return plain_line_starts(text)[line] + taken


def plain_change(text: str, change: ContentChange, encoding: Encoding) -> str:
    where = change.range
    if where is None:
        return change.text
    start, end = sorted(
        (
            plain_offset(text, where.start_line, where.start_character, encoding),
            plain_offset(text, where.end_line, where.end_character, encoding),
        )
    )
    return text[:start] + change.text + text[end:]
