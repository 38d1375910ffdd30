"""Python: how names stand in it, and its documents."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from spark_lsp.names.buffer import Buffer, may_judge, without_line
from spark_lsp.names.check import MemberCheck
from spark_lsp.names.lines import without_strings
from spark_lsp.names.members import Members
from spark_lsp.names.modules import Library
from spark_lsp.names.pieces import PieceReader
from spark_lsp.names.writing import Access, KnownModules

_CHAIN = re.compile(r"(?<![\w.)\]}\"'])[^\W\d]\w*(?:\.\w*)+")
_RECEIVER = re.compile(r"[\w.]*\.$")
_NAME = re.compile(r"\w*")
_MAY_BE_TARGET = re.compile(r"(?:^|[;:])\s*[(\[]?\s*(?:[\w.]+\s*,\s*)*$")
_IS_TARGET = re.compile(r"(?:^|\W)(?:for|as)\s+[(\[]?\s*(?:[\w.]+\s*,\s*)*$")
_IMPORT = re.compile(r"\s*(?:import|from)\b")


class PythonWriting:
    """`Writing` of Python."""

    def code(self, text: str) -> str:
        """Blank comments and strings."""
        return without_strings(text)[0]

    def accesses(self, code: str) -> Iterator[Access]:
        """Yield what stands behind dots."""
        for chain in _CHAIN.finditer(code):
            parts = chain.group().split(".")
            at = chain.start() + len(parts[0])
            for index in range(1, len(parts)):
                if not parts[index - 1]:
                    break
                yield Access(".".join(parts[:index]), chain.start(), at + 1, parts[index])
                at += 1 + len(parts[index])

    def receiver(self, code: str) -> str | None:
        """Return what stands before the dot at the end."""
        found = _RECEIVER.search(code)
        return found.group()[:-1] if found is not None else None

    def name(self, code: str, at: int) -> str:
        """Return the word at an offset."""
        found = _NAME.match(code, at)
        return found.group() if found is not None else ""

    def is_judged(self, name: str, line: str) -> bool:
        """Leave out private names, imports, and what a `for` or an `as` binds."""
        unusual = name.startswith("_") or not name.isascii()
        return not (unusual or _IMPORT.match(line) or _IS_TARGET.search(line))

    def may_be_target(self, line: str) -> bool:
        """Whether a statement may begin with the name."""
        return _MAY_BE_TARGET.search(line) is not None

    def is_use(self, following: str, line: str) -> bool | None:
        """Look for an equal sign, an annotation or another target."""
        stripped = following.lstrip(" \t")
        if not stripped:
            return False
        if stripped[0] in ":,":
            return None
        if stripped[0] != "=":
            return True
        return False if len(stripped) == 1 else (True if stripped[1] == "=" else None)


@dataclass(frozen=True, slots=True)
class _ReadPython:
    buffer: Buffer

    def at(self, before: str, after: str) -> Members:
        return Members(self.buffer, before, after)


class PythonDocument:
    """One document, read again as it changes; only the changed pieces of it are."""

    def __init__(self) -> None:
        self._pieces: PieceReader | None = None
        self._last: tuple[str, Library, _ReadPython] | None = None

    def check(self, text: str, cursor: int, library: KnownModules | None) -> MemberCheck | None:
        """Return the check at an offset of a text with LF line ends; None where the rest cannot be read without it."""
        start, end = text.rfind("\n", 0, cursor) + 1, text.find("\n", cursor)
        before, after = text[start:cursor], text[cursor : end if end != -1 else len(text)]
        if not may_judge(before + after):
            return None
        rest, line = without_line(text, cursor)
        known = library if isinstance(library, Library) else Library()
        return MemberCheck(lambda: self._read(rest, line, known), PythonWriting(), before, after)

    def _read(self, rest: str, line: int, library: Library) -> _ReadPython:
        last = self._last
        if last is not None and last[0] == rest and last[1] is library and last[2].buffer.line == line:
            return last[2]
        if self._pieces is None:
            self._pieces = PieceReader(library.pieces)
        read = _ReadPython(Buffer.read(rest, line, library, self._pieces))
        self._last = rest, library, read
        return read
