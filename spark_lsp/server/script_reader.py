"""The modules of the workspace that a JavaScript or TypeScript document imports by their paths, read as text.

Blocks on the disk; for a thread. Packages are not read. Beyond what the document imports itself, a module is followed
only where its names come from another one: through `export *`, or through a name that the document mentions.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from spark_lsp.context.imports import Import, candidates
from spark_lsp.names.script.bodies import NAME
from spark_lsp.names.script.modules import BUFFER, ScriptFacts, ScriptLibrary, ScriptModule, facts_of
from spark_lsp.names.script.pieces import PieceReader
from spark_lsp.server.fact_files import FactFiles, Room
from spark_lsp.server.neighbours import Exclusion, nothing_excluded
from spark_lsp.syntax.languages import Language, language_for

_WORDS = re.compile(NAME)
_PACKAGES = "node_modules"
_SCRIPTS = frozenset({"javascript", "typescript", "typescriptreact"})
_AMBIENT = re.compile(r"\.d\.[mc]?ts$")


def _script_facts(text: str) -> ScriptFacts:
    return facts_of(PieceReader().read(text))


class ScriptReader:
    """Reads libraries; remembers the facts of files between two calls. Used by one thread at a time."""

    def __init__(self, is_excluded: Exclusion = nothing_excluded) -> None:
        """Ask `is_excluded` before a file is read."""
        self._files: FactFiles[ScriptFacts] = FactFiles(_script_facts, is_excluded)

    def forget(self) -> None:
        """Let go of every file that was read."""
        self._files.forget()

    def library(
        self, document: Path | None, text: str, folders: Sequence[Path], *, stop: Callable[[], bool] = lambda: False
    ) -> ScriptLibrary:
        """Return the modules that a document with `text` imports."""
        reader = PieceReader()
        facts = facts_of(reader.read(text.replace("\r\n", "\n").replace("\r", "\n")))
        mentioned = frozenset(_WORDS.findall(text))
        room = Room()
        modules: dict[str, ScriptFacts] = {}
        links: dict[str, dict[str, str]] = {BUFFER: {}}
        waiting: deque[tuple[str, ScriptFacts, Path]] = deque([(BUFFER, facts, document)] if document else [])
        while waiting and not stop():
            holder, held, home = waiting.popleft()
            for written in _written(held, None if holder == BUFFER else mentioned):
                file = _find(written, home, folders)
                found = self._files.facts(file, folders, room) if file is not None else None
                if file is None or found is None:
                    continue
                key = str(file)
                links[holder][written] = key
                if key not in modules:
                    modules[key] = found
                    links[key] = {}
                    waiting.append((key, found, file))
        read = {
            key: ScriptModule(found, links[key], _AMBIENT.search(key) is not None) for key, found in modules.items()
        }
        bases = frozenset[str]().union(*(found.bases for found in modules.values()))
        return ScriptLibrary(read, links[BUFFER], bases, dict(reader.known))


def _written(facts: ScriptFacts, mentioned: frozenset[str] | None) -> Iterator[str]:
    """Yield the modules to follow, as they are written: for `mentioned` names and what shapes need, or all."""
    links = facts.links
    found: list[str] = [*links.stars]
    needed: set[str] = set()
    for shape in facts.shapes.values():
        types = (kind for name, kind in shape.types.items() if mentioned is None or name in mentioned)
        needed.update(word for kind in (*shape.bases, *types) for word in _WORDS.findall(kind))
    for name, (written, there) in links.exports.items():
        if mentioned is None or name in mentioned or there in mentioned:
            found.append(written)
            needed.add(there)
    for name, imports in links.imports.items():
        if mentioned is None or name in mentioned or name in needed:
            found += [written for written, _ in imports]
    yield from dict.fromkeys(written for written in found if written.startswith("."))


def _find(written: str, importer: Path, folders: Sequence[Path]) -> Path | None:
    """Return the file that an import means; None if there is none, if it is no script, or if it may be another."""
    language: Language = language_for("", importer.name)
    if language.name not in _SCRIPTS:
        language = language_for("typescript", "")
    for group in candidates(Import("", written, (), 0), importer, folders, language):
        files = [path for path in group if path.is_file()]
        within = [folder for folder in folders if files and folder in files[0].parents]
        if len(files) != 1 or not within or _PACKAGES in files[0].relative_to(within[0]).parts:
            return None
        return files[0] if language_for("", files[0].name).name in _SCRIPTS else None
    return None
