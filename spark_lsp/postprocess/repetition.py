"""Loops: the lines above once more, a group of lines over and over, a piece of a line over and over."""

from __future__ import annotations

import re

from spark_lsp.postprocess.next_lines import normal, tells
from spark_lsp.postprocess.place import Place

_ABOVE = 4
"""Lines above that a text may begin with again."""
_TELLING = 10
"""Letters and digits that such lines have at least; short ones do follow each other."""
_LONGEST_CYCLE = 4
"""Lines of a group that is repeated."""
_TIMES = 3
"""So often a group stands in a loop."""
_LOOP = re.compile(r"(\S.{0,23}?)\1{5,}", re.DOTALL)
"""A short piece six times in a row, as in `decoding.stopping`."""
_RULER = " \t-=#*/_~+."


def drop_lines_above(text: str, place: Place) -> str:
    """Return nothing for a text that begins with the lines right above the cursor, else `text`."""
    if place.line_before.strip() or place.line_after.strip() or not text.strip():
        return text
    above = [normal(line, place.language) for line in place.lines_above if line.strip()]
    written = [normal(line, place.language) for line in text.split("\n")]
    last = len(written) - 1
    numbers = [number for number, line in enumerate(written) if line]
    for count in range(1, min(_ABOVE, len(above)) + 1):
        again = above[-count:]
        if not tells("".join(again), _TELLING):
            continue
        pairs = list(zip(numbers, again, strict=False))
        same = all(written[number] == line for number, line in pairs if number != last or not place.growing)
        if not same:
            continue
        if len(pairs) == count and not (place.growing and pairs[-1][0] == last and written[last] != again[-1]):
            return ""
        if place.growing and (pairs[-1][0] != last or again[len(pairs) - 1].startswith(written[last])):
            return ""
    return text


def drop_loops(text: str, place: Place) -> str:
    """Return `text` up to the end of the first turn of a loop."""
    for match in _LOOP.finditer(text):
        if match.group(1).strip(_RULER):
            text = text[: match.start() + len(match.group(1))]
            break
    lines = text.split("\n")
    whole = [place.line_before + lines[0], *lines[1:]]
    compared = [normal(line, place.language) if any(map(str.isalnum, line)) else line.rstrip() for line in whole]
    for start in range(len(lines)):
        for size in range(1, _LONGEST_CYCLE + 1):
            turn = compared[start : start + size]
            if any(turn) and compared[start : start + size * _TIMES] == turn * _TIMES:
                return "\n".join(lines[: start + size])
    if place.growing:
        return "\n".join(lines[: len(lines) - _open_turn(compared, normal(whole[-1], place.language))])
    return text


def _open_turn(lines: list[str], last: str) -> int:
    """How many lines at the end repeat the lines before them, and may become a loop; of the last one there is `last`."""
    longest = 0
    for size in range(1, min(_LONGEST_CYCLE, len(lines) - 1) + 1):
        count = 0
        for back in range(1, len(lines) - size + 1):
            line, before = lines[-back], lines[-back - size]
            if not (line == before or (back == 1 and before.strip().startswith(last))) or not before:
                break
            count += 1
        longest = max(longest, count)
    return longest
