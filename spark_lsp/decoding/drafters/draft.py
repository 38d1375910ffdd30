"""What a drafter is given and what it gives.

A drafter guesses the tokens that the model is about to write, the model then checks the guess in one step. A guess
comes with the probability of each token, which decides how much of it is worth checking (`length`).

The order of calls is ``start``, and then for every step ``propose``, ``observe`` (only if a draft was sent to the
model), ``append``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

MOST_SUPPORT = 2
"""Whether one place goes on so, or several, is a large difference; three places say hardly more than two."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A guess at the next tokens."""

    tokens: tuple[int, ...]
    confidences: tuple[float, ...]
    """For each token the estimated probability that it is accepted, given that all before it were."""
    source: str
    """`Drafter.name` of the drafter that made it."""
    match_length: int
    """Tokens before the draft that agree with the place it was copied from."""
    support: int = 1
    """Places with that match which go on with the same first token, `MOST_SUPPORT` at most; 0 if places disagree."""
    probabilities: tuple[float, ...] = ()
    """What a draft model gave each token; empty for tokens that were copied."""
    seconds: float = 0.0
    """What making the draft took, 0 for a copy. Tokens may be missing where the time came to nothing."""

    def __post_init__(self) -> None:
        if len(self.tokens) != len(self.confidences):
            raise ValueError(f"{len(self.tokens)} tokens but {len(self.confidences)} confidences")

    def __len__(self) -> int:
        return len(self.tokens)

    def cut(self, length: int) -> Draft:
        """Return the first `length` tokens as a draft."""
        if length >= len(self.tokens):
            return self
        return replace(
            self,
            tokens=self.tokens[:length],
            confidences=self.confidences[:length],
            probabilities=self.probabilities[:length],
        )


@dataclass(frozen=True, slots=True)
class DraftContext:
    """The tokens around the cursor. Document order is above, tail, cursor, below."""

    above: tuple[int, ...]
    tail: tuple[int, ...]
    """Ends where the generated tokens begin: without the tokens that were taken off for healing."""
    below: tuple[int, ...]
    previous: tuple[int, ...] = ()
    """What stood or was suggested from the end of `tail` on: the rest of the last suggestion, or the deleted text."""
    end_token: int | None = None
    """Proposed where a draft reaches `below`; with None such a draft ends there. The row after the last draft token
    shows the end of generation for free, so None costs a row less."""
    prompt: tuple[int, ...] = ()
    """All that the model is given, control tokens included."""


class Drafter(Protocol):
    """One source of drafts. Belongs to the engine's thread."""

    @property
    def name(self) -> str:
        """Short name for statistics."""

    def start(self, context: DraftContext) -> None:
        """Begin a generation."""

    def append(self, tokens: Sequence[int]) -> None:
        """Take in the tokens that the model has written since, healed ones included."""

    def propose(self, limit: int, pending: int = 1) -> Draft | None:
        """Return a draft of 1 to `limit` tokens, or None; without tokens only if it says what trying took.

        `pending` tokens are decoded in the same step in any case.
        """

    def observe(self, draft: Draft, accepted: int) -> None:
        """Learn that the model wrote the first `accepted` tokens of `draft` and then, if any are left, another one."""
