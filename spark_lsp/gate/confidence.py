"""What of a text the model was sure enough of."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain

from spark_lsp.gate.alignment import Scored, goes_on_below, line_probabilities
from spark_lsp.gate.thresholds import LINE_SCORE, TEXT_SCORE, Bars
from spark_lsp.postprocess import Place, postprocess
from spark_lsp.syntax.brackets import CLOSER_OF, brackets_in
from spark_lsp.syntax.indentation import indent_of
from spark_lsp.syntax.lexical import ScopeKind, opening_of, tokens

_TRY = re.compile(r"\s*try\s*:")
_HANDLER = re.compile(r"\s*(except|finally)\b")

Lines = Sequence[Sequence[float]]
"""The probabilities of the tokens of each line, as `line_probabilities` gives them."""


def confident(text: str, lines: Lines, place: Place, bars: Bars) -> str:
    """Return the lines of a post-processed text before the first guessed one; nothing if that is its first.

    A shortened text goes through the rules again and loses what is only half there: brackets and strings that the lost
    lines closed, and the header of a block whose body is lost. Where that leaves nothing, nothing is shown.
    """
    if not passes(text, lines, bars.text):
        return ""
    kept = leading_lines(text, lines, bars.line)
    return kept if kept == text else _without_halves(kept, text, place)


def growing_text(text: str, written: Scored, bars: Bars | None) -> str:
    """Return what may be shown of a text that is still growing; without `bars` however unsure the model is.

    `text` is what the rules left of `written` so far. A line below the first with content is shown when it is whole.
    """
    if text.count("\n") > _first(text) and not goes_on_below(text, written):
        text = text.rpartition("\n")[0].rstrip()
    if bars is None or not text.strip():
        return text
    lines = line_probabilities(text, written)
    return leading_lines(text, lines, bars.line) if passes(text, lines, bars.text) else ""


def leading_lines(text: str, lines: Lines, bar: float) -> str:
    """Return the lines of `text` before the first one below the first with content whose score is below `bar`."""
    first = _first(text)
    for number in range(first + 1, len(lines)):
        if lines[number] and LINE_SCORE(lines[number]) < bar:
            return "\n".join(text.split("\n")[:number]).rstrip()
    return text


def passes(text: str, lines: Lines, bar: float) -> bool:
    """Whether the first line of `text` with content reaches `bar`; one without any token of its own does."""
    probabilities = [*chain.from_iterable(lines[: _first(text) + 1])]
    return not probabilities or TEXT_SCORE(probabilities) >= bar


def _first(text: str) -> int:
    """The number of the first line with content."""
    return text[: len(text) - len(text.lstrip())].count("\n")


def _without_halves(kept: str, whole: str, place: Place) -> str:
    """Return the longest run of leading lines of `kept` that lacks nothing which `whole` has below them."""
    left_open = _open_ends(whole, place)
    while kept:
        if _open_ends(kept, place) > left_open or _lacks_body(kept, place):
            kept = kept.rpartition("\n")[0].rstrip()
            continue
        again = postprocess(kept, place)
        if again == kept:
            break
        kept = again if len(again) < len(kept) else kept.rpartition("\n")[0].rstrip()
    return kept


def _open_ends(text: str, place: Place) -> int:
    """How many brackets of the text, strings, block comments and ``try`` are open at its end."""
    quote, language = place.openness.quote, place.language
    depth = 0
    for _, bracket in brackets_in(text, language, quote):
        depth = depth + 1 if bracket in CLOSER_OF else max(depth - 1, 0)
    depth += _unhandled(text, place)
    last = [None, *tokens(quote + text, language)][-1]
    if last is None or last.closed:
        return depth
    mark = opening_of(quote + text, last, language)
    block = language.block_comment
    return depth + (last.kind is ScopeKind.STRING or (block is not None and mark == block[0]))


def _unhandled(text: str, place: Place) -> int:
    """How many ``try`` of Python have no other clause; its grammar takes them for complete."""
    if place.language.name != "python":
        return 0
    waiting: set[int] = set()
    first, *more = text.split("\n")
    for line in [place.line_before + first, *more, *place.below[:1]]:
        if _TRY.match(line):
            waiting.add(indent_of(line))
        elif _HANDLER.match(line):
            waiting.discard(indent_of(line))
    return len(waiting)


def _lacks_body(text: str, place: Place) -> bool:
    """Whether the last line opens a block that nothing below is inside of.

    Braces are counted, and the grammar knows of a missing ``end``; that of Python takes an empty block for none.
    """
    if place.tree is not None and not place.language.indent_blocks:
        return False
    _, newline, last = text.rpartition("\n")
    line = last if newline else place.line_before + last
    below = place.below
    return place.opens(line) and not (below and indent_of(below[0]) > indent_of(line))
