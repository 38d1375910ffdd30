"""Loops: the lines above once more, a group of lines over and over, a piece of a line over and over."""

from __future__ import annotations

import re

from spark_lsp.postprocess.next_lines import normal, normal_lines, tells
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
_LOOP_LENGTH = 20
"""Characters of such a loop in all: ``000000`` is a number."""
_RULER = " \t-=#*/_~+."


def drop_lines_above(text: str, place: Place) -> str:
    """Return nothing for a text that begins with the lines right above the cursor, else `text`."""
    if place.line_before.strip() or place.line_after.strip() or not text.strip():
        return text
    above = [normal(line, place.language) for line in place.lines_above if line.strip()]
    written = normal_lines(text.split("\n"), place)
    numbers = [number for number, line in enumerate(written) if line]
    if not numbers:
        return text
    for count in range(1, min(_ABOVE, len(above)) + 1):
        again, got = above[-count:], [written[number] for number in numbers[:count]]
        if not tells("".join(again), _TELLING):
            continue
        unfinished = place.growing and numbers[:count][-1] == len(written) - 1
        whole = got[:-1] if unfinished else got
        if whole != again[: len(whole)]:
            continue
        if again[len(got) - 1].startswith(got[-1]) if unfinished else place.growing or len(got) == count:
            return ""
    return text


def drop_loops(text: str, place: Place) -> str:
    """Return `text` up to the end of the first turn of a loop."""
    for match in _LOOP.finditer(text):
        if match.group(1).strip(_RULER) and len(match.group()) >= _LOOP_LENGTH:
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
        return "\n".join(lines[: len(lines) - _open_turn(compared, normal_lines(whole, place)[-1])])
    return text


def _open_turn(lines: list[str], last: str) -> int:
    """How many lines at the end repeat those before them, and may become a loop; `last` is the last one so far."""
    longest = 0
    for size in range(1, min(_LONGEST_CYCLE, len(lines) - 1) + 1):
        count = 0
        for back in range(1, len(lines) - size + 1):
            line, before = lines[-back], lines[-back - size]
            if line != before and not (back == 1 and before.strip().startswith(last)):
                break
            count += 1
        longest = max(longest, count)
    return longest
