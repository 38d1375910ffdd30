"""Line ends: the suggestion has LF only, whatever the document or the model has."""

from __future__ import annotations

from spark_lsp.postprocess.place import Place


def use_line_feeds(text: str, place: Place) -> str:
    """Return `text` with every CR LF and every lone CR turned into LF; the server sends LF and editors convert."""
    return text.replace("\r\n", "\n").replace("\r", "\n")
