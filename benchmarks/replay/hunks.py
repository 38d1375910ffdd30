"""The places in which two versions of a file differ, as somebody would edit them. Pure."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass

from spark_lsp.documents.shared import shared_start

LEAST_CHARACTERS = 12
"""Of the new text without blanks: less is no writing."""
MOST_CHARACTERS = 260
"""Of the new text: about a minute of typing."""
MOST_LINES = 10
LONGEST_LINE = 120
MOST_FILE_LINES = 2500
"""The comparison takes quadratic time."""
_WORD = re.compile(r"\w")


@dataclass(frozen=True, slots=True)
class Hunk:
    """One edit: `old` becomes `new`, which stands at `start` of the newer version."""

    start: int
    old: str
    new: str


def hunks(old: str, new: str) -> list[Hunk]:
    """Return the edits of moderate size that lead from `old` to `new`, in the order of the text."""
    before, after = old.splitlines(keepends=True), new.splitlines(keepends=True)
    if max(len(before), len(after)) > MOST_FILE_LINES:
        return []
    starts = [0]
    for line in after:
        starts.append(starts[-1] + len(line))
    found = []
    for tag, first, last, begin, end in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag in ("insert", "replace"):
            hunk = _as_typed(starts[begin], "".join(before[first:last]), "".join(after[begin:end]), new)
            if _moderate(hunk):
                found.append(hunk)
    return found


def _as_typed(start: int, old: str, new: str, text: str) -> Hunk:
    """Return the edit as it is made: new lines follow Enter at the end of a line, and what stays is not retyped."""
    if not old and start and new.endswith("\n") and text[start - 1] == "\n":
        return Hunk(start - 1, "", "\n" + new[:-1])
    head = shared_start(old, new)
    while head and _inside_word(new, head):
        head -= 1
    most = min(len(old), len(new)) - head
    tail = min(most, shared_start(old[::-1], new[::-1]))
    while tail and _inside_word(new, len(new) - tail):
        tail -= 1
    return Hunk(start + head, old[head : len(old) - tail], new[head : len(new) - tail])


def _inside_word(text: str, place: int) -> bool:
    return 0 < place < len(text) and bool(_WORD.match(text[place - 1]) and _WORD.match(text[place]))


def _moderate(hunk: Hunk) -> bool:
    lines = hunk.new.split("\n")
    return (
        len("".join(hunk.new.split())) >= LEAST_CHARACTERS
        and len(hunk.new) <= MOST_CHARACTERS
        and len(hunk.old) <= 2 * MOST_CHARACTERS
        and len(lines) <= MOST_LINES
        and max(map(len, lines)) <= LONGEST_LINE
        and hunk.new.isascii()
        and not hunk.new.isspace()
        and "".join(hunk.new.split()) != "".join(hunk.old.split())
    )
