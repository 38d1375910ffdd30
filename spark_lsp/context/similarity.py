"""Texts as sets of words, and how much two of them have in common.

Measured by the Jaccard index, once plain and once with every word weighted by its rarity (inverse document frequency),
which is what BM25 adds for short texts of equal length. A library does not pay here: the ones for BM25 build an index
over a fixed corpus, while these texts change with every edit and are compared once in a while; the ones for edit
distance look at characters in order, while code that does the same in another order should count as alike.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping

_WORD = re.compile(r"[^\W\d]\w+")
"""Names of two characters and more; those of one mean something else everywhere."""


def words(text: str) -> frozenset[str]:
    """Return the names and keywords in a text, comments and strings included."""
    return frozenset(_WORD.findall(text))


def jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    """Return the share that two sets have in common, 0 to 1; 0 where both are empty."""
    union = len(one | other)
    return len(one & other) / union if union else 0.0


def contained(part: frozenset[str], whole: frozenset[str]) -> float:
    """Return the share of `part` that `whole` has too, 0 to 1; 1 for an empty part, which adds nothing."""
    return len(part & whole) / len(part) if part else 1.0


def rarity(texts: Iterable[frozenset[str]]) -> dict[str, float]:
    """Return the weight of each word: the logarithm of how many times fewer texts hold it than there are."""
    counts: Counter[str] = Counter()
    total = 0
    for text in texts:
        counts.update(text)
        total += 1
    return {word: math.log(1 + total / count) for word, count in counts.items()}


def weighted_jaccard(one: frozenset[str], other: frozenset[str], weights: Mapping[str, float]) -> float:
    """Return the Jaccard index with weighted words, 0 to 1; words without a weight, which no text has, do not count."""
    # fsum: the order of a set changes from run to run, and a rounded sum with it.
    union = math.fsum(weights.get(word, 0.0) for word in one | other)
    return math.fsum(weights.get(word, 0.0) for word in one & other) / union if union else 0.0
