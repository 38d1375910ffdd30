"""Closing brackets and quotes that the editor has already put behind the cursor."""

from __future__ import annotations

from spark_lsp.postprocess.place import Place

_PAIRS = {")": "(", "]": "[", "}": "{"}


def balance_closers(text: str, place: Place) -> str:
    """Return `text` without final closers that it did not open and that stand right after the cursor.

    Only the end of a one-line text is looked at: with ``print(|)`` the suggestion ``x)`` becomes ``x``.
    """
    rest = place.line_after.lstrip()
    if not rest or "\n" in text:
        return text
    while text and text[-1] in _PAIRS and rest.startswith(text[-1]) and _excess(text, text[-1]) > 0:
        text = text[:-1].rstrip()
    if text and text[-1] in "\"'`" and rest[0] == text[-1] and text.count(text[-1]) % 2:
        text = text[:-1]
    return text


def _excess(text: str, closer: str) -> int:
    """Return how many more of `closer` than of its opener the text has, brackets inside quotes left out."""
    excess, quote = 0, ""
    for index, character in enumerate(text):
        if quote:
            if character == quote and text[index - 1] != "\\":
                quote = ""
        elif character in "\"'`":
            quote = character
        elif character == closer:
            excess += 1
        elif character == _PAIRS[closer]:
            excess -= 1
    return excess
