"""What a text breaks in the document it goes to: syntax errors, repeated suffix, unbalanced brackets."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from spark_lsp.syntax.languages import Language
from spark_lsp.syntax.parser import parse

if TYPE_CHECKING:
    from tree_sitter import Node

_PAIRS = {")": "(", "]": "[", "}": "{"}
_BRACKETS = frozenset("()[]{}")
_WORD = re.compile(r"\w")


@dataclass(frozen=True, slots=True)
class Damage:
    """What is wrong with a document after a text was inserted."""

    adds_error: bool
    """It has more ERROR and MISSING nodes of tree-sitter than before the text came, and than with the author's text:
    in a document that is broken already, right code can make tree-sitter see more of them."""
    leaves_error: bool
    """It has more of them than with the author's text, whether or not they were there before."""
    duplicates: bool
    """The text ends with the first line below or right of the cursor that is not blank, and the author's does not."""
    unbalanced: bool
    """It has more brackets without a partner than with the author's text."""


def damage(before: str, text: str, after: str, answer: str, language: Language) -> Damage:
    """Return what inserting `text` breaks, where `answer` is what the author wrote. Line ends may be of any kind."""
    before, text, after, answer = map(with_line_feeds, (before, text, after, answer))
    hole, filled, right = (Marks.of(before + middle + after, language) for middle in ("", text, answer))
    return Damage(
        adds_error=filled.errors > max(hole.errors, right.errors),
        leaves_error=filled.errors > right.errors,
        duplicates=duplicates(text, after) and not duplicates(answer, after),
        unbalanced=filled.unmatched > right.unmatched,
    )


def duplicates(text: str, after: str) -> bool:
    """Return whether `text` ends with the first line of `after` that is not blank.

    A line without a letter or a digit says nothing: closers are counted on their own. The rest of the cursor's own line
    may follow other code in the text; a line below has to be the whole last line of the text.
    """
    rest, _, below = after.partition("\n")
    last = text.rstrip().rpartition("\n")[2].strip()
    if rest.strip():
        return bool(_WORD.search(rest)) and last.endswith(rest.strip())
    first = next((line.strip() for line in below.split("\n") if line.strip()), "")
    return bool(_WORD.search(first)) and last == first


@dataclass(frozen=True, slots=True)
class Marks:
    """What is counted in one document."""

    errors: int
    unmatched: int

    @staticmethod
    def of(text: str, language: Language) -> Marks:
        """Return the counts; no errors where there is no grammar or the text is too long to parse."""
        root = parse(text, language).root
        if root is None:
            return Marks(0, unmatched(character for character in text if character in _BRACKETS))
        kinds: Counter[str] = Counter()
        brackets = []
        for node in _nodes(root):
            kinds["error"] += node.is_error or node.is_missing
            if not node.child_count and node.type in _BRACKETS and not node.is_missing:
                brackets.append(node.type)
        return Marks(kinds["error"], unmatched(brackets))


def unmatched(brackets: Iterator[str] | list[str]) -> int:
    """Return how many brackets have no partner; a closer takes the nearest opener, which has to be of its kind."""
    open_: list[str] = []
    alone = 0
    for bracket in brackets:
        if bracket not in _PAIRS:
            open_.append(bracket)
        elif open_ and open_[-1] == _PAIRS[bracket]:
            open_.pop()
        else:
            alone += 1
    return alone + len(open_)


def _nodes(root: Node) -> Iterator[Node]:
    """Every node in the order of the text; a loop, since trees of broken files are deep."""
    cursor = root.walk()
    while True:
        node = cursor.node
        if node is not None:
            yield node
        if cursor.goto_first_child():
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return


def with_line_feeds(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")
