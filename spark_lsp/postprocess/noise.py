"""Texts that say nothing."""

from __future__ import annotations

from spark_lsp.postprocess.place import Place


def drop_noise(text: str, place: Place) -> str:
    """Return the empty string for a text without any visible character or that repeats the line below; else `text`."""
    if not text.strip():
        return ""
    below = next((line.strip() for line in place.lines_below if line.strip()), "")
    if below and text.strip() == below and not place.line_before.strip():
        return ""
    return text
