"""White space that nobody wants to accept."""

from __future__ import annotations

from spark_lsp.postprocess.place import Place


def trim_whitespace(text: str, place: Place) -> str:
    """Return `text` with nothing blank at the end and no blanks at the ends of its lines.

    The first line keeps its leading blanks, since the cursor may stand right after a word; where a blank stands there
    already, they go.
    """
    trimmed = "\n".join(line.rstrip() for line in text.split("\n")).rstrip()
    if place.line_after[:1].isalnum() and text[len(trimmed) :].startswith(" ") and not place.growing:
        trimmed += " "  # it parts two words
    before = place.line_before
    if before.strip() and before[-1].isspace() and not place.openness.quote:
        stripped = trimmed.lstrip(" \t")
        return trimmed if stripped.startswith("\n") else stripped
    return trimmed
