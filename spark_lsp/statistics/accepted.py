"""Where an accepted text stands in a document that is edited on.

Texts have LF line ends here and offsets count code points in them.
"""

from __future__ import annotations

from dataclasses import dataclass

from spark_lsp.documents.shared import shared_end, shared_start
from spark_lsp.statistics.counts import Row


@dataclass(slots=True)
class AcceptedText:
    """One accepted text. The editor may put it in before it says that it was accepted, or after."""

    row: Row
    document: str
    text: str
    start: int
    end: int
    """Where it ends; the same as `start` until it was found in the document."""
    due: float
    """Value of `time.monotonic()` at which it is judged, in seconds."""

    def look(self, document_text: str) -> None:
        """Find the text at its place."""
        if self.end == self.start and document_text.startswith(self.text, self.start):
            self.end = self.start + len(self.text)

    def move(self, old: str, new: str) -> None:
        """Follow an edit of the document from `old` to `new`."""
        begin = shared_start(old, new)
        tail = shared_end(old, new, min(len(old), len(new)) - begin)
        behind, growth = len(old) - tail, len(new) - len(old)  # what was in [begin, behind) is something else now
        if self.end == self.start:
            if behind <= self.start and begin < self.start:
                self.start = self.end = self.start + growth
        elif behind <= self.start:
            self.start, self.end = self.start + growth, self.end + growth
        elif begin < self.end:
            self.start, self.end = min(self.start, begin), max(self.end, behind) + growth
        self.look(new)

    def stands(self, document_text: str) -> bool:
        """Whether the text is still there, apart from white space (formatters change that)."""
        wanted = "".join(self.text.split())
        return bool(wanted) and wanted in "".join(document_text[self.start : self.end].split())
