"""What somebody does at the keyboard to make one edit: the next stroke follows from what is written and what shall be.

So it makes no difference how the text came to be there, and accepted text shortens the typing. A typo is typed on for
a moment, then taken back. The editor indents a new line as an editor does, and the typist corrects that where it is
wrong.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from enum import Enum

from benchmarks.replay.hunks import Hunk
from benchmarks.replay.rhythm import Rhythm, before_line, before_word, between_keys
from spark_lsp.documents.shared import shared_start

SINGLE_BACKSPACES = 12
"""Characters on one line up to which old text is deleted one by one; more is selected and deleted at once."""
OPENERS = {"python": ":([{", "rust": "{([", "c": "{(", "typescript": "{(["}
"""Ends of lines after which an editor indents by one level more."""
NEIGHBOURS = dict(zip("abcdefghijklmnopqrstuvwxyz", "svxfrghjoklknmpowtdyibecux", strict=True))
"""For each letter one that lies beside it on a QWERTY keyboard."""
_BLANKS = " \t"


class Kind(Enum):
    """What a stroke is."""

    KEY = "key"
    DELETE = "delete"
    JUMP = "jump"
    ACCEPT = "accept"


@dataclass(frozen=True, slots=True)
class Stroke:
    """Characters `start` to `end` of what is written become `text`, `delay` seconds after the stroke before."""

    kind: Kind
    start: int
    end: int
    text: str
    delay: float


@dataclass(frozen=True, slots=True)
class Indentation:
    """How the file and its language indent."""

    unit: str
    openers: str


def indentation_of(text: str, language: str) -> Indentation:
    """Return how `text` indents: by tabs, by two blanks where a tenth of the lines needs that, or by four."""
    found = re.findall(r"^([ \t]+)\S", text, re.MULTILINE)
    if 2 * sum(blanks[0] == "\t" for blanks in found) > len(found):
        return Indentation("\t", OPENERS[language])
    by_two = 10 * sum(len(blanks) % 4 == 2 for blanks in found) > len(found)
    return Indentation("  " if by_two else "    ", OPENERS[language])


class Typist:
    """Makes one edit. `written` is what stands between the text before and after the hunk."""

    def __init__(self, hunk: Hunk, line_before: str, indentation: Indentation, rhythm: Rhythm, seed: str) -> None:
        self.written = hunk.old
        self._target = hunk.new
        self._line_before = line_before
        self._indentation = indentation
        self._rhythm = rhythm
        self._seed = seed
        self._deleting = bool(hunk.old)
        self._unnoticed = 0
        """Keys that are still typed before a typo is noticed."""
        self._erred: set[int] = set()
        """Places where a typo was made: the second time the key is right."""

    @property
    def settled(self) -> bool:
        """Whether all that is written is right, so that the next characters belong at its end."""
        return not self._deleting and self._target.startswith(self.written)

    @property
    def quiet(self) -> bool:
        """Whether nothing should be suggested: what comes next is not typing, or a typo is not taken back yet."""
        stroke = self.stroke()
        return stroke is None or stroke.kind is Kind.DELETE or bool(self._unnoticed)

    def rest_after(self, back: int = 0) -> str | None:
        """Return what is still to be written once the last `back` characters are gone; None if these are in the way."""
        kept = self.written[: len(self.written) - back]
        if self._deleting or not self._target.startswith(kept):
            return None
        return self._target[len(kept) :]

    def stroke(self) -> Stroke | None:
        """Return the next stroke; None when the edit is made. Asking again without `apply` gives the same."""
        written = self.written
        if self._deleting:
            return self._delete_old()
        right = shared_start(written, self._target)
        surplus = written[right:]
        following = self._target[right : right + 1]
        if surplus and not surplus.strip(_BLANKS) and self._on_blank_line(right):
            if following == "\n":
                return self._enter(right)
            return self._backspace(min(len(surplus), len(self._indentation.unit)))
        if surplus and (not self._unnoticed or not self._typo_goes_on(right + len(surplus))):
            return self._backspace(1)
        place = len(written)
        if place >= len(self._target):
            return None
        return self._key(place)

    def apply(self, stroke: Stroke) -> None:
        """Take in that `stroke` was made."""
        self.written = self.written[: stroke.start] + stroke.text + self.written[stroke.end :]
        if self._deleting:
            self._deleting = bool(self.written)
            return
        if stroke.kind is not Kind.KEY:
            return
        if self._target.startswith(self.written) or not self.written.rpartition("\n")[2].strip(_BLANKS):
            self._unnoticed = 0
        elif stroke.start not in self._erred and not self._unnoticed:
            self._erred.add(stroke.start)
            self._unnoticed = self._chance("noticed", stroke.start).randint(0, self._rhythm.unnoticed_most)
        else:
            self._unnoticed = max(0, self._unnoticed - 1)

    def _delete_old(self) -> Stroke:
        end = len(self.written)
        single = end <= SINGLE_BACKSPACES and "\n" not in self.written
        return Stroke(Kind.DELETE, end - 1 if single else 0, end, "", self._backspace_seconds(end))

    def _backspace(self, count: int) -> Stroke:
        end = len(self.written)
        return Stroke(Kind.DELETE, end - count, end, "", self._backspace_seconds(end))

    def _backspace_seconds(self, place: int) -> float:
        return self._rhythm.backspace * self._chance("backspace", place).uniform(0.7, 1.3)

    def _typo_goes_on(self, place: int) -> bool:
        return self._target[place : place + 1].isalnum()

    def _on_blank_line(self, place: int) -> bool:
        """Whether only blanks stand on the line before that place of what is written."""
        return not (self._line_before + self.written[:place]).rpartition("\n")[2].strip(_BLANKS)

    def _key(self, place: int) -> Stroke:
        character = self._target[place]
        chance = self._chance("key", place)
        delay = between_keys(self._rhythm, chance)
        before = self.written[-1:] or self._line_before[-1:]
        if character == "\n":
            return self._enter(place, delay)
        if self._on_blank_line(place):
            if character in _BLANKS:  # the tab key
                unit = len(self._indentation.unit)
                piece = self._target[place : place + unit]
                blanks = piece[: len(piece) - len(piece.lstrip(_BLANKS))]
                return Stroke(Kind.KEY, place, place, blanks, delay)
            delay += before_line(self._rhythm, chance)
        elif character.isalnum() and not before.isalnum():
            delay += before_word(self._rhythm, chance)
        wrong = NEIGHBOURS.get(character)
        if wrong and self.settled and place not in self._erred and chance.random() < self._rhythm.typo_share:
            character = wrong
        return Stroke(Kind.KEY, place, place, character, delay)

    def _enter(self, place: int, delay: float | None = None) -> Stroke:
        """Return Enter, which takes blanks off a line that has nothing else and indents the next one."""
        text = self._line_before + self.written[:place]
        line = text.rpartition("\n")[2]
        stripped = line.rstrip(_BLANKS)
        whole = line if stripped else line + self.written[place:]
        indent = whole[: len(whole) - len(whole.lstrip(_BLANKS))]
        if stripped.endswith(tuple(self._indentation.openers)):
            indent += self._indentation.unit
        if delay is None:
            delay = between_keys(self._rhythm, self._chance("key", place))
        return Stroke(Kind.KEY, place, len(self.written), "\n" + indent, delay)

    def _chance(self, what: str, place: int) -> random.Random:
        return random.Random(f"{self._seed} {what} {place}")
