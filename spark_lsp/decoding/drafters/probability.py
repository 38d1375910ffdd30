"""How likely a draft model's token is accepted, learned by the probability that the draft model itself gave it.

A model that is 90 % sure of a token is not right in 90 % of cases, least of all where right means what a larger model
writes. So each range of probabilities has a Beta counter whose prior is the probability itself.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import pairwise

from spark_lsp.decoding.drafters.confidence import BetaCounter
from spark_lsp.decoding.drafters.draft import Draft

PROBABILITY_EDGES = (0.0, 0.3, 0.5, 0.7, 0.85, 0.95, 0.99)
"""Least probability of each range: fine near 1, where most tokens of code lie and where long drafts are decided."""


class CalibratedProbability:
    """The counters of one draft model."""

    def __init__(self) -> None:
        self._counters = [BetaCounter((low + high) / 2) for low, high in pairwise((*PROBABILITY_EDGES, 1.0))]

    def estimate(self, probability: float) -> float:
        """Return the probability that a token is accepted to which the draft model gives `probability`."""
        return self._counter(probability).mean

    def observe(self, draft: Draft, accepted: int) -> None:
        """Count a draft of which the first `accepted` tokens were right; what follows a miss is unknown."""
        for index, probability in enumerate(draft.probabilities[: accepted + 1]):
            self._counter(probability).observe(index < accepted)

    def _counter(self, probability: float) -> BetaCounter:
        return self._counters[bisect_right(PROBABILITY_EDGES, probability) - 1]
