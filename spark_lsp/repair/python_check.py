"""What Python itself says of a text, without running it: its first syntax error, and the names that nothing binds.

Names are looked up as the compiler does (`symtable`). Whether a name is bound before it is used is not looked at, and
neither are attributes.
"""

from __future__ import annotations

import ast
import builtins
import symtable
import warnings
from collections import Counter
from dataclasses import dataclass

MAX_CHARACTERS = 200_000
"""Reading so much takes up to 60 ms, during which no other thread runs Python."""
_GIVEN = frozenset(dir(builtins)) | {"__file__", "__path__", "WindowsError", "__annotations__", "__builtins__"}

_NAMED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.ExceptHandler, ast.MatchAs, ast.MatchStar)


@dataclass(frozen=True, slots=True)
class PythonFacts:
    """What is known of a text."""

    error_line: int | None = None
    """Line of the first syntax error, from 0; None if the text compiles."""
    error: str = ""
    from_above: bool = False
    """Whether the line of the error would be right below other lines: it is indented wrongly or closes nothing."""
    undefined: Counter[str] | None = None
    """How often each name is used that nothing binds; None where that is not known."""
    unused: int = 0
    """How many imports and local variables are used nowhere."""


def python_facts(text: str) -> PythonFacts | None:
    """Return the facts of a Python text; None if it is too large or this Python cannot read it at all."""
    if len(text) > MAX_CHARACTERS:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an odd escape in the user's text is not our concern
            tree = ast.parse(text)
            compile(tree, "<document>", "exec", dont_inherit=True)
            undefined, unused = _names(text, tree)
    except SyntaxError as error:
        message = error.msg or "invalid syntax"
        from_above = isinstance(error, IndentationError) or message.startswith("unmatched")
        return PythonFacts(max((error.lineno or 1) - 1, 0), message, from_above)
    except (ValueError, RecursionError, MemoryError, OverflowError):
        return None
    return PythonFacts(undefined=undefined, unused=unused)


def _names(text: str, tree: ast.Module) -> tuple[Counter[str] | None, int]:
    """Return the names that nothing binds, None if that is not known, and the number of names that nothing uses."""
    top = symtable.symtable(text, "<document>", "exec")
    bound = {symbol.get_name() for symbol in top.get_symbols() if _binds(symbol)}
    free: set[str] = set()
    unused = 0
    waiting = [top]
    while waiting:
        table = waiting.pop()
        waiting += table.get_children()
        for symbol in table.get_symbols():
            if table is not top and symbol.is_declared_global() and symbol.is_assigned():
                bound.add(symbol.get_name())
            if symbol.is_referenced() and (symbol.is_global() or table is top):
                free.add(symbol.get_name())
            local = table.get_type() == "function" and symbol.is_local() and not symbol.is_parameter()
            unused += (local or (table is top and symbol.is_imported())) and not symbol.is_referenced()
    nodes = [*ast.walk(tree)]
    if any(isinstance(node, ast.ImportFrom) and node.names[0].name == "*" for node in nodes):
        return None, unused  # it may bind anything
    unbound = (free - bound - _GIVEN) | _only_added_to(nodes)
    return Counter(node.id for node in nodes if isinstance(node, ast.Name) and node.id in unbound), unused


def _only_added_to(nodes: list[ast.AST]) -> set[str]:
    """Return the names that are bound nowhere but by statements like `name += 1`, which need a value first."""
    targets = [node.target for node in nodes if isinstance(node, ast.AugAssign)]
    added = {target.id: target for target in targets if isinstance(target, ast.Name)}
    if not added:
        return set()
    by_adding = {id(target) for target in targets}
    bound: set[str | None] = set(_GIVEN)
    for node in nodes:
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load) and id(node) not in by_adding:
            bound.add(node.id)
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
        elif isinstance(node, ast.alias):
            bound.add(node.asname or node.name.partition(".")[0])
        elif isinstance(node, _NAMED):
            bound.add(node.name)
        elif isinstance(node, ast.MatchMapping):
            bound.add(node.rest)
    return {name for name in added if name not in bound}


def _binds(symbol: symtable.Symbol) -> bool:
    return symbol.is_assigned() or symbol.is_imported() or symbol.is_namespace()
