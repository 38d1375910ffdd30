"""Whether the names that a suggestion writes after a dot exist.

A verdict falls as soon as it can: when what is written of a name begins no known one, or when the name has ended. Only
where the name may be assigned to (`self.x = ...`), which defines it, the next character is waited for.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from spark_lsp.names.buffer import Buffer
from spark_lsp.names.lines import without_strings
from spark_lsp.names.members import Members

_CHAIN = re.compile(r"(?<![\w.)\]}\"'])[^\W\d]\w*(?:\.\w*)+")
_MAY_BE_TARGET = re.compile(r"(?:^|[;:])\s*[(\[]?\s*(?:[\w.]+\s*,\s*)*$")
_IS_TARGET = re.compile(r"(?:^|\W)(?:for|as)\s+[(\[]?\s*(?:[\w.]+\s*,\s*)*$")
_IMPORT = re.compile(r"\s*(?:import|from)\b")


@dataclass(frozen=True, slots=True)
class Look:
    """What is to be said of the names in a text; offsets in the text, negative for what was typed before it."""

    unknown: int | None = None
    """Where the first name begins that is not a known one."""
    undecided: int | None = None
    """Where the last name begins, if the rest of it may still make it a known one or an unknown one."""


@dataclass(frozen=True, slots=True)
class _Access:
    receiver: str
    begin: int
    name: str


class MemberCheck:
    """Judges the suggestions for one place. Pure: equal texts get equal answers."""

    def __init__(self, read: Callable[[], Buffer], before: str, after: str) -> None:
        """Judge texts between `before` and `after`, the parts of the cursor's line.

        `read()` gives the document, and is called only when there is a name to judge.
        """
        self._read = read
        self._members: Members | None = None
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
        code = without_strings(whole + (self._after + "\n" if ended else ""))[0]
        for access in _accesses(code):
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
        code = without_strings(whole)[0]
        receiver = re.search(r"[\w.]*\.$", code[:start])
        known = self._names(receiver.group()[:-1], code[:start]) if receiver is not None else None
        name = re.match(r"\w*", code[start:])
        if known is None or name is None:
            return False
        if start + name.end() == len(whole):
            return _begins(name.group(), known)
        return name.group() in known

    def _verdict(self, access: _Access, code: str, open_ended: bool) -> bool | None:
        """True for an unknown name, False if that is still open, None if there is nothing to say against it."""
        name = access.name
        if name.startswith("_") or not name.isascii():
            return None
        line = code[code.rfind("\n", 0, access.begin) + 1 : access.begin - len(access.receiver) - 1]
        if _IMPORT.match(line) or _IS_TARGET.search(line):
            return None
        known = self._names(access.receiver, code[: access.begin])
        if known is None or not _begins(self._before[access.begin :], known):
            return None
        if open_ended:
            waits = _MAY_BE_TARGET.search(line) is not None or _begins(name, known)
            return not waits
        if name in known:
            return None
        if _MAY_BE_TARGET.search(line) is None:
            return True
        return _is_use(code[access.begin + len(name) :])

    def _names(self, receiver: str, code: str) -> tuple[str, ...] | None:
        key = receiver, code
        if key not in self._known:
            if self._members is None:
                self._members = Members(self._read(), self._before, self._after)
            found = self._members.of(receiver, code)
            self._known[key] = tuple(sorted(found)) if found is not None else None
        return self._known[key]


_MOST_TYPED = 120
"""Characters of a receiver and a name that were typed."""


def _is_use(following: str) -> bool | None:
    """Whether what follows a name at the start of a statement shows that it is not assigned to; False if not known."""
    stripped = following.lstrip(" \t")
    if not stripped:
        return False
    if stripped[0] in ":,":
        return None
    if stripped[0] != "=":
        return True
    return False if len(stripped) == 1 else (True if stripped[1] == "=" else None)


def _accesses(code: str) -> Iterator[_Access]:
    for chain in _CHAIN.finditer(code):
        parts = chain.group().split(".")
        at = chain.start() + len(parts[0])
        for index in range(1, len(parts)):
            if not parts[index - 1]:
                break
            yield _Access(".".join(parts[:index]), at + 1, parts[index])
            at += 1 + len(parts[index])


def _begins(part: str, known: tuple[str, ...]) -> bool:
    at = bisect_left(known, part)
    return at < len(known) and known[at].startswith(part)
