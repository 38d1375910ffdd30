"""A fault as another program reports it, and what its message says.

Messages are read, not codes: linters and type checkers share wordings far more than codes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_NAME = r"[`'\"‘“]?([^\W\d]\w*)[`'\"’”]?"
_UNDEFINED = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"undefined (?:name|variable|identifier)[:\s]+{_NAME}",
        rf"(?:name |cannot find name |unresolved reference ){_NAME}(?: is not defined)?",
        rf"{_NAME} (?:is not defined|is undefined|was not declared)",
        rf"use of undeclared identifier {_NAME}",
    )
)
_NOT_NAMES = frozenset({"name", "variable", "it", "is", "which", "that"})
_SUPERFLUOUS = re.compile(
    r"\b(?:unused|never used|not used|not accessed|redefin\w+|redeclar\w+|duplicate\w*|repeated|unreachable"
    r"|unnecessary|redundant|superfluous|useless|no effect|extra|unexpected|remove)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Fault:
    """One finding in one version of a document."""

    start: int
    """Offset in code points."""
    end: int
    """At least `start`; reporters that know no end give the same offset, or the end of the line."""
    message: str
    """On one line."""


def undefined_name(message: str) -> str | None:
    """Return the name that a message says is not defined; None if it says nothing of the kind."""
    for pattern in _UNDEFINED:
        match = pattern.search(message)
        if match is not None and match.group(1).lower() not in _NOT_NAMES:
            return match.group(1)
    return None


def asks_for_less(message: str) -> bool:
    """Whether what a message complains of may be repaired by taking code out."""
    return _SUPERFLUOUS.search(message) is not None
