"""A document at one moment, as code points and line starts.

Lines end at ``\\n``, ``\\r\\n`` and ``\\r`` only, as the protocol says. Form feed, U+0085, U+2028 and the other
characters at which `str.splitlines` breaks are ordinary text here.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

_LINE_FEED = 10
_CARRIAGE_RETURN = 13


@dataclass(frozen=True, slots=True)
class TextSnapshot:
    """The text of a document. Every edit makes a new snapshot, so one can be read from any thread."""

    text: str
    line_starts: NDArray[np.int64] = field(compare=False, repr=False)
    """Offset of each line's first code point; read-only, ascending, starts with 0."""
    version: int | None = None

    @classmethod
    def of(cls, text: str, version: int | None = None) -> TextSnapshot:
        """A snapshot of `text` with its lines found by one pass over it."""
        return cls(text, frozen_line_starts(np.zeros(1, np.int64), line_ends(text)), version)

    @property
    def line_count(self) -> int:
        """How many lines there are; an empty text has one, and a final terminator opens another."""
        return len(self.line_starts)

    def line_of(self, offset: int) -> int:
        """The line that holds `offset`; 0 for a negative offset, the last line for one past the end."""
        return max(int(np.searchsorted(self.line_starts, offset, side="right")) - 1, 0)

    def line_span(self, line: int) -> tuple[int, int]:
        """Start and end offset of a line without its terminator; a line out of range gives the nearest one."""
        line = min(max(line, 0), self.line_count - 1)
        start = int(self.line_starts[line])
        if line + 1 == self.line_count:
            return start, len(self.text)
        end = int(self.line_starts[line + 1]) - 1
        if end > start and self.text[end] == "\n" and self.text[end - 1] == "\r":
            end -= 1
        return start, end

    def line_text(self, line: int) -> str:
        """The characters of a line without its terminator."""
        start, end = self.line_span(line)
        return self.text[start:end]

    @property
    def eol(self) -> str:
        """The line terminator used most in the document, ``"\\n"`` when there is none."""
        pairs = self.text.count("\r\n")
        counts = {"\n": self.text.count("\n") - pairs, "\r\n": pairs, "\r": self.text.count("\r") - pairs}
        return max(counts, key=lambda terminator: counts[terminator])  # the first of equals, so "\n" when all are 0


def line_ends(text: str) -> NDArray[np.int64]:
    """The offset just after every line terminator in `text`, ascending."""
    if text.isascii():
        codes: NDArray[np.uint8] | NDArray[np.uint32] = np.frombuffer(text.encode("ascii"), np.uint8)
    else:
        codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")
    terminators = codes == _LINE_FEED
    if "\r" in text:
        returns = codes == _CARRIAGE_RETURN
        returns[:-1] &= ~terminators[1:]  # the "\r" of "\r\n" does not end the line; its "\n" does
        terminators |= returns
    return np.flatnonzero(terminators).astype(np.int64) + 1


def frozen_line_starts(*parts: NDArray[np.int64]) -> NDArray[np.int64]:
    """The parts joined into one read-only array."""
    starts = np.concatenate(parts)
    starts.flags.writeable = False
    return starts
