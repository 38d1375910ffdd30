"""Where the Python of a workspace keeps its packages and its standard library. Blocks on the disk; runs nothing."""

from __future__ import annotations

import os
import re
import sys
import sysconfig
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ENVIRONMENTS = (".venv", "venv")
"""Folders in a workspace folder that hold an environment, in the order in which they are looked for."""
CONFIGURATION_BYTES = 10_000


@dataclass(frozen=True, slots=True)
class Interpreter:
    """The Python that a workspace uses."""

    packages: tuple[Path, ...] = ()
    """`site-packages` folders."""
    standard: Path | None = None
    """The folder of the standard library; None if it is of another version and is not found."""
    own: bool = True
    """Whether the version is that of this process."""
    hidden: frozenset[str] = frozenset()
    """Packages that are not looked for in `packages`, because the workspace holds them."""


def interpreter_of(folders: Sequence[Path]) -> Interpreter:
    """Return the interpreter of the first environment in `folders`, else that of `VIRTUAL_ENV`, else this process's.

    Of the latter only the standard library counts: its packages are those of spark-lsp.
    """
    roots = [folder / name for folder in folders for name in ENVIRONMENTS]
    if os.environ.get("VIRTUAL_ENV"):
        roots.append(Path(os.environ["VIRTUAL_ENV"]))
    for root in roots:
        found = environment(root)
        if found is not None:
            return found
    return Interpreter(standard=Path(sysconfig.get_path("stdlib")))


def environment(root: Path) -> Interpreter | None:
    """Return the interpreter of the environment in a folder; None if there is none."""
    try:
        with (root / "pyvenv.cfg").open(encoding="utf-8", errors="replace") as file:
            text = file.read(CONFIGURATION_BYTES)
        packages = [*sorted(root.glob("lib/python*/site-packages")), *sorted(root.glob("Lib/site-packages"))]
    except OSError:
        return None
    said = dict(re.findall(r"^\s*([\w-]+)\s*=\s*(.*?)\s*$", text, re.MULTILINE))
    version = re.match(r"(\d+)\.(\d+)", said.get("version_info") or said.get("version") or "")
    if version is None:
        return None
    pair = int(version[1]), int(version[2])
    if pair == sys.version_info[:2]:
        return Interpreter(tuple(packages), Path(sysconfig.get_path("stdlib")))
    home = Path(said.get("home", ""))
    places = (home.parent / "lib" / f"python{pair[0]}.{pair[1]}", home / "Lib")
    standard = next((place for place in places if home.is_absolute() and (place / "os.py").is_file()), None)
    return Interpreter(tuple(packages), standard, own=False)
