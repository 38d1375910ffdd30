"""Which brackets of a code belong together."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

_BRACKET = re.compile(r"[()\[\]{}]")
_OPENER = {")": "(", "]": "[", "}": "{"}
TOP = -1
"""Stands for the opener of what no bracket encloses."""


@dataclass(frozen=True, slots=True)
class Brackets:
    """The brackets of a code without strings."""

    code: str
    pairs: Mapping[int, int]
    """Where the bracket that is opened at an offset is closed; the length of the code if it is not."""
    parents: Mapping[int, int]
    """The opener around each opener; `TOP` for none."""
    inner: Mapping[int, tuple[int, ...]]
    """The openers directly within each opener, and within `TOP`, in order."""
    torn: frozenset[int]
    """Openers, `TOP` among them, directly within which a bracket has no partner."""
    openers: tuple[int, ...]

    @staticmethod
    def of(code: str) -> Brackets:
        """Return the brackets of a code. A brace ends whatever round or square one is open in it."""
        pairs: dict[int, int] = {}
        parents: dict[int, int] = {}
        inner: dict[int, list[int]] = {TOP: []}
        torn: set[int] = set()
        open_: list[int] = [TOP]
        for found in _BRACKET.finditer(code):
            at, kind = found.start(), found[0]
            opener = _OPENER.get(kind)
            if opener is None:
                parents[at] = open_[-1]
                inner[open_[-1]].append(at)
                inner[at] = []
                open_.append(at)
                continue
            if open_[-1] != TOP and code[open_[-1]] == opener:
                pairs[open_.pop()] = at
                continue
            place = len(open_) - 1
            while place and code[open_[place]] != opener and (opener == "{" or code[open_[place]] != "{"):
                place -= 1
            if not place or code[open_[place]] != opener:
                torn.add(open_[-1])
                continue
            for lost in open_[place + 1 :]:
                pairs[lost] = at
                torn.add(parents[lost])
            pairs[open_[place]] = at
            del open_[place:]
        for lost in open_[1:]:
            pairs[lost] = len(code)
            torn.add(parents[lost])
        frozen = {opener: tuple(found) for opener, found in inner.items()}
        return Brackets(code, pairs, parents, frozen, frozenset(torn), tuple(parents))

    @property
    def whole(self) -> bool:
        """Whether every brace has its partner; others may be missing."""
        return not any(self.code[opener] == "{" and end == len(self.code) for opener, end in self.pairs.items()) and (
            TOP not in self.torn
        )

    def around(self, at: int) -> list[int]:
        """Return the openers around an offset, the innermost last."""
        return [opener for opener in self.openers[: bisect_left(self.openers, at)] if self.pairs[opener] >= at]

    def upwards(self, opener: int) -> Iterator[int]:
        """Yield an opener and those around it."""
        while opener != TOP:
            yield opener
            opener = self.parents[opener]

    def flat(self, opener: int) -> str:
        """Return the code within an opener with the insides of all brackets in it blanked, line ends too."""
        start, end = (opener + 1, self.pairs[opener]) if opener != TOP else (0, len(self.code))
        parts = []
        for one in self.inner[opener]:
            parts.append(self.code[start : one + 1])
            start = self.pairs[one]
            parts.append(" " * (start - one - 1))
        return "".join(parts) + self.code[start:end]
