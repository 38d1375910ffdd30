"""Code to the right of the cursor: only this line can be completed."""

from __future__ import annotations

from spark_lsp.postprocess.place import Place

CLOSING = frozenset(")]}>\"'`,;: \t")
"""Characters that editors put to the right of the cursor themselves; anything else there is code."""


def keep_to_the_line(text: str, place: Place) -> str:
    """Return the first line of `text` if code follows the cursor on its line, else all of it."""
    if all(character in CLOSING for character in place.line_after):
        return text
    return text.partition("\n")[0]
