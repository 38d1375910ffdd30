"""Which tokens a shown text is made of.

Post-processing cuts a text, and may take something off its beginning (a fence) or change its white space. So the two
are compared without white space.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from spark_lsp.gate.thresholds import UNKNOWN_NAME


@dataclass(frozen=True, slots=True)
class Scored:
    """What the model wrote, token by token."""

    text: str
    probabilities: Sequence[float]
    """Of each token."""
    ends: Sequence[int]
    """Where each token ends in `text`, or behind it; 0 for tokens that only spell typed text."""


def doubted(written: Scored, names: Sequence[int]) -> Scored:
    """Return `written` with less trust in tokens that begin a name which does not exist, at the offsets `names`."""
    if not names:
        return written
    probabilities = list(written.probabilities)
    for name in names:
        token = bisect_right(written.ends, max(name, 0))
        if token < len(probabilities):
            probabilities[token] = min(probabilities[token], UNKNOWN_NAME)
    return Scored(written.text, tuple(probabilities), written.ends)


def line_probabilities(text: str, written: Scored) -> tuple[tuple[float, ...], ...]:
    """Return for each line of `text` the probabilities of the tokens that it is made of.

    `text` is what post-processing left of `written`. A token belongs to the line of the first visible character at or
    after its start, so a line end with the indentation after it belongs to the line that it begins. Tokens that only
    spell typed text, tokens of which nothing is shown, and what follows the text are left out.
    """
    lines: list[list[float]] = [[] for _ in range(text.count("\n") + 1)]
    places = _places(text, written.text)
    owners = _line_numbers(text)
    start = 0
    for probability, end in zip(written.probabilities, written.ends, strict=True):
        if end:
            following = bisect_left(places, start)
            if following < len(places) and (places[following] < end or not written.text[start:end].strip()):
                lines[owners[following]].append(probability)
        start = end
    return tuple(map(tuple, lines))


def goes_on_below(text: str, written: Scored) -> bool:
    """Whether the model ended the last line of `text`, so that no token is added to it any more."""
    places = _places(text, written.text)
    return bool(places) and "\n" in written.text[places[-1] :]


def _places(text: str, written: str) -> list[int]:
    """Where each visible character of `text` stands in `written`, in ascending order."""
    wanted = "".join(text.split())
    visible = [place for place, character in enumerate(written) if not character.isspace()]
    begin = "".join(written.split()).find(wanted)
    if begin != -1:
        return visible[begin : begin + len(wanted)]
    found: list[int] = []  # something inside was taken out: the first place of each that is in order
    position = 0
    for character in wanted:
        place = written.find(character, position)
        if place != -1:
            found.append(place)
            position = place + 1
    return found


def _line_numbers(text: str) -> list[int]:
    """The line of each visible character."""
    return [number for number, line in enumerate(text.split("\n")) for _ in "".join(line.split())]
