"""A task: a document with a hole, what belongs there, and how a raw text is cut before it is judged."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import zip_longest
from random import Random
from typing import TypeVar

Row = TypeVar("Row")


class Cut(str, Enum):
    """Where the text of the raw model ends. The pipeline gets no such help.

    SAFIM's harness cuts API calls and conditions so; blocks by the stricter of two rules, of which this is the other.
    That of HumanEval-Infilling cuts nothing: a line's end is the usual place for single lines.
    """

    FIRST_LINE = "first line with code"
    LINE_END = "line end"
    CALL = "end of the first call"
    CONDITION = "closing parenthesis, in Python the line end"
    PARSABLE = "last line with which the file parses"
    NONE = "end of generation"


@dataclass(frozen=True, slots=True)
class OtherFile:
    """Another file of the project, which an editor may have open."""

    path: str
    text: str


@dataclass(frozen=True, slots=True)
class Task:
    """One place in one document."""

    set: str
    id: str
    group: str
    """Tasks of one group come from the same source and are not independent."""
    language: str
    path: str
    before: str
    after: str
    """As an editor has it: where whole lines are missing, the cursor stands on an empty line."""
    answer: str
    """What the author wrote; where whole lines are missing, without the last line end."""
    cut: Cut
    whole_lines: bool = False
    """Whether the published suffix begins with the next line, that is without the line end of the empty one."""
    tests: str = ""
    """Python code that fails after a wrong text; empty where there are no tests."""
    others: tuple[OtherFile, ...] = ()

    @property
    def published_after(self) -> str:
        """The suffix as the data set has it, which the raw model is given."""
        return self.after[1:] if self.whole_lines else self.after


def sample(rows: Iterable[Row], count: int, seed: int, name: str) -> list[Row]:
    """Return `count` of the rows in an order that only seed and name decide; a larger sample begins with a smaller."""
    shuffled = list(rows)
    Random(f"{seed} {name}").shuffle(shuffled)
    return shuffled[:count]


def by_turns(groups: Iterable[Sequence[Row]]) -> list[Row]:
    """Return the first of each group, then the second of each, and so on."""
    missing = object()
    return [row for turn in zip_longest(*groups, fillvalue=missing) for row in turn if row is not missing]  # type: ignore[misc]
