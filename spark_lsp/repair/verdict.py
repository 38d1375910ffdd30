"""Whether a changed text is better than the old one, as far as that can be told without asking who reported the fault.

=====================  ==========================================================================
language               what is checked
=====================  ==========================================================================
every one with a tree  no more syntax errors than before; fewer, where the fault was one
Python as well         compiles if it did before; no new undefined name; the reported one is gone
=====================  ==========================================================================
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from spark_lsp.repair.fault import Fault, undefined_name
from spark_lsp.repair.python_check import PythonFacts, python_facts
from spark_lsp.syntax.blocks import errors_in
from spark_lsp.syntax.errors import error_count
from spark_lsp.syntax.offsets import Span
from spark_lsp.syntax.parser import SyntaxTree, reparse

PARSE_SECONDS = 0.5
"""A changed text grows out of the tree of the old one, which takes milliseconds; a text that takes longer is judged
without its tree."""


class Verdict(Enum):
    """What came of a check."""

    WORSE = "worse"
    STAYS = "stays"
    """A check says that the fault is still there."""
    UNKNOWN = "unknown"
    """No worse; no check knows the fault."""
    REMOVED = "removed"
    """A check shows that the fault is gone."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A verdict with its reason."""

    verdict: Verdict
    sentence: str = ""
    puts_to_use: bool = False
    """Whether a name that nothing used is used now; so it is where a misspelt name was meant to be that one."""


class Judge:
    """Compares texts with one document, in which `fault` is; the document is looked at once."""

    def __init__(self, tree: SyntaxTree, fault: Fault) -> None:
        """Judge changes of the document of `tree`, which may have no root."""
        self._tree = tree
        self._fault = fault
        self._errors = error_count(tree)
        self._python = python_facts(tree.text) if tree.language.name == "python" else None
        self._name = undefined_name(fault.message)

    @property
    def knows_bound_names(self) -> bool:
        """Whether it can be told which names are undefined."""
        return self._python is not None and self._python.undefined is not None

    @property
    def is_syntax_error(self) -> bool:
        """Whether the document has syntax errors, which the fault then is likely to be one of."""
        return self._errors > 0 or (self._python is not None and self._python.error_line is not None)

    def judge(self, text: str, region: Span) -> Judged:
        """Return what a check says of `text`, in which the lines of `region` differ (offsets of the old text)."""
        if text == self._tree.text:
            return Judged(Verdict.STAYS, "The model would change nothing.")
        by_python = self._judge_python(text, region)
        if by_python is not None and by_python.verdict in (Verdict.WORSE, Verdict.STAYS):
            return by_python
        changed = reparse(self._tree, text, PARSE_SECONDS)
        if changed.root is not None and self._tree.root is not None:
            errors = error_count(changed)
            if errors > self._errors and (by_python is None or by_python.verdict is not Verdict.REMOVED):
                return Judged(Verdict.WORSE, "What the model wrote does not parse.")
            if by_python is None and self._is_syntax_error(region):
                end = region.end + len(text) - len(self._tree.text)
                if errors < self._errors and not errors_in(changed, region.start, end):
                    return Judged(Verdict.REMOVED)
                return Judged(Verdict.STAYS, "The syntax error would still be there.")
        return by_python or Judged(Verdict.UNKNOWN)

    def _is_syntax_error(self, region: Span) -> bool:
        return errors_in(self._tree, region.start, region.end) > 0

    def _judge_python(self, text: str, region: Span) -> Judged | None:
        """Return what Python says; None where it says nothing."""
        before = self._python
        after = python_facts(text) if before is not None else None
        if before is None or after is None:
            return None
        if before.error_line is not None:
            return self._judge_error(before, after, text, region)
        if after.error_line is not None:
            return Judged(Verdict.WORSE, f"What the model wrote does not compile: {after.error}.")
        if before.undefined is None or after.undefined is None:
            return Judged(Verdict.UNKNOWN)
        new = sorted(after.undefined - before.undefined)
        if new:
            return Judged(Verdict.WORSE, f"The model would use `{new[0]}`, which is not defined.")
        if self._name is None or self._name not in before.undefined:
            return Judged(Verdict.UNKNOWN)
        if after.undefined[self._name] < before.undefined[self._name]:
            return Judged(Verdict.REMOVED, puts_to_use=after.unused < before.unused)
        return Judged(Verdict.STAYS, f"`{self._name}` would still not be defined.")

    def _judge_error(self, before: PythonFacts, after: PythonFacts, text: str, region: Span) -> Judged:
        """Compare a text that does not compile with what it became. Python names the first error only."""
        if after.error_line is None:
            return Judged(Verdict.REMOVED)
        last = text.count("\n", 0, region.end + len(text) - len(self._tree.text))
        left_over = after.from_above and after.error_line == _next_code(text, last)
        if after.error_line > last and after.error_line > (before.error_line or 0) and not left_over:
            return Judged(Verdict.REMOVED)  # what comes next is another one
        faulty = self._tree.text.count("\n", 0, self._fault.start)
        if before.error_line is not None and before.error_line < faulty and after.error_line == before.error_line:
            return Judged(Verdict.UNKNOWN)  # an error further up hides what is here
        return Judged(Verdict.STAYS, f"It would still not compile: {after.error}.")


def _next_code(text: str, line: int) -> int:
    """Return the number of the first line behind `line` that is neither blank nor a comment."""
    lines = text.split("\n")
    following = range(line + 1, len(lines))
    return next((number for number in following if lines[number].strip() and lines[number].lstrip()[0] != "#"), line)
