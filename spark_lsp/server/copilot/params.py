"""What plugins mean by their parameters, read without trusting any of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

MOST = 2**31 - 1
"""The largest `uinteger` of the protocol."""


@dataclass(frozen=True, slots=True)
class Target:
    """The place in a document that a request is about."""

    uri: str
    line: int
    character: int
    version: int | None
    """Version of the document, as far as the client says."""
    agent: bool
    """Whether it is written the older way: positions are in UTF-16, whatever was agreed on."""


def target_of(params: dict[str, Any]) -> Target | None:
    """Return the place that a request names, in `doc` or in `textDocument` and `position`; None if it names none."""
    doc, text_document = _object(params.get("doc")), _object(params.get("textDocument"))
    position = _object(doc.get("position")) or _object(params.get("position"))
    line, character = _coordinate(position.get("line")), _coordinate(position.get("character"))
    uri = uri_of(params)
    if not uri or line is None or character is None:
        return None
    version = _integer(doc.get("version"))
    return Target(
        uri, line, character, _integer(text_document.get("version")) if version is None else version, bool(doc)
    )


def uri_of(params: dict[str, Any]) -> str:
    """Return the document that the parameters name, or the empty string."""
    named = (_object(params.get(key)).get("uri") for key in ("doc", "textDocument"))
    return next((uri for uri in named if isinstance(uri, str) and uri), "")


def identifier_of(item: Any) -> str:
    """Return the argument of an item's accept command, or the empty string."""
    arguments = _object(_object(item).get("command")).get("arguments")
    first = arguments[0] if isinstance(arguments, list) and arguments else None
    return first if isinstance(first, str) else ""


def insert_text_of(item: Any) -> str:
    """Return an item's text, or the empty string; some plugins send back only its command."""
    text = _object(item).get("insertText")
    return text if isinstance(text, str) else ""


def length_of(value: Any) -> int | None:
    """Return a length in UTF-16 units, or None if it is none."""
    length = _integer(value)
    return None if length is None or length < 0 else length


def characters_within(text: str, units: int) -> int:
    """Return how many characters of `text` lie within its first `units` UTF-16 units; half of one does not count."""
    if text.isascii():
        return min(len(text), units)
    start = text.encode("utf-16-le", "surrogatepass")[: 2 * units]
    return len(start.decode("utf-16-le", "ignore"))


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _coordinate(value: Any) -> int | None:
    """Return a line or a column, cut to what the protocol allows: one out of range means the nearest in range."""
    number = _integer(value)
    return None if number is None else min(max(number, 0), MOST)


def _integer(value: Any) -> int | None:
    if isinstance(value, float) and value.is_integer():
        return int(value)  # some clients have only one kind of number
    return value if isinstance(value, int) and not isinstance(value, bool) else None
