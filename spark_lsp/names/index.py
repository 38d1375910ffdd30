"""The libraries of the open documents, and the check for a place in one. Belongs to the engine's thread."""

from __future__ import annotations

from collections import OrderedDict

from spark_lsp.documents.text import TextSnapshot
from spark_lsp.names.buffer import Buffer, may_judge, without_line
from spark_lsp.names.check import MemberCheck
from spark_lsp.names.modules import Library
from spark_lsp.names.pieces import PieceReader
from spark_lsp.syntax.languages import Language

MOST_CHARACTERS = 200_000
"""Of a document; 5,000 lines, of which the changed ones are read once for each line that is written on."""
MOST_LIBRARIES = 16
"""Documents whose imports are kept, and whose pieces are, the latest ones."""


class NameIndex:
    """Keeps what was read for each document."""

    def __init__(self) -> None:
        self._libraries: OrderedDict[str, Library] = OrderedDict()
        self._buffer: tuple[str, Library, Buffer] | None = None
        self._readers: OrderedDict[str, PieceReader] = OrderedDict()

    def use(self, document: str, library: Library) -> None:
        """Take over the modules that a document imports."""
        self._libraries[document] = library
        self._libraries.move_to_end(document)
        if len(self._libraries) > MOST_LIBRARIES:
            self._libraries.popitem(last=False)

    def forget(self, document: str) -> None:
        """Let go of a document that was closed."""
        self._libraries.pop(document, None)
        self._readers.pop(document, None)
        self._buffer = None

    def forget_all(self) -> None:
        """Let go of everything that was read."""
        self._libraries.clear()
        self._readers.clear()
        self._buffer = None

    @property
    def modules(self) -> int:
        """How many modules are known, over all documents; safe from any thread."""
        return sum(len(library.modules) for library in [*self._libraries.values()])

    def check(self, document: str, language: Language, snapshot: TextSnapshot, cursor: int) -> MemberCheck | None:
        """Return the check for suggestions at the cursor, which is in code; None where names are not judged.

        Reads the document at most once for each line that is written on. Touches no disk.
        """
        if language.name != "python" or len(snapshot.text) > MOST_CHARACTERS:
            return None
        text = snapshot.text
        if "\r" in text:
            cursor -= text.count("\r\n", 0, cursor)
            text = text.replace("\r\n", "\n").replace("\r", "\n")
        start, end = text.rfind("\n", 0, cursor) + 1, text.find("\n", cursor)
        before, after = text[start:cursor], text[cursor : end if end != -1 else len(text)]
        if not may_judge(before + after):
            return None
        rest, line = without_line(text, cursor)
        return MemberCheck(lambda: self._read(document, rest, line), before, after)

    def _read(self, document: str, rest: str, line: int) -> Buffer:
        library = self._libraries.get(document) or Library()
        known = self._buffer
        if known is not None and known[0] == rest and known[1] is library and known[2].line == line:
            return known[2]
        reader = self._readers.pop(document, None) or PieceReader(library.pieces)
        self._readers[document] = reader
        if len(self._readers) > MOST_LIBRARIES:
            self._readers.popitem(last=False)
        buffer = Buffer.read(rest, line, library, reader)
        self._buffer = rest, library, buffer
        return buffer
