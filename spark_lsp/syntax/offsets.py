"""Between code points, in which this program counts, and UTF-8 bytes, in which tree-sitter does.

This is the only place that converts the one into the other.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_BLOCK = 1024
"""Bytes between two counted places: large enough for a small table, small enough to count the rest in microseconds."""


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A piece of a text: offsets in code points, the end not included."""

    start: int
    end: int


class EncodedText:
    """A text with its UTF-8 bytes. The table that converts offsets is made when first needed, and only if not ASCII."""

    __slots__ = ("_before", "data", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        # A lone surrogate has no UTF-8 form. "?" keeps it one code point for one first byte, so offsets stay right.
        self.data = text.encode("utf-8", "replace")
        self._before: list[int] | None = None

    def byte_of(self, offset: int) -> int:
        """The byte at which the code point `offset` begins; offsets out of the text are clamped."""
        if offset <= 0:
            return 0
        if offset >= len(self.text):
            return len(self.data)
        if len(self.data) == len(self.text):
            return offset
        before = self._code_points_before()
        block = bisect_right(before, offset) - 1
        firsts = np.flatnonzero(self._first_bytes(block * _BLOCK, (block + 1) * _BLOCK))
        return block * _BLOCK + int(firsts[offset - before[block]])

    def offset_of(self, byte: int) -> int:
        """How many code points begin before `byte`; bytes out of the text are clamped."""
        byte = min(max(byte, 0), len(self.data))
        if len(self.data) == len(self.text):
            return byte
        block = byte // _BLOCK
        return self._code_points_before()[block] + int(np.count_nonzero(self._first_bytes(block * _BLOCK, byte)))

    def _code_points_before(self) -> list[int]:
        """For every block, how many code points begin before it, and one entry more for the end of the text."""
        if self._before is None:
            firsts = self._first_bytes(0, len(self.data))
            per_block = np.add.reduceat(firsts, np.arange(0, len(firsts), _BLOCK), dtype=np.int64)
            self._before = [0, *np.cumsum(per_block).tolist()]
        return self._before

    def _first_bytes(self, start: int, end: int) -> NDArray[np.bool_]:
        """Which bytes of a slice begin a code point."""
        firsts: NDArray[np.bool_] = (np.frombuffer(self.data, np.uint8)[start:end] & 0xC0) != 0x80
        return firsts
