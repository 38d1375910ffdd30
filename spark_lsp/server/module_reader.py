"""The modules that a Python document imports, read as text: of the workspace, its environment, the standard library.

Nothing is imported or run. Blocks on the disk; for a thread. Beyond what the document imports itself, a module is
followed only where its names come from another one: through a star, or through a name that the document mentions.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from spark_lsp.names.facts import ModuleFacts, facts_of, module_facts
from spark_lsp.names.modules import BUFFER, Library, Module, base_names, below
from spark_lsp.names.pieces import PieceReader
from spark_lsp.names.stdlib import names_at_work, names_elsewhere, without_source
from spark_lsp.server.fact_files import FactFiles, Room
from spark_lsp.server.interpreters import Interpreter
from spark_lsp.server.module_search import ModulePlace, ModuleSearch, submodules_of
from spark_lsp.server.neighbours import Exclusion, nothing_excluded

_WORDS = re.compile(r"[^\W\d]\w*")


@dataclass(slots=True)
class _Work:
    modules: dict[str, Module] = field(default_factory=dict)
    places: dict[str, ModulePlace] = field(default_factory=dict)
    room: Room = field(default_factory=Room)


class ModuleReader:
    """Reads libraries; remembers the facts of files between two calls. Used by one thread at a time."""

    def __init__(self, is_excluded: Exclusion = nothing_excluded) -> None:
        """Ask `is_excluded` before a file is read, except those in an environment."""
        self._files: FactFiles[ModuleFacts] = FactFiles(module_facts, is_excluded)

    def forget(self) -> None:
        """Let go of every file that was read."""
        self._files.forget()

    def library(
        self,
        document: Path | None,
        text: str,
        folders: Sequence[Path],
        interpreter: Interpreter,
        *,
        stop: Callable[[], bool] = lambda: False,
    ) -> Library:
        """Return the modules that a document with `text` imports."""
        reader = PieceReader()
        facts = facts_of(reader.read(text.replace("\r\n", "\n").replace("\r", "\n")))
        mentioned = frozenset(_WORDS.findall(text))
        work = _Work()
        search = ModuleSearch(document, folders, interpreter)
        links = self._follow(facts, BUFFER, document.parent if document else None, mentioned, search, work, stop)
        classes = (one for module in work.modules.values() for one in module.facts.every_class)
        return Library(work.modules, links, base_names(classes), reader.known)

    def _follow(
        self,
        facts: ModuleFacts,
        key: str,
        folder: Path | None,
        mentioned: frozenset[str],
        search: ModuleSearch,
        work: _Work,
        stop: Callable[[], bool],
    ) -> dict[str, str]:
        """Read what a module imports, and further; return its links."""
        links: dict[str, dict[str, str]] = {key: {}}
        waiting: deque[tuple[str, ModuleFacts, Path | None]] = deque([(key, facts, folder)])
        while waiting and not stop():
            holder, held, home = waiting.popleft()
            bases = {word for one in held.every_class for base in one.bases for word in _WORDS.findall(base)}
            wanted = mentioned | bases if holder != BUFFER else None
            for written in _written(held, wanted):
                place = search.find(written, home)
                if place is None:
                    continue
                if place.key not in work.modules and not self._read(place, search, work):
                    continue
                links[holder][written] = place.key
                if place.key not in links:
                    links[place.key] = {}
                    waiting.append((place.key, work.modules[place.key].facts, place.home))
            own = work.places.get(holder)
            if own is None:
                continue
            for name in sorted(mentioned & _inner(own, work)):
                inner = search.within(own, name)
                if inner is not None and (inner.key in work.modules or self._read(inner, search, work)):
                    links[holder][f".{name}"] = inner.key
                    if inner.key not in links:
                        links[inner.key] = {}
                        waiting.append((inner.key, work.modules[inner.key].facts, inner.home))
        for name, module in [*work.modules.items()]:
            work.modules[name] = replace(module, links=links.get(name, {}))
        return links[key]

    def _read(self, place: ModulePlace, search: ModuleSearch, work: _Work) -> bool:
        """Put a module into the work; False if its names cannot be known."""
        if not place.files:
            found = without_source(place.standard) if search.interpreter.own else None
            if found is not None:
                work.modules[place.key], work.places[place.key] = found, place
            return found is not None
        read = [facts for file in place.files if (facts := self._facts_of(file, search, work)) is not None]
        if len(read) < len(place.files):
            return False
        facts = _joined(read)
        extra: frozenset[str] = frozenset()
        complete = False
        if place.standard:
            extra = names_elsewhere(place.standard)
            at_work = names_at_work(place.standard) if search.interpreter.own else None
            complete = at_work is not None
            extra |= at_work or frozenset()
        work.modules[place.key] = Module(facts, {}, submodules_of(place.folder), extra, complete)
        work.places[place.key] = place
        return True

    def _facts_of(self, file: Path, search: ModuleSearch, work: _Work) -> ModuleFacts | None:
        facts = self._files.facts(file, search.folders, work.room, installed=search.is_installed(file))
        if file.suffix == ".pyi" and facts is not None and not facts.names:
            return None  # what it describes is written in another language
        return facts


def _written(facts: ModuleFacts, wanted: frozenset[str] | None) -> Iterator[str]:
    """Yield the modules to follow, as they are written; `wanted` names only, or all."""
    yield from facts.stars
    for here, found in facts.imports.items():
        if wanted is None or here in wanted:
            for written, there in found:
                yield written
                if there:
                    yield below(written, there)


def _inner(package: ModulePlace, work: _Work) -> frozenset[str]:
    return work.modules[package.key].submodules | (frozenset({"path"}) if package.standard == "os" else frozenset())


def _joined(read: list[ModuleFacts]) -> ModuleFacts:
    """Source and stub as one: the names of both; closed if one of them is."""
    first, *others = read
    for other in others:
        first = ModuleFacts(
            names=first.names | other.names,
            imports={**other.imports, **first.imports},
            stars=tuple(dict.fromkeys(first.stars + other.stars)),
            classes={**other.classes, **first.classes},
            every_class=first.every_class + other.every_class,
            assigned=first.assigned | other.assigned,
            dynamic=first.dynamic and other.dynamic,
        )
    return first
