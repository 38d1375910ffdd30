"""Verification of a draft against the model's logits.

Greedy acceptance: the draft's i-th token is accepted if it is what the model chooses after the tokens before it. The
first choice that differs is the model's own next token and comes for free, so a step yields at least one, unless the
model was undecided: then `choose` gives nothing, and the caller decodes that place alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from spark_lsp.decoding.engine import Logits, Row
from spark_lsp.decoding.sampling import Choice


def verify(
    logits: Logits, draft: Sequence[int], choose: Callable[[Row], Choice | None], ends: Callable[[int], bool]
) -> tuple[list[Choice], int]:
    """Return the model's choices in order, and how many of them are draft tokens.

    Rows are looked at one by one and only while the draft agrees, since each costs a pass over the vocabulary. A token
    for which `ends` is true is the last one. Without an own token of the model at the end (`choose` gave None) both
    numbers are equal.
    """
    choices: list[Choice] = []
    for index in range(len(draft) + 1):
        choice = choose(logits.row(index))
        if choice is None:
            return choices, index
        choices.append(choice)
        agrees = index < len(draft) and choice.token == draft[index]
        if ends(choice.token):
            return choices, index + 1 if agrees else index
        if not agrees:
            return choices, index
    raise AssertionError("the row after the last draft token never agrees")
