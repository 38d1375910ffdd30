"""Names of the standard library that its source in this interpreter does not show.

Modules written in C have no source. Those that this process has imported anyway are asked for their names; nothing is
imported for that. And a program may be written for another version or another system: the names that exist only there
are in `stdlib_elsewhere.txt`, one module a line. They are those that typeshed puts under a condition on version or
platform.
"""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path

from spark_lsp.names.facts import ModuleFacts
from spark_lsp.names.modules import Module

_ELSEWHERE = Path(__file__).with_name("stdlib_elsewhere.txt")
_SYSTEMS = frozenset(
    {"errno", "fcntl", "grp", "mmap", "msvcrt", "nt", "posix", "pwd", "readline", "resource", "select", "spwd"}
    | {"syslog", "termios", "winreg", "winsound"}
)
"""C modules whose names depend on the system more than the list says."""


def is_standard(module: str) -> bool:
    """Whether a module belongs to the standard library of this interpreter."""
    return module.partition(".")[0] in sys.stdlib_module_names


def names_elsewhere(module: str) -> frozenset[str]:
    """Return the names that a module of the standard library has in other versions or on other systems."""
    return _elsewhere().get(module, frozenset())


def names_at_work(module: str) -> frozenset[str] | None:
    """Return the names of a module that this process has imported; None if it has not, or if they are not fixed."""
    found = sys.modules.get(module)
    if found is None or module in _SYSTEMS or not is_standard(module) or "__getattr__" in vars(found):
        return None
    return frozenset(vars(found))


def without_source(module: str) -> Module | None:
    """Return a module of which only the names are known; None if they are not."""
    names = names_at_work(module)
    return Module(ModuleFacts(names | names_elsewhere(module), {}), complete=True) if names is not None else None


@cache
def _elsewhere() -> dict[str, frozenset[str]]:
    lines = _ELSEWHERE.read_text("utf-8").splitlines()
    return {module: frozenset(names.split()) for module, _, names in (line.partition(": ") for line in lines)}
