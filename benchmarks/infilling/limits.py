"""Where a text ends without syntax: what is left of the stop rule when only its limits hold."""

from __future__ import annotations

from spark_lsp.decoding.stopping import Extent, Stop, StopReason, StopRule
from spark_lsp.documents.text import TextSnapshot
from spark_lsp.postprocess import Place
from spark_lsp.syntax.parser import SyntaxTree


class LineLimit(StopRule):
    """Ends a text at the line limit; the limit of tokens and the model's own end hold anyway."""

    __slots__ = ()

    def check(self, text: str) -> Stop | None:
        """Return the end of the last line within the limit as soon as there is one more."""
        lines = text.split("\n", self.max_lines)
        if len(lines) <= self.max_lines:
            return None
        return Stop(StopReason.LINES, len(text) - len(lines[-1]) - 1)


def line_limit(
    extent: Extent, snapshot: TextSnapshot, tree: SyntaxTree, cursor: int, place: Place, max_lines: int
) -> StopRule:
    """Return the rule for any place; takes what the pipeline's own choice of a rule takes."""
    return LineLimit(extent, indentation=0, max_lines=max_lines)
