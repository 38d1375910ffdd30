"""The modules that a Python document imports, read as text: of the workspace, its environment, the standard library.

Nothing is imported or run. Blocks on the disk; for a thread. Beyond what the document imports itself, a module is
followed only where its names come from another one: through a star, or through a name that the document mentions.
"""

from __future__ import annotations

import os
import re
import stat
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from spark_lsp.names.facts import ModuleFacts, facts_of, module_facts
from spark_lsp.names.modules import BUFFER, Library, Module, base_names, below
from spark_lsp.names.pieces import PieceReader
from spark_lsp.names.stdlib import is_standard, names_at_work, names_elsewhere, without_source
from spark_lsp.server.import_reader import may_read
from spark_lsp.server.interpreters import Interpreter
from spark_lsp.server.neighbours import Exclusion, nothing_excluded

MODULE_FILES = 120
"""Most files that are read for one document."""
MODULE_BYTES = 3_000_000
"""Most bytes of them in all, which take less than half a second to read."""
FILE_BYTES = 600_000
"""Larger files are left out, and their modules not judged; the largest stubs of well-known packages have half of it."""
KEPT_FILES = 400
"""Files whose facts are kept, with the time of their last change."""
_WORDS = re.compile(r"[^\W\d]\w*")


@dataclass(frozen=True, slots=True)
class _Place:
    """A module: its files, the source before the stub, and the folder of a package."""

    key: str
    files: tuple[Path, ...]
    folder: Path | None
    standard: str = ""
    """Its name, if it belongs to the standard library."""

    @property
    def home(self) -> Path | None:
        """The folder that its relative imports start from."""
        return self.folder or (self.files[0].parent if self.files else None)


@dataclass(slots=True)
class _Work:
    modules: dict[str, Module] = field(default_factory=dict)
    places: dict[str, _Place] = field(default_factory=dict)
    room: int = MODULE_BYTES
    files: int = MODULE_FILES


class ModuleReader:
    """Reads libraries; remembers the facts of files between two calls. Used by one thread at a time."""

    def __init__(self, is_excluded: Exclusion = nothing_excluded) -> None:
        """Ask `is_excluded` before a file is read, except those in an environment."""
        self._is_excluded = is_excluded
        self._facts: OrderedDict[Path, tuple[float, int, ModuleFacts]] = OrderedDict()

    def forget(self) -> None:
        """Let go of every file that was read."""
        self._facts.clear()

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
        search = _Search(document, folders, interpreter)
        links = self._follow(facts, BUFFER, document.parent if document else None, mentioned, search, work, stop)
        classes = (one for module in work.modules.values() for one in module.facts.every_class)
        return Library(work.modules, links, base_names(classes), reader.known)

    def _follow(
        self,
        facts: ModuleFacts,
        key: str,
        folder: Path | None,
        mentioned: frozenset[str],
        search: _Search,
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

    def _read(self, place: _Place, search: _Search, work: _Work) -> bool:
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
        work.modules[place.key] = Module(facts, {}, _submodules(place.folder), extra, complete)
        work.places[place.key] = place
        return True

    def _facts_of(self, file: Path, search: _Search, work: _Work) -> ModuleFacts | None:
        try:
            if not search.is_installed(file) and not may_read(file, search.folders, self._is_excluded):
                return None
            state = file.stat()
            if not stat.S_ISREG(state.st_mode) or state.st_size > FILE_BYTES:
                return None
            known = self._facts.get(file)
            if known is not None and known[:2] == (state.st_mtime, state.st_size):
                self._facts.move_to_end(file)
                return known[2]
            if state.st_size > work.room or not work.files:
                return None
            text = file.read_bytes().decode("utf-8-sig")
        except (OSError, ValueError):
            return None
        work.room -= state.st_size
        work.files -= 1
        facts = module_facts(text.replace("\r\n", "\n").replace("\r", "\n"))
        if file.suffix == ".pyi" and not facts.names:  # what it describes is written in another language
            return None
        self._facts[file] = state.st_mtime, state.st_size, facts
        if len(self._facts) > KEPT_FILES:
            self._facts.popitem(last=False)
        return facts


class _Search:
    """Finds modules by the way they are written."""

    def __init__(self, document: Path | None, folders: Sequence[Path], interpreter: Interpreter) -> None:
        self.folders = folders
        self.interpreter = interpreter
        self._roots = _roots(document, folders)

    def is_installed(self, file: Path) -> bool:
        """Whether a file belongs to the environment or the standard library."""
        return any(place in file.parents for place in (*self.interpreter.packages, self.interpreter.standard))

    def find(self, written: str, folder: Path | None) -> _Place | None:
        """Return the module that an import in a file of `folder` names."""
        name = written.lstrip(".")
        level = len(written) - len(name)
        parts = name.split(".") if name else []
        if level:
            if folder is None or level > len(folder.parents):
                return None
            return _at([folder, *folder.parents][level - 1], parts)
        # Which folder a program starts in is not known: where several have such a module, it may be any of them.
        packages = () if parts and parts[0] in self.interpreter.hidden else self.interpreter.packages
        found = [place for root in [*self._roots, *packages] if (place := _at(root, parts)) is not None]
        if is_standard(name):
            found.append(self._standard(name, parts))
        if len({place.key for place in found}) != 1 or any(
            _is_package(root) for root in self._roots if _at(root, parts)
        ):
            return None  # within a package, `import name` means a module of it only if the package is not used as one
        return found[0]

    def within(self, package: _Place, name: str) -> _Place | None:
        """Return a module of a package."""
        if package.standard == "os":  # its `path` is another module on every system
            return self._standard("os.path", ["os", "path"])
        found = _at(package.folder, [name]) if package.folder is not None else None
        if found is None or not package.standard:
            return found
        return _Place(found.key, found.files, found.folder, below(package.standard, name))

    def _standard(self, name: str, parts: list[str]) -> _Place:
        if self.interpreter.standard is not None:
            found = _at(self.interpreter.standard, parts)
            if found is not None:
                return _Place(found.key, found.files, found.folder, name)
        return _Place(f"standard {name}", (), None, name)


def _at(root: Path, parts: list[str]) -> _Place | None:
    """Return the module of these names below a folder; a folder without `__init__` is no module that can be known."""
    base = root.joinpath(*parts)
    package = [file for file in (base / "__init__.py", base / "__init__.pyi") if file.is_file()]
    if package:
        return _Place(str(base), tuple(package), base)
    if not parts:
        return None
    files = [file for ending in (".py", ".pyi") if (file := base.with_name(base.name + ending)).is_file()]
    return _Place(str(base), tuple(files), None) if files else None


def _is_package(folder: Path) -> bool:
    return (folder / "__init__.py").is_file()


def _roots(document: Path | None, folders: Sequence[Path]) -> list[Path]:
    """Return where a program of the workspace may find its modules: from the document's folder up, and in `src`.

    Of a document outside the workspace that is its folder, from which nothing is read.
    """
    if document is None:
        return []
    homes = [folder for folder in folders if folder in document.parents]
    if not homes:
        return [document.parent]
    above = [parent for parent in document.parents if any(parent == home or home in parent.parents for home in homes)]
    return [*above, *(home / "src" for home in homes)]


def _written(facts: ModuleFacts, wanted: frozenset[str] | None) -> Iterator[str]:
    """Yield the modules to follow, as they are written; `wanted` names only, or all."""
    yield from facts.stars
    for here, found in facts.imports.items():
        if wanted is None or here in wanted:
            for written, there in found:
                yield written
                if there:
                    yield below(written, there)


def _inner(package: _Place, work: _Work) -> frozenset[str]:
    return work.modules[package.key].submodules | (frozenset({"path"}) if package.standard == "os" else frozenset())


def _submodules(folder: Path | None) -> frozenset[str]:
    """Return the names of the modules in a package's folder."""
    if folder is None:
        return frozenset()
    try:
        with os.scandir(folder) as listing:
            names = {entry.name.partition(".")[0] for entry in listing if not entry.name.startswith(".")}
    except OSError:
        return frozenset()
    return frozenset(name for name in names if name.isidentifier())


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
