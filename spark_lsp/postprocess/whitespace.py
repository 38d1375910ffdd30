"""White space that nobody wants to accept."""

from __future__ import annotations

from spark_lsp.postprocess.place import Place


def trim_whitespace(text: str, place: Place) -> str:
    """Return `text` with LF line ends, nothing blank at the end, and no blanks at the ends of its lines.

    The first line keeps its leading blanks, since the cursor may stand right after a word.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return "\n".join(line.rstrip() for line in text.split("\n")).rstrip()
