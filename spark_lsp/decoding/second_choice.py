"""Where a text uses a name that does not exist, the model's second choice is tried.

The loop goes back to the tokens of the name. Of all tokens that could stand there in place of the model's own and are
probable enough, the one wins with which the name is most probable so far; else the model's text stays, and is marked.
The token put in has the probability that the model gives it where what makes no name is out of the question, so that
the gate does not count against a text what was found out to be wrong.

All this depends on the accepted tokens only, one after the other, so the text is the same with and without drafts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from spark_lsp.decoding.engine import Row
from spark_lsp.decoding.healing import PieceTable
from spark_lsp.decoding.output import Output
from spark_lsp.decoding.sampling import Choice
from spark_lsp.names.check import Look

LEAST_PROBABILITY = 0.02
"""Of a token that is put in, at its place; below, the model means something else altogether. Tried with the default
model on 14 places where it invents a name of a class in another file: 0.05 gave a right name at 5, 0.02 at 7."""
MOST_RETURNS = 4
"""Returns in one generation; each decodes a few tokens alone."""
MOST_PLACES = 4
"""Tokens of a name at which another one is tried."""
_BEFORE_ALL = -(1 << 30)


class NameCheck(Protocol):
    """Knows names; `spark_lsp.names.check.MemberCheck` says what is asked."""

    def look(self, text: str, behind: int, *, ended: bool = False) -> Look:
        """Return what can be said of the names in `text` that begin after the offset `behind`."""

    def possible(self, text: str, begin: int) -> bool:
        """Whether the name that begins at `begin` is a known one in `text`, or may still become one."""


@dataclass(frozen=True, slots=True)
class Replacement:
    """A token in place of another."""

    index: int
    """Of the output token that it replaces; those behind go."""
    choice: Choice
    share: float
    """The model's probability of it, among all tokens."""


class NameWatch:
    """Looks at the names of one generation."""

    def __init__(self, check: NameCheck | None) -> None:
        self._check = check
        self._behind = _BEFORE_ALL
        self._returns = MOST_RETURNS
        self._undecided: int | None = None
        self._ended = False
        self.begin: int | None = None
        """Where a name begins that does not exist and that nothing was done about yet."""
        self.unknown: list[int] = []
        """Where the names begin that stayed although they do not exist."""
        self.replaced = 0
        """Tokens that were replaced."""

    def look(self, output: Output, before: Callable[[], bool] = lambda: False, *, ended: bool = False) -> bool:
        """Look at the text after a token; True if a name does not exist. `before()` tells whether it ended earlier."""
        self.begin = self._undecided = None
        self._ended = ended
        if self._check is None or output.untyped or output.broken:
            return False
        found = self._check.look(output.text, self._behind, ended=ended)
        self._undecided = found.unknown if found.undecided is None else found.undecided
        if found.unknown is not None and not before():
            self.begin = found.unknown
        return self.begin is not None

    def settled(self, text: str) -> str:
        """Return the part of the text that cannot be taken back any more."""
        return text if self._undecided is None else text[: max(self._undecided, 0)]

    def leave(self, output: Output) -> None:
        """Let the name stay as the model wrote it, and look at what follows it."""
        if self.begin is not None:
            self.unknown.append(self.begin)
            self._behind = self.begin
            self.look(output, ended=self._ended)

    def replacement(self, output: Output, table: PieceTable, row_at: Callable[[int], Row]) -> Replacement | None:
        """Return what to write in place of the name at `begin`; None to leave it.

        `row_at(index)` gives the logits for the output token of that index, from a decode of one token.
        """
        check, begin = self._check, self.begin
        if check is None or begin is None or self._returns == 0:
            return None
        self._returns -= 1
        first = output.token_at(begin)
        best: Replacement | None = None
        kept, most = 1.0, 0.0
        for index in range(first, min(len(output.tokens), first + MOST_PLACES)):
            found = _second(check, begin, output, index, table, row_at(index))
            if found is not None and kept * found.share > most:
                best, most = found, kept * found.share
            kept *= output.probabilities[index]
            text, untyped = output.upto(index + 1)
            if not untyped and len(text) > begin and not check.possible(text, begin):
                break
        if best is not None:
            self.replaced += 1
        return best


def _second(
    check: NameCheck, begin: int, output: Output, index: int, table: PieceTable, row: Row
) -> Replacement | None:
    """Return the most probable other token for which the name is possible, None if all are too improbable."""
    written, untyped = output.upto(index)
    allowed = table.allowed(untyped) if untyped else np.arange(len(row), dtype=np.int32)
    with np.errstate(invalid="ignore", over="ignore"):
        values = row[allowed]
        shares = np.exp(values - values.max(initial=-np.inf), dtype=np.float32)
        shares /= shares.sum()
    likely: Sequence[int] = [int(place) for place in np.flatnonzero(shares >= LEAST_PROBABILITY)]
    head, impossible = output.text[: max(begin, 0)], 0.0
    for place in sorted(likely, key=lambda place: -shares[place]):
        token, share = int(allowed[place]), float(shares[place])
        if token == output.tokens[index]:
            impossible += share
            continue
        text, rest = output.upto(index, token)
        if (text, rest) == (written, untyped):
            continue  # a control token; one that ends the text is no name
        spells_typed = bool(rest) and not text
        if spells_typed or (text.startswith(head) and "\ufffd" not in text and check.possible(text, begin)):
            return Replacement(index, Choice(token, min(1.0, share / max(1.0 - impossible, share))), share)
        impossible += share
    return None
