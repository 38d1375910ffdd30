"""Verification of a draft against the model's logits.

Greedy acceptance: the draft's i-th token is accepted if it is what the model chooses after the tokens before it. The
first choice that differs is the model's own next token and comes for free, so a step yields at least one.

Kernels for several rows round otherwise than those for one, so a row in which two tokens are nearly tied decides
nothing: its place is decoded again alone. Thus the text depends neither on drafts nor on how a prompt was sliced.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from spark_lsp.decoding.engine import Logits, Row
from spark_lsp.decoding.sampling import Choice
from spark_lsp.errors import DecodeError


class Verified(NamedTuple):
    """What came of a step."""

    choices: list[Choice]
    """The model's choices in order."""
    accepted: int
    """How many of them are draft tokens whose cells are in the KV cache."""


def verify(
    logits: Logits,
    draft: Sequence[int],
    decide: Callable[[Row, bool], Choice | None],
    alone: Callable[[int], tuple[Row, bool]],
    accept: Callable[[Choice], bool],
    *,
    wide: bool,
) -> Verified:
    """Return the model's choices from `logits`, whose row 0 comes before the draft's first token.

    Rows are looked at one by one and only while the draft agrees, since each costs a pass over the vocabulary.
    `decide(row, final)` gives the choice, or None if the row leaves it open: because it lacks what is asked, or because
    of a near tie and it is not `final`, as the rows of a decode of several tokens (`wide`) are not. Then `alone(index)`
    decodes the place again and tells whether what was decoded behind it is still there. Each choice goes to `accept`;
    one for which that is true is the last one. Raises DecodeError if the row decoded again leaves it open too.
    """
    choices: list[Choice] = []
    kept: dict[int, Row] = {}
    for index in range(len(draft) + 1):
        intact = True
        choice = decide(kept[index] if index in kept else logits.row(index), not wide)
        if choice is None:
            # The decode overwrites the rows behind.
            behind = range(index + 1, len(draft) + 1)
            kept.update((number, logits.row(number).copy()) for number in behind if number not in kept)
            row, intact = alone(index)
            choice = decide(row, True)
        if choice is None:
            raise DecodeError("The model's logits leave out every token that spells the typed text.")
        choices.append(choice)
        agrees = intact and index < len(draft) and choice.token == draft[index]
        if accept(choice) or not agrees:
            return Verified(choices, index + 1 if agrees else index)
    raise AssertionError("the row after the last draft token never agrees")
