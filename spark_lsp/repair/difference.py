"""The smallest edit between the old lines and the new ones, and whether it is one that a repair may make."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher

from spark_lsp.documents.shared import shared_end, shared_start

MOST_LINES = 4
"""Lines that a repair may touch. More is a rewrite, which nobody asked for."""
LEAST_ALIKE = 0.5
"""Share of its characters that a changed line has to keep, as `difflib` counts it. A typo keeps 0.8 and more; a line
that was made up anew 0.3."""
_LINE_END = re.compile(r"\r\n|\r|\n")
_CODE = re.compile(r"\w")


@dataclass(frozen=True, slots=True)
class Edit:
    """Put `text` in the place of what stands from `start` to `end`."""

    start: int
    end: int
    text: str

    def applied(self, text: str) -> str:
        """Return `text` with the edit made."""
        return text[: self.start] + self.text + text[self.end :]


def smallest_edit(old: str, new: str) -> Edit:
    """Return the shortest edit that makes `new` of `old` in one place."""
    start = shared_start(old, new)
    kept = shared_end(old[start:], new[start:], min(len(old), len(new)) - start)
    return Edit(start, len(old) - kept, new[start : len(new) - kept])


def in_document(edit: Edit, text: str, begin: int, eol: str) -> Edit:
    """Return an edit of lines that had LF line ends as one of the document `text`, in which they stand from `begin` on.

    Line ends that the edit does not touch stay as they are.
    """

    def place(offset: int) -> int:
        at = begin
        for match in _LINE_END.finditer(text, begin):
            if offset <= match.start() - at:
                break
            offset -= match.start() - at + 1
            at = match.end()
        return at + offset

    return Edit(place(edit.start), place(edit.end), edit.text.replace("\n", eol))


def too_much(old: str, new: str, *, may_delete: bool) -> str | None:
    """Return why `new` differs too much from `old` to be a repair of one fault, as a sentence; None if it does not."""
    before, after = old.split("\n"), new.split("\n")
    removed = added = 0
    for tag, first, last, begin, end in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        gone, come = _code_lines(before[first:last]), _code_lines(after[begin:end])
        removed, added = removed + len(gone), added + len(come)
        if len(come) < len(gone) and not may_delete:
            return "The model would only take code out."
        if any(_alike(one, other) < LEAST_ALIKE for one, other in zip(gone, come, strict=False)):
            return "The model would write another line in place of the faulty one."
    if max(removed, added) > MOST_LINES:
        return f"The model would change {max(removed, added)} lines."
    return None


def _code_lines(lines: list[str]) -> list[str]:
    stripped = [line.strip() for line in lines]
    return [line for line in stripped if line and not line.startswith(("#", "//"))]


def _alike(one: str, other: str) -> float:
    if not _CODE.search(one) and not _CODE.search(other):
        return 1.0  # brackets say nothing
    return SequenceMatcher(None, one, other, autojunk=False).ratio()
