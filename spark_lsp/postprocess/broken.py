"""A text that adds a syntax error, taken back to the last good place."""

from __future__ import annotations

import re
from collections.abc import Iterator

from spark_lsp.postprocess.place import Place

_TRIES = 6
"""Shorter texts that are parsed before giving up: each costs one to three milliseconds in a file of 1,000 lines."""
_MACROS = frozenset({"c", "cpp", "objective-c", "cuda"})
_MACRO = re.compile(r"^\s*[A-Z][A-Z0-9_]{3,}\b", re.MULTILINE)
"""A line that begins with a macro, whose grammar nobody knows."""
_PLACE_IN_LINE = re.compile(r"(?<=[\w)\]}\"'`;])(?=\W|$)")


def drop_broken_end(text: str, place: Place) -> str:
    """Return the longest beginning of `text` that adds no syntax error to the document; of those tried, if any.

    The beginnings are the lines, from the last to the first, then the words of the first line. A text that is still
    growing is not looked at: the stop rule does that at line ends.
    """
    trial = place.trial
    if trial is None or place.growing or (place.language.name in _MACROS and _MACRO.search(text)):
        return text
    if not trial.judges or not trial.breaks(trial.tree_with(text)):
        return text
    for number, shorter in enumerate(_beginnings(text)):
        if number == _TRIES:
            break
        if not trial.breaks(trial.tree_with(shorter)):
            return shorter
    return ""


def _beginnings(text: str) -> Iterator[str]:
    lines = text.split("\n")
    for count in range(len(lines) - 1, 0, -1):
        shorter = "\n".join(lines[:count]).rstrip()
        if shorter.strip() and lines[count - 1].strip():
            yield shorter
    first = lines[0]
    for match in reversed(list(_PLACE_IN_LINE.finditer(first))):
        shorter = first[: match.start()]
        if shorter.strip() and shorter != first:
            yield shorter
