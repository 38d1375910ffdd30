"""Drafts from what stood at the cursor before: the last suggestion, or the text that is being rewritten.

While the output follows the old text, the rest of it is the draft. Where the output departs, the drafter waits until it
rejoins: at the place where most of its last tokens agree, the nearest of several.

Tried on the passages that `REWRITTEN_PRIOR` was measured on, and left out for gaining nothing: to guess at once that a
single token was replaced, to believe a single token that agrees, and to carry a replaced name over to the rest of the
old text.
"""

from __future__ import annotations

from collections.abc import Sequence

from spark_lsp.decoding.drafters.confidence import REWRITTEN_PRIOR, Confidence
from spark_lsp.decoding.drafters.draft import Draft, DraftContext

MAX_TOKENS = 2048
"""Old text kept: more than a suggestion can have, and several screenfuls that are rewritten."""
PLACED_EVIDENCE = 4
"""Match length that standing at the same place counts for, before any token agreed."""
MIN_EVIDENCE = 2
"""Tokens in a row that must agree for the output to have rejoined; a single one is often a bracket or a comma."""
COMPARED = 8
"""Tokens compared to choose between places; the choice is no better with more."""
SEARCHED = 256
"""Tokens searched to both sides of the departure, about 25 lines: a block that was inserted, dropped or moved.
Searching 64 was measured 2 % slower, all of it no faster, and this far it takes a few microseconds."""


class PreviousDrafter:
    """The old text, aligned to the output."""

    name = "previous"

    def __init__(self, confidence: Confidence | None = None) -> None:
        self._confidence = confidence or Confidence(REWRITTEN_PRIOR)
        self._align(())

    def start(self, context: DraftContext) -> None:
        """Align the old text at the cursor."""
        self._align(context.previous[:MAX_TOKENS])

    def append(self, tokens: Sequence[int]) -> None:
        """Follow the output."""
        for token in tokens:
            self._output.append(token)
            if self._evidence and self._next < len(self._old) and self._old[self._next] == token:
                self._next += 1
                self._evidence += 1
            else:
                self._rejoin(token)
            if self._evidence:
                self._departure = self._next

    def propose(self, limit: int, pending: int = 1) -> Draft | None:
        """Return the old text from where the output is."""
        if not self._evidence:
            return None
        tokens = tuple(self._old[self._next : self._next + limit])
        if not tokens:
            return None
        return Draft(tokens, self._confidence.estimate(self._evidence, 1, len(tokens)), self.name, self._evidence)

    def observe(self, draft: Draft, accepted: int) -> None:
        """Count how the draft fared."""
        self._confidence.observe(draft, accepted)

    def _align(self, old: Sequence[int]) -> None:
        self._old = list(old)
        self._next = 0
        """Index in the old text at which the output goes on."""
        self._evidence = PLACED_EVIDENCE
        """Tokens that speak for it; 0 while the output is not in the old text."""
        self._departure = 0
        """Where the output last was."""
        self._output: list[int] = []

    def _rejoin(self, token: int) -> None:
        """Find the place after which the output, which ends with `token`, goes on in the old text."""
        position = max(0, self._departure - SEARCHED) - 1
        end = self._departure + SEARCHED
        best = (MIN_EVIDENCE - 1, 0)
        self._evidence = 0
        while True:
            try:
                position = self._old.index(token, position + 1, end)
            except ValueError:
                return
            candidate = (self._agreeing(position), -abs(position - self._departure))
            if candidate > best:
                best = candidate
                self._next, self._evidence = position + 1, candidate[0]

    def _agreeing(self, position: int) -> int:
        """Return how many tokens of the output's end agree with the old text up to `position`."""
        most = min(COMPARED, len(self._output), position + 1)
        count = 0
        while count < most and self._old[position - count] == self._output[~count]:
            count += 1
        return count
