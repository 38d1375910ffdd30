"""Text that is already in the buffer after the cursor."""

from __future__ import annotations

from spark_lsp.postprocess.place import Place

_MIN_LINE = 2
"""A single closing character below the cursor is left to the closer rule, which counts."""


_MIN_INNER = 4
"""A shorter rest of the line may well occur inside the suggestion by chance."""


def drop_overlap(text: str, place: Place) -> str:
    """Return `text` without an end that repeats the rest of the line or the lines below the cursor."""
    return _drop_lines_below(_drop_rest_of_line(text, place.line_after), place.lines_below)


def _drop_rest_of_line(text: str, rest: str) -> str:
    rest = rest.strip()
    if not rest or (rest[0] in ")]}" and len(rest) == 1):
        return text  # one closer: whether it is a repetition is a matter of balance
    first = text.partition("\n")[0].rstrip()
    if first.endswith(rest):
        return first[: -len(rest)]
    if len(rest) >= _MIN_INNER and rest in first:
        # What stands behind the repeated rest would belong after it, where the cursor is not.
        return first[: first.index(rest)]
    return text


def _drop_lines_below(text: str, lines_below: tuple[str, ...]) -> str:
    lines = text.split("\n")
    below = [line.strip() for line in lines_below if line.strip()]
    for count in range(min(len(lines) - 1, len(below)), 0, -1):
        repeated = [line.strip() for line in lines[-count:]]
        if repeated == below[:count] and max(map(len, repeated)) >= _MIN_LINE:
            return "\n".join(lines[:-count])
    return text
