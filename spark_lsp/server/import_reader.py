"""The files of the workspace that a document imports. Blocks on the disk; for a thread."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path

from spark_lsp.context.imports import Import, candidates, is_hub
from spark_lsp.context.outline import outline
from spark_lsp.server.neighbours import FILE_BYTES, Exclusion, read_source
from spark_lsp.syntax.languages import Language, language_for
from spark_lsp.syntax.parser import parse

IMPORTED_FILES = 24
"""Most files that are read for one document."""
IMPORTED_BYTES = 400_000
"""Most characters of them in all, which take a quarter of a second to parse."""
HEAD_CHARACTERS = FILE_BYTES
"""Imports stand at the start of a file."""
PARSE_SECONDS = 0.5


def read_imports(
    document: Path,
    text: str,
    language: Language,
    folders: Sequence[Path],
    *,
    is_excluded: Exclusion,
    stop: Callable[[], bool] = lambda: False,
) -> list[tuple[Path, str]]:
    """Return path and text of the files that the document imports, within `folders`, in the order of its imports.

    What a package's `__init__` or an `index` imports counts too, since names are often only passed on there.
    """
    found: dict[Path, str] = {}
    waiting = deque((document, one) for one in _imports(text, language))
    room = IMPORTED_BYTES
    while waiting and len(found) < IMPORTED_FILES and not stop():
        importer, one = waiting.popleft()
        for group in candidates(one, importer, folders, language):
            path, source = _first(group, folders, is_excluded)
            if path is None or path in found or path == document or len(source) > room:
                continue
            found[path] = source
            room -= len(source)
            if is_hub(path):
                waiting += [(path, inner) for inner in _imports(source, language_for("", path.name))]
    return [*found.items()][:IMPORTED_FILES]


def _imports(text: str, language: Language) -> tuple[Import, ...]:
    return outline(parse(text[:HEAD_CHARACTERS], language, PARSE_SECONDS)).imports


def _first(group: Sequence[Path], folders: Sequence[Path], is_excluded: Exclusion) -> tuple[Path | None, str]:
    """Return the first path of a group that exists, and its text; nothing if it may not or cannot be read."""
    for path in group:
        if path.is_file():
            text = read_source(path) if may_read(path, folders, is_excluded) else None
            return (path, text) if text is not None else (None, "")
    return None, ""


def may_read(path: Path, folders: Sequence[Path], is_excluded: Exclusion) -> bool:
    """Return whether a file is allowed by its path and, where that has links in it, by the place that it really has."""
    real = path.resolve()
    within = any(folder.resolve() in real.parents for folder in folders)
    return within and not is_excluded(path) and (real == path or not is_excluded(real))
