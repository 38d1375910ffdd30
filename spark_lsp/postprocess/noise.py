"""Texts that say nothing."""

from __future__ import annotations

from spark_lsp.postprocess.place import Place


def drop_noise(text: str, place: Place) -> str:
    """Return the empty string for a text without a visible character or of nothing but comment marks; else `text`."""
    mark = place.language.line_comment
    lines = [line.strip() for line in text.split("\n")]
    if not any(lines):
        return ""
    if not mark or place.line_before.strip():
        return text
    said = [line for line in lines if line and line != mark and not (place.growing and mark.startswith(line))]
    return text if said else ""
