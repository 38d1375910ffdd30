"""Whether a suggestion is worth showing, and how much of it.

===============  =====================================================================================
`thresholds`     the bars that texts and lines have to reach; the one place to set fitted values
`alignment`      which tokens, and so which probabilities, the lines of a text are made of
`confidence`     lines that the model guessed, and all below them, go; a text that it guessed goes whole
`scope`          automatic requests in comments and strings, which a setting may turn off
===============  =====================================================================================

All are pure functions. A text that is still growing is looked at too (`growing_text`): beyond its first line it grows
by whole lines, since only then it is known whether a line stays. What may still be taken back in the end is a first
line whose rest turned out to be guessed, and lines that make no sense without the ones that were dropped.
"""

from spark_lsp.gate.alignment import Scored, doubted, line_probabilities
from spark_lsp.gate.confidence import confident, growing_text
from spark_lsp.gate.scope import scope_at
from spark_lsp.gate.thresholds import AUTOMATIC, INVOKED, Bars

__all__ = [
    "AUTOMATIC",
    "INVOKED",
    "Bars",
    "Scored",
    "confident",
    "doubted",
    "growing_text",
    "line_probabilities",
    "scope_at",
]
