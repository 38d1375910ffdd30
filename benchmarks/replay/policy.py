"""When a suggestion is accepted: as soon as it is noticed to be right, whole, or its first line, or its first word."""

from __future__ import annotations

import re
from dataclasses import dataclass

from spark_lsp.documents.shared import shared_start

_FIRST_WORD = re.compile(r"\s*\S+")
_WORD_END = re.compile(r"\w")


@dataclass(frozen=True, slots=True)
class AcceptPolicy:
    """What somebody takes of a suggestion."""

    whole: bool = True
    """The whole text, if the author writes exactly that next."""
    line: bool = True
    """The first line, if the author does so up to its end."""
    word: bool = True
    """The first word, if the author does."""
    least_characters: int = 3
    """Of what is accepted, blanks apart: for less nobody reaches for another key."""

    def accepted(self, text: str, rest: str) -> int:
        """Return how many leading characters of `text` are accepted where `rest` is what the author writes next."""
        right = text[: shared_start(text, rest)]
        visible = text.rstrip()
        if self.whole and visible and len(right) >= len(visible):
            return self._worth(right)
        first_line = visible.partition("\n")[0]
        if self.line and first_line.strip() and len(right) >= len(first_line):
            return self._worth(first_line)
        word = _FIRST_WORD.match(visible)
        if self.word and word is not None and len(right) >= word.end() and _ends_word(rest, word.end()):
            return self._worth(word[0])
        return 0

    def _worth(self, text: str) -> int:
        return len(text) if len("".join(text.split())) >= self.least_characters else 0


def right_characters(text: str, rest: str | None) -> int:
    """Return how many leading characters of `text` the author writes next; blanks at its end do no harm."""
    if rest is None:
        return 0
    right = shared_start(text, rest)
    return len(text) if right >= len(text.rstrip()) else right


def _ends_word(rest: str, place: int) -> bool:
    return not (_WORD_END.match(rest[place - 1 : place]) and _WORD_END.match(rest[place : place + 1]))


def policy_of(names: str) -> AcceptPolicy:
    """Return the policy that accepts what `names` lists with commas. Raises ValueError."""
    chosen = set(names.split(","))
    if not chosen <= {"whole", "line", "word"}:
        raise ValueError("--accept is made of whole, line and word")
    return AcceptPolicy("whole" in chosen, "line" in chosen, "word" in chosen)
