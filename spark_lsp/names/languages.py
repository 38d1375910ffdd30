"""Who reads the documents of a language. What is read beside them is in `server/module_languages.py`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Protocol

from spark_lsp.names.check import MemberCheck
from spark_lsp.names.python import PythonDocument
from spark_lsp.names.script.document import ScriptDocument
from spark_lsp.names.writing import KnownModules


class DocumentReader(Protocol):
    """Reads one document again and again."""

    def check(self, text: str, cursor: int, library: KnownModules | None) -> MemberCheck | None:
        """Return the check at an offset of a text with LF line ends; None where names are not judged."""


READERS: Mapping[str, Callable[[], DocumentReader]] = {
    "python": PythonDocument,
    "javascript": partial(ScriptDocument, typed=False),
    "typescript": partial(ScriptDocument, typed=True),
    "typescriptreact": partial(ScriptDocument, typed=True),
}
"""By the name of the language: what makes a reader of one document."""
