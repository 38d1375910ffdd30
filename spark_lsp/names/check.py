"""Whether the names that a suggestion writes after a dot exist.

A verdict falls as soon as it can: when what is written of a name begins no known one, or when the name has ended. Only
where the name may be assigned to (`self.x = ...`), which defines it, the next character is waited for.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from spark_lsp.names.writing import Access, NamesAtPlace, Writing

_MOST_TYPED = 120
"""Characters of a receiver and a name that were typed."""


@dataclass(frozen=True, slots=True)
class Look:
    """What is to be said of the names in a text; offsets in the text, negative for what was typed before it."""

    unknown: int | None = None
    """Where the first name begins that is not a known one."""
    undecided: int | None = None
    """Where the last name begins, if the rest of it may still make it a known one or an unknown one."""


class ReadDocument(Protocol):
    """A document that was read, without the line of the cursor."""

    def at(self, before: str, after: str) -> NamesAtPlace:
        """Return what is known where the cursor's line has these two parts."""


class MemberCheck:
    """Judges the suggestions for one place. Pure: equal texts get equal answers."""

    def __init__(self, read: Callable[[], ReadDocument], writing: Writing, before: str, after: str) -> None:
        """Judge texts between `before` and `after`, the parts of the cursor's line.

        `read()` gives the document, and is called only when there is a name to judge.
        """
        self._read = read
        self._writing = writing
        self._members: NamesAtPlace | None = None
        self._before, self._after = before, after
        self._known: dict[tuple[str, str], tuple[str, ...] | None] = {}

    def prepare(self) -> None:
        """Read the document now."""
        self._read()

    def look(self, text: str, behind: int, *, ended: bool = False) -> Look:
        """Return what can be said of the names in `text` that begin after the offset `behind`.

        With `ended`, nothing but the rest of the line follows.
        """
        if "." not in text and "." not in self._before[-_MOST_TYPED:]:
            return Look()
        whole = self._before + text
        code = self._writing.code(whole + (self._after + "\n" if ended else ""))
        for access in self._writing.accesses(code):
            begin, end = access.begin - len(self._before), access.begin + len(access.name)
            if access.begin >= len(whole) + (not ended) or end > len(whole):
                break  # it belongs to what follows the cursor, or goes on there
            if begin <= behind or end < len(self._before) or (end == len(self._before) and text):
                continue
            open_ended = end == len(whole) and not ended
            verdict = self._verdict(access, code, open_ended)
            if verdict is not None:
                return Look(unknown=begin) if verdict else Look(undecided=begin)
        return Look()

    def possible(self, text: str, begin: int) -> bool:
        """Whether the name that begins at `begin` is a known one in `text`, or may still become one."""
        whole, start = self._before + text, begin + len(self._before)
        if len(whole) < start:
            return False
        code = self._writing.code(whole)
        receiver = self._writing.receiver(code[:start])
        known = self._names(receiver, code[:start]) if receiver is not None else None
        if known is None:
            return False
        name = self._writing.name(code, start)
        return _begins(name, known) if start + len(name) == len(whole) else name in known

    def _verdict(self, access: Access, code: str, open_ended: bool) -> bool | None:
        """True for an unknown name, False if that is still open, None if there is nothing to say against it."""
        name = access.name
        line = code[code.rfind("\n", 0, access.begin) + 1 : access.start]
        if not self._writing.is_judged(name, line):
            return None
        known = self._names(access.receiver, code[: access.begin])
        if known is None or not _begins(self._before[access.begin :], known):
            return None
        if open_ended:
            waits = self._writing.may_be_target(line) or _begins(name, known)
            return not waits
        if name in known:
            return None
        if not self._writing.may_be_target(line):
            return True
        return self._writing.is_use(code[access.begin + len(name) :], line)

    def _names(self, receiver: str, code: str) -> tuple[str, ...] | None:
        key = receiver, code
        if key not in self._known:
            if self._members is None:
                self._members = self._read().at(self._before, self._after)
            found = self._members.of(receiver, code)
            self._known[key] = tuple(sorted(found)) if found is not None else None
        return self._known[key]


def _begins(part: str, known: tuple[str, ...]) -> bool:
    at = bisect_left(known, part)
    return at < len(known) and known[at].startswith(part)
