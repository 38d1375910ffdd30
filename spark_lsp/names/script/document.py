"""One script, read again as it changes; only the changed pieces of it are."""

from __future__ import annotations

from dataclasses import dataclass

from spark_lsp.names.check import MemberCheck
from spark_lsp.names.script.buffer import Cut, ScriptBuffer
from spark_lsp.names.script.members import ScriptMembers
from spark_lsp.names.script.modules import ScriptLibrary
from spark_lsp.names.script.pieces import PieceReader
from spark_lsp.names.script.writing import ScriptWriting
from spark_lsp.names.writing import KnownModules


@dataclass(frozen=True, slots=True)
class _ReadScript:
    buffer: ScriptBuffer

    def at(self, before: str, after: str) -> ScriptMembers:
        return ScriptMembers(self.buffer, before, after)


class ScriptDocument:
    """Reads one document in JavaScript or, if `typed`, TypeScript."""

    def __init__(self, *, typed: bool) -> None:
        self._typed = typed
        self._pieces: PieceReader | None = None
        self._last: tuple[Cut, ScriptLibrary, _ReadScript] | None = None

    def check(self, text: str, cursor: int, library: KnownModules | None) -> MemberCheck | None:
        """Return the check at an offset of a text with LF line ends; None where the rest cannot be read without it."""
        cut = Cut.at(text, cursor)
        if cut is None:
            return None
        known = library if isinstance(library, ScriptLibrary) else ScriptLibrary()
        line = len(cut.above)
        end = len(text) - len(cut.below)
        return MemberCheck(lambda: self._read(cut, known), ScriptWriting(), text[line:cursor], text[cursor:end])

    def _read(self, cut: Cut, library: ScriptLibrary) -> _ReadScript:
        last = self._last
        if last is not None and last[0] == cut and last[1] is library:
            return last[2]
        if self._pieces is None:
            self._pieces = PieceReader.of(library.pieces)
        read = _ReadScript(ScriptBuffer.read(cut, library, self._pieces, self._typed))
        self._last = cut, library, read
        return read
