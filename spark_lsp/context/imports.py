"""Which files an import leads to, as far as paths tell: the disk is asked elsewhere."""

from __future__ import annotations

import os.path
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from spark_lsp.syntax.languages import Language

SCRIPT_LANGUAGES = frozenset({"javascript", "typescript", "typescriptreact"})
_SCRIPT_ENDINGS = (".ts", ".tsx", ".d.ts", ".js", ".jsx", ".mjs", ".mts", ".cjs")
"""In the order in which a bundler tries them."""
_COMPILED = {".js": (".ts", ".tsx"), ".mjs": (".mts",), ".jsx": (".tsx",), ".cjs": (".cts",)}
"""TypeScript imports its modules by the name that they have after compilation."""
_HUBS = frozenset({"__init__", "index"})


@dataclass(frozen=True, slots=True)
class Import:
    """One import of a file."""

    text: str
    module: str
    """As it is written: `..pkg.mod`, `./mod`; empty where the language is not resolved."""
    names: tuple[tuple[str, str], ...]
    """What it binds: the name here and the name there."""
    end: int
    """Where the statement ends, in code points."""


def is_hub(path: Path) -> bool:
    """Whether a file usually only passes on what others define, so that its own imports matter too."""
    return path.name.partition(".")[0] in _HUBS


def candidates(found: Import, document: Path, folders: Sequence[Path], language: Language) -> Iterator[list[Path]]:
    """Yield for each file that the import may name the paths at which it can be, in the order to try them.

    Only paths within one of `folders`, the workspace, are named.
    """
    if language.name == "python":
        groups = _python(found, document, folders)
    elif language.name in SCRIPT_LANGUAGES and found.module.startswith("."):
        groups = iter([_script(document.parent / found.module)])
    else:
        return
    for group in groups:
        within = [path for path in map(_normal, group) if any(folder in path.parents for folder in folders)]
        if within:
            yield within


def _python(found: Import, document: Path, folders: Sequence[Path]) -> Iterator[list[Path]]:
    if not found.text.startswith("from"):  # "import a.b as c, d"
        for _, module in found.names:
            yield _python_paths(module, 0, "", document, folders)
        return
    module = found.module.lstrip(".")
    level = len(found.module) - len(module)
    for _, name in found.names:  # "from a import b": b may be a module of a as well as a name in it
        yield _python_paths(module, level, name, document, folders)
    yield _python_paths(module, level, "", document, folders)


def _python_paths(module: str, level: int, name: str, document: Path, folders: Sequence[Path]) -> list[Path]:
    parts = [part for part in (*module.split("."), name) if part]
    if level:
        roots = [*document.parents[level - 1 : level]]
    else:
        home = [folder for folder in folders if folder in document.parents]
        roots = [parent for parent in document.parents if any(parent == f or f in parent.parents for f in home)]
        roots += [folder / "src" for folder in home]
    return [path for root in roots for path in _python_module(root.joinpath(*parts))]


def _python_module(base: Path) -> list[Path]:
    endings = [base.with_name(f"{base.name}{ending}") for ending in (".py", ".pyi")] if base.name else []
    return [*endings, base / "__init__.py"]


def _script(base: Path) -> list[Path]:
    tried = [base]
    compiled = _COMPILED.get(base.suffix)
    if compiled:
        tried += [base.with_suffix(ending) for ending in compiled]
    tried += [base.with_name(base.name + ending) for ending in _SCRIPT_ENDINGS if base.name not in ("", "..")]
    return [*tried, *(base / f"index{ending}" for ending in _SCRIPT_ENDINGS)]


def _normal(path: Path) -> Path:
    return Path(os.path.normpath(path))
