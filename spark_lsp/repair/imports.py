"""The missing import as a repair of an undefined name in Python.

The model proposes the statement; it is taken only if it is one that the standard library can carry out, since a small
model imports whatever name it is asked for from a module of that name.
"""

from __future__ import annotations

import ast
import sysconfig
from functools import lru_cache
from pathlib import Path

from spark_lsp.documents.text import TextSnapshot
from spark_lsp.names.facts import module_facts
from spark_lsp.names.stdlib import is_standard, names_at_work, names_elsewhere

_LARGEST_MODULE = 400_000
"""Characters; no module of the standard library that a name is imported from is larger."""


def import_in(answer: str, name: str) -> str | None:
    """Return the statement of an answer that binds `name` alone from the standard library; None without."""
    for line in answer.split("\n"):
        try:
            statements = ast.parse(line.strip()).body
        except (SyntaxError, ValueError):
            continue
        for statement in statements:
            if isinstance(statement, (ast.Import, ast.ImportFrom)) and _binds(statement, name):
                return ast.unparse(statement)
    return None


def place_of_import(snapshot: TextSnapshot) -> tuple[int, str, str] | None:
    """Return where an import goes, and what stands before and behind it; None in a text that does not parse.

    That is behind the last import at the top, else behind the docstring and the comments that begin the file.
    """
    try:
        body = ast.parse(snapshot.text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    last: ast.stmt | None = None
    for number, statement in enumerate(body):
        docstring = number == 0 and isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        if docstring or isinstance(statement, (ast.Import, ast.ImportFrom)):
            last = statement
        else:
            break
    eol = snapshot.eol
    if last is None:
        line = _first_code_line(snapshot)
        return snapshot.line_span(line)[0], "", eol if snapshot.line_text(line).startswith("import ") else eol * 2
    end = snapshot.line_span((last.end_lineno or 1) - 1)[1]
    return end, eol if isinstance(last, (ast.Import, ast.ImportFrom)) else eol * 2, ""


def _first_code_line(snapshot: TextSnapshot) -> int:
    for line in range(snapshot.line_count):
        if not snapshot.line_text(line).startswith("#"):
            return line
    return snapshot.line_count - 1


def _binds(statement: ast.Import | ast.ImportFrom, name: str) -> bool:
    if len(statement.names) != 1:
        return False
    alias = statement.names[0]
    if isinstance(statement, ast.Import):
        bound = alias.asname or alias.name.partition(".")[0]
        return bound == name and is_standard(alias.name) and _exists(alias.name)
    if statement.level or statement.module is None or alias.name == "*":
        return False
    known = is_standard(statement.module) and alias.name in _names_of(statement.module)
    return known and (alias.asname or alias.name) == name


def _exists(module: str) -> bool:
    parent, _, last = module.rpartition(".")
    return not parent or _source(module) is not None or last in _names_of(parent)


@lru_cache(maxsize=32)
def _names_of(module: str) -> frozenset[str]:
    """Return the public names of a module of the standard library; what is not known to be there is not."""
    names = (names_at_work(module) or frozenset()) | names_elsewhere(module)
    source = _source(module)
    if source is not None:
        text = source.read_text("utf-8", "replace")[:_LARGEST_MODULE]
        names |= module_facts(text).names
    return frozenset(name for name in names if not name.startswith("_"))


def _source(module: str) -> Path | None:
    base = Path(sysconfig.get_path("stdlib"), *module.split("."))
    candidates = (base.with_suffix(".py"), base / "__init__.py")
    return next((path for path in candidates if path.is_file()), None)
