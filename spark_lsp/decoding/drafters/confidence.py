"""How likely the tokens of a draft are accepted, learned from how earlier drafts fared.

Each source has Beta counters by match length: for the first token of a draft one for each support, for the later tokens
one for each depth. That a whole draft is right gets less likely with each token; but given that all tokens before were
right, the next one gets more likely, since the passage then really is the same. So the first token after a short match
may be right in two of five cases and the tenth in nine of ten, which one number for both would hide. For the first
token it matters as much whether all places that match go on with it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from spark_lsp.decoding.drafters.draft import MOST_SUPPORT, Draft

MATCH_EDGES = (0, 3, 4, 6, 10, 16)
"""Least match length of each bucket: fine where acceptance changes fast. The first one is for length 2."""
DEPTH_EDGES = (1, 3, 7, 15)
"""Least index in the draft of each bucket; the first token has its own counters."""
PRIOR_WEIGHT = 15.0
"""Observations that the prior is worth. Less makes a short series of misses look like a rule: 6 was measured slower."""
DECAY = 0.98
"""What is left of a counter with each new observation: 50 observations are remembered, a few suggestions' worth, so
that the counters follow the user from one kind of code to the next. 0.998 was measured 3 % slower on rewritten code."""
MOST_TOKENS = 64
"""No draft is longer: twice the widest step that is calibrated."""

_MATCH_BUCKET = tuple(bisect_right(MATCH_EDGES, length) - 1 for length in range(MATCH_EDGES[-1] + 1))
_DEPTH_SIZES = tuple(end - begin for begin, end in pairwise((*DEPTH_EDGES, MOST_TOKENS)))
_DEPTH_BUCKET = tuple(bisect_right(DEPTH_EDGES, depth) - 1 for depth in range(1, MOST_TOKENS))


@dataclass(frozen=True, slots=True)
class Prior:
    """Acceptance expected before anything was observed."""

    first: Sequence[Sequence[float]]
    """Of first tokens, shape (`MOST_SUPPORT` + 1, match buckets)."""
    later: Sequence[Sequence[float]]
    """Of later tokens, given that all before were accepted, shape (match buckets, depth buckets)."""


DOCUMENT_PRIOR = Prior(
    first=(
        (0.21, 0.24, 0.25, 0.25, 0.40, 0.40),
        (0.41, 0.55, 0.64, 0.73, 0.80, 0.92),
        (0.71, 0.77, 0.85, 0.91, 0.96, 0.97),
    ),
    later=(
        (0.56, 0.71, 0.81, 0.90),
        (0.63, 0.74, 0.84, 0.92),
        (0.70, 0.78, 0.87, 0.92),
        (0.78, 0.83, 0.89, 0.92),
        (0.82, 0.87, 0.92, 0.92),
        (0.92, 0.93, 0.93, 0.95),
    ),
)
"""Measured where people continue their own code: 480 places in 160 files of the standard library of Python and 11
packages, 1,200 tokens before and 340 after the place, Qwen2.5-Coder's vocabulary, 60 tokens each."""
OTHER_TEXT_PRIOR = Prior(
    first=(
        (0.07, 0.09, 0.13, 0.15, 0.35, 0.35),
        (0.18, 0.28, 0.41, 0.62, 0.72, 0.95),
        (0.38, 0.56, 0.68, 0.77, 0.90, 0.95),
    ),
    later=(
        (0.31, 0.52, 0.80, 0.85),
        (0.39, 0.60, 0.80, 0.85),
        (0.52, 0.69, 0.80, 0.89),
        (0.68, 0.75, 0.88, 0.92),
        (0.83, 0.87, 0.92, 0.95),
        (0.95, 0.96, 0.97, 0.97),
    ),
)
"""Measured at the same places with n-grams of up to 12 other files of the same package."""
_REWRITTEN_FIRST = (0.66, 0.80, 0.91, 0.96, 0.97, 0.97)
REWRITTEN_PRIOR = Prior(
    first=(_REWRITTEN_FIRST,) * (MOST_SUPPORT + 1),
    later=(
        (0.84, 0.93, 0.97, 0.97),
        (0.89, 0.94, 0.97, 0.97),
        (0.95, 0.97, 0.97, 0.97),
        (0.97, 0.97, 0.97, 0.97),
        (0.97, 0.97, 0.97, 0.97),
        (0.97, 0.97, 0.97, 0.97),
    ),
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
        if [len(row) for row in prior.first] != [len(MATCH_EDGES)] * (MOST_SUPPORT + 1):
            raise ValueError("the prior of first tokens has a row for each support and a column for each match bucket")
        if [len(row) for row in prior.later] != [len(DEPTH_EDGES)] * len(MATCH_EDGES):
            raise ValueError("the prior of later tokens has a row for each match bucket and a column for each depth")
        self._first = [[BetaCounter(mean) for mean in row] for row in prior.first]
        self._later = [[BetaCounter(mean) for mean in row] for row in prior.later]
        self._means: dict[tuple[int, int], tuple[float, ...]] = {}

    def estimate(self, match_length: int, support: int, count: int) -> tuple[float, ...]:
        """Return the confidences of a draft of `count` tokens, `MOST_TOKENS` at most."""
        cell = (_MATCH_BUCKET[min(match_length, MATCH_EDGES[-1])], support)
        means = self._means.get(cell)
        if means is None:
            means = (self._first[support][cell[0]].mean,)
            for counter, size in zip(self._later[cell[0]], _DEPTH_SIZES, strict=True):
                means += (counter.mean,) * size
            self._means[cell] = means
        return means[:count]

    def observe(self, draft: Draft, accepted: int) -> None:
        """Count a draft of which the first `accepted` tokens were right; what follows a miss is unknown."""
        bucket = _MATCH_BUCKET[min(draft.match_length, MATCH_EDGES[-1])]
        later = self._later[bucket]
        seen = min(accepted + 1, len(draft), MOST_TOKENS)
        if seen:
            self._first[draft.support][bucket].observe(accepted > 0)
        for depth in range(1, seen):
            later[_DEPTH_BUCKET[depth - 1]].observe(accepted > depth)
        for support in range(MOST_SUPPORT + 1):
            self._means.pop((bucket, support), None)
