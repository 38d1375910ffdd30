"""From what the model wrote to what is shown: one rule a module, in the order of `RULES`.

A rule is a pure function from text and place to text. An empty result means that nothing is worth showing.

Rules look at a text that is still growing too (`Place.growing`). They cut at a place that more text does not move, or
withhold the end until it is clear, so what is shown of a text is how what is shown of a longer one begins. Three things
may take text back: a loop within a line, which shows only at its sixth turn; a syntax error (`drop_broken_end`, at the
end only); and a line that the user began and that the line below repeats.
"""

from __future__ import annotations

from collections.abc import Callable

from spark_lsp.postprocess.broken import drop_broken_end
from spark_lsp.postprocess.closers import balance_closers, balance_quotes
from spark_lsp.postprocess.indentation import fit_indentation
from spark_lsp.postprocess.line_ends import use_line_feeds
from spark_lsp.postprocess.lines import whole_lines
from spark_lsp.postprocess.markers import drop_control_tokens, drop_fences
from spark_lsp.postprocess.mid_line import keep_to_the_line
from spark_lsp.postprocess.next_lines import drop_lines_below
from spark_lsp.postprocess.noise import drop_noise
from spark_lsp.postprocess.overlap import drop_rest_of_line, drop_separator
from spark_lsp.postprocess.place import Place
from spark_lsp.postprocess.repetition import drop_lines_above, drop_loops
from spark_lsp.postprocess.scope import limit_scope
from spark_lsp.postprocess.whitespace import trim_whitespace

Rule = Callable[[str, Place], str]

RULES: tuple[Rule, ...] = (
    use_line_feeds,
    drop_control_tokens,
    drop_fences,
    keep_to_the_line,
    fit_indentation,
    limit_scope,
    drop_lines_below,
    drop_rest_of_line,
    balance_quotes,
    balance_closers,
    drop_separator,
    drop_lines_above,
    drop_loops,
    trim_whitespace,
    drop_noise,
    drop_broken_end,
)
"""Applied in this order: what is not code goes first, the look of the text is settled, then it is cut."""

__all__ = [
    "RULES",
    "Place",
    "Rule",
    "drop_broken_end",
    "drop_lines_above",
    "drop_lines_below",
    "drop_rest_of_line",
    "judge",
    "postprocess",
    "whole_lines",
]


def postprocess(text: str, place: Place) -> str:
    """Return `text` after every rule, or the empty string as soon as one leaves nothing."""
    return judge(text, place)[0]


def judge(text: str, place: Place) -> tuple[str, Rule | None]:
    """Return `text` after every rule and, if nothing is left, the rule that took the rest away."""
    for rule in RULES:
        kept = rule(text, place)
        if not kept:
            return "", rule
        if place.growing and text.startswith(kept + "\n") and text[len(kept) :].strip():
            kept += "\n"  # the last line is whole, and the next rule has to know
        text = kept
    return text, None
