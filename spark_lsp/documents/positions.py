"""Between offsets in code points and the client's line and character, in any position encoding.

Everything clamps: an editor may ask about a place that an edit still on its way will create.
"""

from __future__ import annotations

from enum import Enum

import numpy as np
from numpy.typing import NDArray

from spark_lsp.documents.text import TextSnapshot


class Encoding(str, Enum):
    """The unit in which a client counts `character`."""

    UTF8 = "utf-8"
    UTF16 = "utf-16"
    UTF32 = "utf-32"


def offset_at(snapshot: TextSnapshot, line: int, character: int, encoding: Encoding) -> int:
    """The offset of a client position.

    A negative line means the start of the document and one past the last means its end; `character` stays within the
    line, before its terminator. A position inside a code point (half of a surrogate pair, the middle of a UTF-8
    sequence) gives the start of that code point.
    """
    if line < 0:
        return 0
    if line >= snapshot.line_count:
        return len(snapshot.text)
    start, end = snapshot.line_span(line)
    if character <= 0:
        return start
    # A code point is at least one unit wide, so the answer lies within the first `character` of them.
    end = min(end, start + character)
    if encoding is Encoding.UTF32:
        return end
    reach = snapshot.text[start:end]
    if reach.isascii():
        return end
    return start + int(np.searchsorted(np.cumsum(_widths(reach, encoding)), character, side="right"))


def position_at(snapshot: TextSnapshot, offset: int, encoding: Encoding) -> tuple[int, int]:
    """The client's line and character of an offset; an offset inside ``\\r\\n`` gives the end of that line."""
    offset = min(max(offset, 0), len(snapshot.text))
    line = snapshot.line_of(offset)
    start, end = snapshot.line_span(line)
    return line, units(snapshot.text[start : min(offset, end)], encoding)


def units(text: str, encoding: Encoding) -> int:
    """The length of `text` counted in the encoding's units; a lone surrogate counts 3 in UTF-8 and 1 in UTF-16."""
    if encoding is Encoding.UTF32 or text.isascii():
        return len(text)
    if encoding is Encoding.UTF16:
        return len(text.encode("utf-16-le", "surrogatepass")) // 2
    return len(text.encode("utf-8", "surrogatepass"))


def _widths(text: str, encoding: Encoding) -> NDArray[np.int64]:
    """How many units each code point of `text` takes."""
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")
    widths = np.ones(len(codes), np.int64)
    for first in (0x10000,) if encoding is Encoding.UTF16 else (0x80, 0x800, 0x10000):
        widths += codes >= first
    return widths
