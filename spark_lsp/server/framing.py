"""From bytes to JSON values: the base protocol of LSP, for streams that are cut anywhere and clients that err.

No I/O here. A frame is a block of header lines, an empty line and a body of `Content-Length` bytes. Where the length is
missing or wrong nobody knows where the next frame begins, but it can be found: JSON escapes the line ends in its
strings, so `Content-Length: 5` with a real line end behind it is a header wherever it stands.
"""

from __future__ import annotations

import codecs
import json
import logging
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

log = logging.getLogger(__name__)

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
MOST_BODY_BYTES = 512 * 1024 * 1024
"""A longer body is taken for a wrong length: 50 MB of text, every character escaped, are 300 MB."""
MOST_LINE_BYTES = 8192
"""Of a header line. More without a line end is something else; its end is kept, for a header may begin there."""
_LENGTH = re.compile(rb"content-length[ \t]*:[ \t]*([^\r\n]*?)[ \t]*\r?\n", re.IGNORECASE)
_LEADING_MEMBER = re.compile(r'\s*[{,]\s*"(jsonrpc|id|method)"\s*:\s*("(?:[^"\\]|\\.)*"|-?\d{1,20})(?=\s*[,}])')
_DECODER = json.JSONDecoder()
_BLANKS = " \t\r\n"
_BYTEWISE = "spark-lsp-bytewise"
"""The name of `_bytewise` among Python's ways to handle errors in decoding."""


@dataclass(frozen=True, slots=True)
class BadFrame:
    """Something that is no message."""

    code: int
    sentence: str
    id: int | str | None = None
    """The request that it was to be, where that can be told."""


class FrameDecoder:
    """Takes bytes as they come and gives what they say."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._length: int | None = None
        """Of the body that is being received."""
        self._lengths: set[bytes] = set()
        """Values of `Content-Length` in the header block that is being received."""
        self._header_seen = False

    def feed(self, data: bytes) -> Iterator[Any]:
        """Yield the JSON value of each frame that `data` completes, or a BadFrame."""
        self._buffer += data
        while True:
            if self._length is None:
                found = self._take_header_line()
            elif len(self._buffer) >= self._length:
                found = self._take_body(self._length)
            else:
                return
            if found is None:
                return
            yield from found

    def _take_header_line(self) -> list[Any] | None:
        """Take one line off the buffer; None if there is no whole one."""
        end = self._buffer.find(b"\n") + 1
        if not end:
            del self._buffer[: max(0, len(self._buffer) - MOST_LINE_BYTES)]
            return None
        line = bytes(self._buffer[:end])
        del self._buffer[:end]
        if line.strip():
            self._header_seen = True
            length = _LENGTH.search(line)
            if length is not None:
                self._lengths.add(length.group(1))
            return []
        lengths, seen = self._lengths, self._header_seen
        self._lengths, self._header_seen = set(), False
        if not seen:
            return []  # an empty line between two frames
        self._length = _length(lengths)
        if self._length is None:
            return [BadFrame(PARSE_ERROR, "A message needs one header Content-Length with its length in bytes.")]
        return []

    def _take_body(self, length: int) -> list[Any]:
        body = bytes(self._buffer[:length])
        del self._buffer[:length]
        self._length = None
        value, rest = parse(body)
        # Where the length was too large the body has the beginning of the next frame in it.
        self._buffer[:0] = rest
        return [value]


def parse(body: bytes) -> tuple[Any, bytes]:
    """Return the JSON value of `body`, or a BadFrame, and the bytes behind the value.

    What is not UTF-8 becomes U+FFFD, one for each byte.
    """
    try:
        text = body.decode()
    except UnicodeDecodeError:
        log.info("A message is not valid UTF-8")
        text = body.decode(errors=_BYTEWISE)
    text = text.removeprefix("\ufeff").strip(_BLANKS)
    try:
        value, end = _DECODER.raw_decode(text)
    except RecursionError:
        return BadFrame(INVALID_REQUEST, "The message is nested too deeply.", _leading_id(text)), b""
    except (ValueError, MemoryError):
        return BadFrame(PARSE_ERROR, "The message is not valid JSON.", _leading_id(text)), b""
    return value, text[end:].encode("utf-8", "surrogatepass")


def _length(values: set[bytes]) -> int | None:
    """Return the one length that is given; None if it is missing, contradictory or not a sensible number."""
    value = next(iter(values), b"")
    if len(values) != 1 or not value.isdigit() or len(value) > len(str(MOST_BODY_BYTES)):
        return None
    return int(value) if int(value) <= MOST_BODY_BYTES else None


def _leading_id(text: str) -> int | str | None:
    """Return the id of a request whose `id` and `method` stand before what cannot be read."""
    members: dict[str, Any] = {}
    at = 0
    while (member := _LEADING_MEMBER.match(text, at)) is not None:
        try:
            members[member.group(1)] = json.loads(member.group(2))
        except ValueError:
            return None
        at = member.end()
    identifier = members.get("id")
    return identifier if "method" in members and isinstance(identifier, (int, str)) else None


def _bytewise(error: UnicodeError) -> tuple[str, int]:
    """Replace each byte that cannot be decoded by one character, as editors count the columns of such a text."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return "\ufffd" * (error.end - error.start), error.end


codecs.register_error(_BYTEWISE, _bytewise)
