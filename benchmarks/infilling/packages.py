"""The multi-file set: calls from one module of an installed package into another one, cut before the called name.

Everything follows from the installed packages and the seed; the report says how many files there were. What the other
module defines is only to be known from that module, so this set shows what context from other files brings.
"""

from __future__ import annotations

import ast
import hashlib
import sysconfig
import warnings
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from benchmarks.infilling.tasks import Cut, OtherFile, Task, by_turns

NAME = "packages"
SMALLEST_FILE, LARGEST_FILE = 800, 60_000
"""Characters; smaller files only re-export, larger ones are mostly tables."""
SHORTEST_REST, LONGEST_REST = 6, 90
"""Characters from the called name to the line's end; `f()` says little, and long lines are data."""
FILES_PER_PACKAGE = 12
"""A single large package must not be the whole set."""
OTHER_FILES = 4
"""Modules that are open beside: the one with the called function, and others that the file imports from its package."""
_SKIPPED = frozenset({"test", "tests", "testing", "_vendor", "vendored", "__pycache__", "typeshed"})


@dataclass(frozen=True, slots=True)
class _Call:
    """A call into another module: where the called name begins, and which file defines it."""

    line: int
    column: int
    target: Path


def package_tasks(count: int, seed: int, folder: Path | None = None) -> list[Task]:
    """Return up to `count` tasks from the packages in `folder`, by default those of this Python; one of each file."""
    root = folder if folder is not None else Path(sysconfig.get_path("purelib"))
    packages: defaultdict[str, list[Task]] = defaultdict(list)
    for file in _ordered(root, seed):
        package = file.relative_to(root).parts[0]
        if len(packages[package]) < FILES_PER_PACKAGE:
            task = _task(root, file, seed)
            if task is not None:
                packages[package].append(task)
    order = sorted(packages, key=lambda package: _key(seed, package))
    return by_turns(packages[package] for package in order)[:count]


def _key(seed: int, name: str) -> str:
    return hashlib.sha256(f"{seed} {name}".encode()).hexdigest()


def _ordered(root: Path, seed: int) -> list[Path]:
    """Return the modules of all packages in an order that depends on their names and the seed alone."""
    files = [
        file
        for package in root.iterdir()
        if package.joinpath("__init__.py").is_file()
        for file in package.rglob("*.py")
        if not _SKIPPED.intersection(file.relative_to(root).parts) and file.name != "__init__.py"
    ]
    return sorted(files, key=lambda file: _key(seed, file.relative_to(root).as_posix()))


def _task(root: Path, file: Path, seed: int) -> Task | None:
    text = _read(file)
    package = file.relative_to(root).parts[0]
    promising = SMALLEST_FILE <= len(text) <= LARGEST_FILE and ("from ." in text or f"from {package}" in text)
    module = _parse(text) if promising else None  # parsing thousands of files takes a minute
    if module is None:
        return None
    names, modules = _imports(root, file, module)
    lines = text.split("\n")
    calls = [call for call in _calls(module, names, modules) if _is_fit(lines, call)]
    if not calls:
        return None
    name = file.relative_to(root).as_posix()
    call = min(calls, key=lambda call: _key(seed, f"{name} {call.line} {call.column}"))
    line = lines[call.line]
    before = "\n".join([*lines[: call.line], line[: call.column]])
    after = "".join(f"\n{other}" for other in lines[call.line + 1 :])
    beside = [call.target, *sorted({*names.values(), *modules.values()} - {call.target, file})][:OTHER_FILES]
    return Task(
        set=NAME,
        id=f"{name}:{call.line + 1}:{call.column + 1}",
        group=package,
        language="python",
        path=name,
        before=before,
        after=after,
        answer=line[call.column :].rstrip(),
        cut=Cut.LINE_END,
        others=tuple(OtherFile(path.relative_to(root).as_posix(), _read(path)) for path in beside),
    )


def _imports(root: Path, file: Path, module: ast.Module) -> tuple[dict[str, Path], dict[str, Path]]:
    """Return the functions and classes, and the modules, of the same package that the file's top level imports."""
    names: dict[str, Path] = {}
    modules: dict[str, Path] = {}
    for node in module.body:
        if not isinstance(node, ast.ImportFrom):
            continue
        base = _base(root, file, node)
        if base is None:
            continue
        for alias in node.names:
            bound = alias.asname or alias.name
            submodule = base / f"{alias.name}.py"
            source = base.with_suffix(".py")
            if submodule.is_file() and submodule != file:
                modules[bound] = submodule
            elif source.is_file() and source != file and alias.name in _defined(source):
                names[bound] = source
    return names, modules


def _base(root: Path, file: Path, node: ast.ImportFrom) -> Path | None:
    """Return the path of the imported module without an ending, None where it is of another package."""
    package = file.relative_to(root).parts[0]
    parts = (node.module or "").split(".") if node.module else []
    if node.level:
        if node.level >= len(file.relative_to(root).parts):
            return None
        return file.parents[node.level - 1].joinpath(*parts)
    return root.joinpath(*parts) if parts and parts[0] == package else None


@cache
def _defined(file: Path) -> frozenset[str]:
    module = _parse(_read(file))
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return frozenset(node.name for node in (module.body if module else []) if isinstance(node, kinds))


def _calls(module: ast.Module, names: dict[str, Path], modules: dict[str, Path]) -> Iterator[_Call]:
    for node in ast.walk(module):
        if not isinstance(node, ast.Call) or node.end_lineno != node.lineno:
            continue
        function = node.func
        if isinstance(function, ast.Name) and function.id in names:
            yield _Call(function.lineno - 1, function.col_offset, names[function.id])
        elif isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
            target = modules.get(function.value.id)
            if target is not None and function.attr in _defined(target) and function.end_col_offset is not None:
                yield _Call(function.lineno - 1, function.end_col_offset - len(function.attr), target)


def _is_fit(lines: list[str], call: _Call) -> bool:
    """Whether the rest of the line is of a fair length and stands nowhere else in the file, to be copied from."""
    line = lines[call.line]
    rest = line[call.column :].rstrip()
    if not line.isascii() or not SHORTEST_REST <= len(rest) <= LONGEST_REST:  # columns of ast are bytes
        return False
    return not any(rest in other for number, other in enumerate(lines) if number != call.line)


def _parse(text: str) -> ast.Module | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # odd escapes in other people's strings
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _read(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8").replace("\r\n", "\n")
    except (OSError, UnicodeDecodeError):
        return ""
