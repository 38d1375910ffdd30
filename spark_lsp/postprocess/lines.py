"""A text that was cut off at an arbitrary token."""

from __future__ import annotations


def whole_lines(text: str) -> str:
    """Return `text` without its last, maybe unfinished line, unless that is the only one."""
    head, newline, _last = text.rpartition("\n")
    return head if newline and head.strip() else text
