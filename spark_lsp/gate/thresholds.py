"""The bars: how sure the model has to be. Fitted with `python -m benchmarks.infilling.gate`."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

Score = Callable[[Sequence[float]], float]
"""From the probabilities of at least one token to a natural logarithm: 0 if the model is sure, less if it guesses."""

LEAST_PROBABILITY = 1e-6
"""Stands for smaller ones, so that one token does not decide the mean of a whole text."""

UNKNOWN_NAME = 0.1
"""The most that a token counts with which begins a name after a dot that is not known to exist, however sure the model
is. Of 1,528 names in published code one to six were wrongly taken for unknown, so most of those in a suggestion are
invented."""


def _log(probability: float) -> float:
    return math.log(max(probability, LEAST_PROBABILITY))


def mean_score(probabilities: Sequence[float]) -> float:
    """The mean of the log-probabilities: how sure the model is of the usual token."""
    return sum(map(_log, probabilities)) / len(probabilities)


def total_score(probabilities: Sequence[float]) -> float:
    """The sum of the log-probabilities: how sure the model is that it is all right."""
    return sum(map(_log, probabilities))


def least_score(probabilities: Sequence[float]) -> float:
    """The least of the log-probabilities: how sure it is where it is least so."""
    return min(map(_log, probabilities))


def first_score(probabilities: Sequence[float]) -> float:
    """The log-probability of the first token."""
    return _log(probabilities[0])


@dataclass(frozen=True, slots=True)
class Bars:
    """Least scores, in natural logarithms. What lies below is not shown."""

    text: float
    """For `TEXT_SCORE` of all tokens of a text."""
    line: float
    """For `LINE_SCORE` of the tokens of a line that follows another one."""


TEXT_SCORE: Score = mean_score
LINE_SCORE: Score = mean_score

AUTOMATIC = Bars(text=math.log(0.25), line=math.log(0.4))
"""For a text that nobody asked for. Provisional, not fitted: if every token has the probability of the bar, a text of
one token is right in a quarter of all cases, a longer one almost never. In a trial with 24 texts of HumanEval-Infilling
(Qwen2.5-Coder-0.5B-Instruct, vocabulary 48k, IQ4_NL) none was below -0.3, right or wrong, and no line below -0.6."""
INVOKED = Bars(text=math.log(0.05), line=math.log(0.1))
"""For one that the user asked for: only noise is withheld. Provisional as well."""
