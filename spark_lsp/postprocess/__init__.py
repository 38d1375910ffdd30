"""From what the model wrote to what is shown: one rule a module, in the order of `RULES`.

A rule is a pure function from text and place to text. An empty result means that nothing is worth showing.
"""

from __future__ import annotations

from collections.abc import Callable

from spark_lsp.postprocess.closers import balance_closers
from spark_lsp.postprocess.lines import whole_lines
from spark_lsp.postprocess.noise import drop_noise
from spark_lsp.postprocess.overlap import drop_overlap
from spark_lsp.postprocess.place import Place
from spark_lsp.postprocess.whitespace import trim_whitespace

Rule = Callable[[str, Place], str]

RULES: tuple[Rule, ...] = (trim_whitespace, drop_overlap, balance_closers, trim_whitespace, drop_noise)
"""Applied in this order; trimming runs again because the rules before it may leave blanks at the end."""

__all__ = ["RULES", "Place", "postprocess", "whole_lines"]


def postprocess(text: str, place: Place) -> str:
    """Return `text` after every rule, or the empty string as soon as one leaves nothing."""
    for rule in RULES:
        text = rule(text, place)
        if not text:
            return ""
    return text
