"""The libraries of the open documents, and the check for a place in one. Belongs to the engine's thread."""

from __future__ import annotations

from collections import OrderedDict

from spark_lsp.documents.text import TextSnapshot
from spark_lsp.names.check import MemberCheck
from spark_lsp.names.languages import READERS, DocumentReader
from spark_lsp.names.writing import KnownModules
from spark_lsp.syntax.languages import Language

MOST_CHARACTERS = 200_000
"""Of a document; 5,000 lines, of which the changed ones are read once for each line that is written on."""
MOST_LIBRARIES = 16
"""Documents whose imports are kept, and whose pieces are, the latest ones."""


class NameIndex:
    """Keeps what was read for each document."""

    def __init__(self) -> None:
        self._libraries: OrderedDict[str, KnownModules] = OrderedDict()
        self._readers: OrderedDict[tuple[str, str], DocumentReader] = OrderedDict()
        """By document and language."""

    def use(self, document: str, library: KnownModules) -> None:
        """Take over the modules that a document imports."""
        self._libraries[document] = library
        self._libraries.move_to_end(document)
        if len(self._libraries) > MOST_LIBRARIES:
            self._libraries.popitem(last=False)

    def forget(self, document: str) -> None:
        """Let go of a document that was closed."""
        self._libraries.pop(document, None)
        for key in [key for key in self._readers if key[0] == document]:
            del self._readers[key]

    def forget_all(self) -> None:
        """Let go of everything that was read."""
        self._libraries.clear()
        self._readers.clear()

    @property
    def modules(self) -> int:
        """How many modules are known, over all documents; safe from any thread."""
        return sum(len(library.modules) for library in [*self._libraries.values()])

    def check(self, document: str, language: Language, snapshot: TextSnapshot, cursor: int) -> MemberCheck | None:
        """Return the check for suggestions at the cursor, which is in code; None where names are not judged.

        Reads the document at most once for each line that is written on. Touches no disk.
        """
        begin = READERS.get(language.name)
        if begin is None or len(snapshot.text) > MOST_CHARACTERS:
            return None
        text = snapshot.text
        if "\r" in text:
            cursor -= text.count("\r\n", 0, cursor)
            text = text.replace("\r\n", "\n").replace("\r", "\n")
        library = self._libraries.get(document)
        key = document, language.name
        reader = self._readers.pop(key, None) or begin()
        self._readers[key] = reader
        if len(self._readers) > MOST_LIBRARIES:
            self._readers.popitem(last=False)
        return reader.check(text, cursor, library)
