"""Where the module is that an import names: in the workspace, its environment, the standard library.

Only looks at what exists; nothing is read. Blocks on the disk; for a thread.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from spark_lsp.names.modules import below
from spark_lsp.names.stdlib import is_standard
from spark_lsp.server.interpreters import Interpreter


@dataclass(frozen=True, slots=True)
class ModulePlace:
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


class ModuleSearch:
    """Finds modules by the way they are written."""

    def __init__(self, document: Path | None, folders: Sequence[Path], interpreter: Interpreter) -> None:
        self.folders = folders
        self.interpreter = interpreter
        self._roots = _roots(document, folders)

    def is_installed(self, file: Path) -> bool:
        """Whether a file belongs to the environment or the standard library."""
        return any(place in file.parents for place in (*self.interpreter.packages, self.interpreter.standard))

    def find(self, written: str, folder: Path | None) -> ModulePlace | None:
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

    def within(self, package: ModulePlace, name: str) -> ModulePlace | None:
        """Return a module of a package."""
        if package.standard == "os":  # its `path` is another module on every system
            return self._standard("os.path", ["os", "path"])
        found = _at(package.folder, [name]) if package.folder is not None else None
        if found is None or not package.standard:
            return found
        return ModulePlace(found.key, found.files, found.folder, below(package.standard, name))

    def _standard(self, name: str, parts: list[str]) -> ModulePlace:
        if self.interpreter.standard is not None:
            found = _at(self.interpreter.standard, parts)
            if found is not None:
                return ModulePlace(found.key, found.files, found.folder, name)
        return ModulePlace(f"standard {name}", (), None, name)


def _at(root: Path, parts: list[str]) -> ModulePlace | None:
    """Return the module of these names below a folder; a folder without `__init__` is no module that can be known."""
    base = root.joinpath(*parts)
    package = [file for file in (base / "__init__.py", base / "__init__.pyi") if file.is_file()]
    if package:
        return ModulePlace(str(base), tuple(package), base)
    if not parts:
        return None
    files = [file for ending in (".py", ".pyi") if (file := base.with_name(base.name + ending)).is_file()]
    return ModulePlace(str(base), tuple(files), None) if files else None


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


def submodules_of(folder: Path | None) -> frozenset[str]:
    """Return the names of the modules in a package's folder."""
    if folder is None:
        return frozenset()
    try:
        with os.scandir(folder) as listing:
            names = {entry.name.partition(".")[0] for entry in listing if not entry.name.startswith(".")}
    except OSError:
        return frozenset()
    return frozenset(name for name in names if name.isidentifier())
