"""A client's content change applied to a snapshot.

The new line starts come from the old ones: those before the edit are kept, those behind it are shifted, and only the
inserted text with one character on either side is scanned.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from spark_lsp.documents.positions import Encoding, offset_at
from spark_lsp.documents.shared import shared_start
from spark_lsp.documents.text import TextSnapshot, frozen_line_starts, line_ends


@dataclass(frozen=True, slots=True)
class Range:
    """A place in a document in the client's units; the start may lie behind the end."""

    start_line: int
    start_character: int
    end_line: int
    end_character: int


@dataclass(frozen=True, slots=True)
class ContentChange:
    """`text` takes the place of `range`, or of the whole document when there is no range."""

    text: str
    range: Range | None = None


def apply_change(
    snapshot: TextSnapshot, change: ContentChange, encoding: Encoding, version: int | None = None
) -> TextSnapshot:
    """The snapshot after one change; without a `version` it keeps the old one. A range out of bounds is clamped."""
    if version is None:
        version = snapshot.version
    where = change.range
    if where is None:
        return TextSnapshot.of(change.text, version)
    one = offset_at(snapshot, where.start_line, where.start_character, encoding)
    other = offset_at(snapshot, where.end_line, where.end_character, encoding)
    return _spliced(snapshot, min(one, other), max(one, other), change.text, version)


def apply_changes(
    snapshot: TextSnapshot, changes: Iterable[ContentChange], encoding: Encoding, version: int | None
) -> TextSnapshot:
    """The snapshot after all changes, each of which refers to the text that the one before it left."""
    for change in changes:
        snapshot = apply_change(snapshot, change, encoding)
    return replace(snapshot, version=version)


def removes_one_character(before: str, after: str) -> bool:
    """Whether `after` is `before` without one character, as one press of a key removes it; CR LF counts as one."""
    removed = len(before) - len(after)
    if removed not in (1, 2):
        return False
    same = shared_start(before, after)
    if removed == 1:
        return before[same + 1 :] == after[same:]
    # A "\r" in front of the pair is the same as the first of the pair.
    return any(before[at : at + 2] == "\r\n" and before[at + 2 :] == after[at:] for at in (same, same - 1) if at >= 0)


def _spliced(snapshot: TextSnapshot, start: int, end: int, inserted: str, version: int | None) -> TextSnapshot:
    old = snapshot.line_starts
    text = snapshot.text[:start] + inserted + snapshot.text[end:]
    # Whether a line starts at p follows from the characters p-1 and p alone ("\r" then "\n" does not break between).
    # So only the starts from `start` to the end of the inserted text can differ; the character before and the one
    # behind are scanned too because the edit may split or join a "\r\n" there.
    scan_from = max(start - 1, 0)
    last = start + len(inserted)
    scanned = line_ends(text[scan_from : last + 1]) + scan_from
    head = old[: max(int(np.searchsorted(old, start, side="left")), 1)]
    touched = scanned[(scanned >= start) & (scanned <= last)]
    tail = old[int(np.searchsorted(old, end, side="right")) :] + (last - end)
    return TextSnapshot(text, frozen_line_starts(head, touched, tail), version)
