"""Choosing a token from logits: greedy, with its probability."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spark_lsp.decoding.engine import Row


@dataclass(frozen=True, slots=True)
class Choice:
    """A chosen token."""

    token: int
    probability: float
    """The target model's softmax probability, over the whole vocabulary or over the tokens that were allowed."""


def greedy(row: Row) -> Choice:
    """Return the most probable token of `row`."""
    token = int(row.argmax())
    return Choice(token, float(1.0 / np.exp(row - row[token], dtype=np.float32).sum()))


def greedy_among(row: Row, allowed: NDArray[np.int32]) -> Choice:
    """Return the most probable of the `allowed` ids, which are not empty."""
    values = row[allowed]
    best = int(values.argmax())
    return Choice(int(allowed[best]), float(1.0 / np.exp(values - values[best], dtype=np.float32).sum()))
