"""Who reads the modules that the documents of a language import. The documents are read by `names/languages.py`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from spark_lsp.names.modules import Library
from spark_lsp.names.writing import KnownModules
from spark_lsp.server.interpreters import interpreter_of
from spark_lsp.server.module_reader import ModuleReader
from spark_lsp.server.neighbours import Exclusion
from spark_lsp.server.script_reader import ScriptReader


class LibraryReader(Protocol):
    """Reads what documents import; remembers files. Blocks on the disk; used by one thread at a time."""

    def library(
        self, document: Path | None, text: str, folders: Sequence[Path], *, stop: Callable[[], bool]
    ) -> KnownModules:
        """Return the modules that a document with `text` imports."""

    def forget(self) -> None:
        """Let go of every file that was read."""


class _PythonReader:
    def __init__(self, is_excluded: Exclusion) -> None:
        self._reader = ModuleReader(is_excluded)

    def library(
        self, document: Path | None, text: str, folders: Sequence[Path], *, stop: Callable[[], bool]
    ) -> Library:
        return self._reader.library(document, text, folders, interpreter_of([*folders]), stop=stop)

    def forget(self) -> None:
        self._reader.forget()


@dataclass(frozen=True, slots=True)
class ModuleLanguage:
    """How the modules of some languages are read."""

    imports: re.Pattern[str]
    """What in a document decides about the modules to read."""
    reader: Callable[[Exclusion], LibraryReader]


_PYTHON = ModuleLanguage(
    re.compile(r"^[ \t]*(?:import|from)\b.*|^[ \t]*class\b.*", re.MULTILINE),
    _PythonReader,
)
_SCRIPT = ModuleLanguage(
    re.compile(
        r"^[ \t]*(?:import|export)\b[^;\"'=()]*[\"'][^\"'\n]*"  # over several lines
        r"|^[ \t]*(?:export\s+|default\s+|abstract\s+)*(?:class|interface)\b.*",
        re.MULTILINE,
    ),
    ScriptReader,
)
MODULE_LANGUAGES: Mapping[str, ModuleLanguage] = {
    "python": _PYTHON,
    "javascript": _SCRIPT,
    "typescript": _SCRIPT,
    "typescriptreact": _SCRIPT,
}
"""By the name of the language."""
