"""How likely the tokens of a draft are accepted, learned from how earlier drafts fared.

Each source has one Beta counter for each pair of a match length and a depth in the draft. That a whole draft is right
gets less likely with each token; but given that all tokens before were right, the next one gets more likely, since the
passage then really is the same. So the first token of a short match may be right in two of five cases and its tenth in
nine of ten, which one number for both would hide.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

MATCH_EDGES = (0, 1, 2, 3, 4, 6, 10, 16)
"""Least match length of each bucket: fine where acceptance changes fast."""
DEPTH_EDGES = (0, 1, 3, 7, 15)
"""Least index in the draft of each bucket."""
PRIOR_WEIGHT = 6.0
"""Observations that the prior is worth: a handful of drafts on this text outweighs what holds on average."""
DECAY = 0.98
"""What is left of a counter with each new observation: 50 observations are remembered, a few suggestions' worth, so that
the counters follow the user from one kind of code to the next."""
MOST_TOKENS = 64
"""No draft is longer: twice the widest step that is calibrated."""

_MATCH_BUCKET = tuple(bisect_right(MATCH_EDGES, length) - 1 for length in range(MATCH_EDGES[-1] + 1))
_DEPTH_BUCKET = tuple(bisect_right(DEPTH_EDGES, depth) - 1 for depth in range(MOST_TOKENS))

Prior = Sequence[Sequence[float]]
"""Acceptance expected before anything was observed, shape (match buckets, depth buckets)."""

_UNSEEN = (0.20, 0.40, 0.60, 0.70, 0.80)
"""A bucket that its source hardly ever uses."""
DOCUMENT_PRIOR: Prior = (
    _UNSEEN,
    _UNSEEN,
    (0.38, 0.56, 0.71, 0.81, 0.90),
    (0.52, 0.63, 0.74, 0.84, 0.92),
    (0.62, 0.70, 0.78, 0.87, 0.92),
    (0.72, 0.78, 0.83, 0.89, 0.92),
    (0.81, 0.82, 0.87, 0.92, 0.92),
    (0.92, 0.92, 0.93, 0.93, 0.95),
)
"""Measured where people continue their own code: 480 places in 160 files of the standard library of Python and 11
packages, 1,200 tokens before and 340 after the place, Qwen2.5-Coder's vocabulary, 60 tokens each."""
OTHER_TEXT_PRIOR: Prior = (
    _UNSEEN,
    _UNSEEN,
    (0.18, 0.32, 0.56, 0.75, 0.80),
    (0.28, 0.40, 0.60, 0.77, 0.81),
    (0.40, 0.51, 0.69, 0.81, 0.88),
    (0.59, 0.69, 0.76, 0.88, 0.92),
    (0.77, 0.82, 0.87, 0.92, 0.95),
    (0.94, 0.95, 0.96, 0.97, 0.97),
)
"""Measured at the same places with n-grams of up to 12 other files of the same package."""
REWRITTEN_PRIOR: Prior = (
    _UNSEEN,
    _UNSEEN,
    (0.66, 0.84, 0.93, 0.97, 0.97),
    (0.80, 0.89, 0.94, 0.97, 0.97),
    (0.91, 0.95, 0.97, 0.97, 0.97),
    (0.96, 0.97, 0.97, 0.97, 0.97),
    (0.97, 0.97, 0.97, 0.97, 0.97),
    (0.97, 0.97, 0.97, 0.97, 0.97),
)
"""Measured by writing 900 changed passages of click's history anew, the old passage being the previous text."""


class BetaCounter:
    """Successes and failures, the old ones fading, over a prior that does not fade."""

    __slots__ = ("_failures", "_prior", "_successes", "mean")

    def __init__(self, prior: float) -> None:
        self._prior = prior
        self._successes = self._failures = 0.0
        self.mean = prior
        """Estimated probability of a success."""

    def observe(self, success: bool) -> None:
        """Count one outcome."""
        self._successes = self._successes * DECAY + success
        self._failures = self._failures * DECAY + (not success)
        observed = self._successes + self._failures
        self.mean = (self._prior * PRIOR_WEIGHT + self._successes) / (PRIOR_WEIGHT + observed)


class Confidence:
    """The counters of one source."""

    def __init__(self, prior: Prior) -> None:
        if len(prior) != len(MATCH_EDGES) or any(len(row) != len(DEPTH_EDGES) for row in prior):
            raise ValueError("a prior has one row for each match bucket and one column for each depth bucket")
        self._counters = [[BetaCounter(mean) for mean in row] for row in prior]
        self._means = [self._mean_by_depth(bucket) for bucket in range(len(prior))]

    def estimate(self, match_length: int, count: int) -> tuple[float, ...]:
        """Return the confidences of a draft of `count` tokens, `MOST_TOKENS` at most."""
        return self._means[_MATCH_BUCKET[min(match_length, MATCH_EDGES[-1])]][:count]

    def observe(self, match_length: int, drafted: int, accepted: int) -> None:
        """Count a draft of `drafted` tokens of which the first `accepted` were right; what follows a miss is unknown."""
        bucket = _MATCH_BUCKET[min(match_length, MATCH_EDGES[-1])]
        row = self._counters[bucket]
        drafted = min(drafted, MOST_TOKENS)
        for depth in range(min(accepted, drafted)):
            row[_DEPTH_BUCKET[depth]].observe(True)
        if accepted < drafted:
            row[_DEPTH_BUCKET[accepted]].observe(False)
        self._means[bucket] = self._mean_by_depth(bucket)

    def _mean_by_depth(self, bucket: int) -> tuple[float, ...]:
        row = self._counters[bucket]
        return tuple([row[depth].mean for depth in _DEPTH_BUCKET])
