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
    """For `TEXT_SCORE` of the first line of a text: below it, nothing is shown."""
    line: float
    """For `LINE_SCORE` of a line that follows another one: below it, neither the line nor what comes after it is."""


TEXT_SCORE: Score = total_score
LINE_SCORE: Score = total_score
"""The sum tells right from wrong better than mean and least do, and it has a meaning: the model's own probability that
the line is what the author writes."""

AUTOMATIC = Bars(text=math.log(0.27), line=math.log(0.5))
"""For a text that nobody asked for. Fitted with 821 texts of HumanEval-Infilling (Qwen2.5-Coder-0.5B-Instruct, Q4_K_M)
where a wrong line costs as much as a right one brings: 72 % of the first lines reach the bar and 84 % of those are
right, of the others 31 %. Of 578 further lines, which count as wrong too where they are only written differently than
by the author, 39 % reach theirs and 58 % of those are right, of the others 23 %."""
INVOKED = Bars(text=math.log(0.005), line=math.log(0.1))
"""For one that the user asked for, where a wrong line costs a quarter: only noise is withheld. No bar for the first
line is better than none with those texts. Of further lines 84 % reach the bar; of the others 14 % are right."""
