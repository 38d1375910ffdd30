"""What a Python module binds: names, imports, classes with their members. Always rather too many names than too few."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from spark_lsp.names.pieces import PieceReader, Pieces

_WORD = re.compile(r"[^\W\d]\w*")
_DEF = re.compile(r"(?:async\s+)?def\s+(\w+)")
_FIRST_PARAMETER = re.compile(r"\(\s*(\w+)")
_CLASS = re.compile(r"class\s+(\w+)\s*(.*)")
_FROM = re.compile(r"from\s+([.\w\s]+?)\s+import\s+(.*)")
_MADE_LATER = re.compile(r"\b(?:setattr|exec|eval|vars|locals|globals|__dict__|__getattr\w*__|global_enum)\b")
"""In a module outside its functions: names may come from here that no reader sees."""
_PLAIN_DECORATOR = re.compile(
    r"@\s*(?:dataclass|dataclasses\.dataclass|final|typing\.final|total_ordering|functools\.total_ordering"
    r"|runtime_checkable|typing\.runtime_checkable)\b"
)
"""Decorators of classes that add no public name."""
_ASSIGNED = re.compile(r"(\w+)\s*(?::[^=]+)?=(?!=)(.*)")
_FOR_OTHERS = re.compile(r"Mixin|Base|Abstract|Interface|Protocol|\bABC\b")
"""In the name of a class or of what it is made of."""
_NO_NAMES = frozenset({"def", "class", "async"})
"""What a piece can begin with; may follow a dot that a line ends with while one writes there."""
_PUT_IN = re.compile(r"(\w+)\.(\w+)\s*=(?!=)")
"""`Class.name = ...`, written below a class."""
_FIRST_OF_NOTED = frozenset("@acdfgi")
"""What the lines begin with that matter in a function: definitions, imports and `global`; most others are skipped."""


@dataclass(frozen=True, slots=True)
class ClassFacts:
    """A class as it is written."""

    name: str
    bases: tuple[str, ...]
    """As they are written."""
    names: frozenset[str]
    """What its body binds, and every attribute of `self` and `cls` in it."""
    dynamic: bool
    """Whether it may have names that are not written in it."""
    for_others: bool
    """Whether its `self` is likely to be of a class that is made of it, and may use names of that."""
    first: int
    """Line of its head."""
    end: int
    """First line behind it that holds code, or the number of lines."""
    column: int
    """Of its head."""
    foreign: frozenset[str] = frozenset()
    """Attributes of `self` or `cls` that it uses and does not bind; without a base that has them it is a mixin."""


@dataclass(frozen=True, slots=True)
class ModuleFacts:
    """A module as it is written."""

    names: frozenset[str]
    imports: Mapping[str, tuple[tuple[str, str], ...]]
    """By the name here: the modules as they are written, with the name there; that is empty for the module itself."""
    stars: tuple[str, ...] = ()
    """Modules of which everything is imported."""
    classes: Mapping[str, ClassFacts] = field(default_factory=dict)
    """Those at the top; of several with one name, all that any of them has."""
    every_class: tuple[ClassFacts, ...] = ()
    """Inner ones too."""
    assigned: frozenset[str] = frozenset()
    """Names that something else than None is assigned to outside functions: they may be no import and no class."""
    dynamic: bool = False
    """Whether it may have names that are not written in it."""
    code: Pieces = field(default_factory=Pieces)
    old: bool = False
    """Whether it is written for Python 2."""


class _Scope:
    """A module, a class or a function while its lines are read."""

    def __init__(self, kind: str, column: int, first: int, name: str = "", rest: str = "") -> None:
        self.kind, self.column, self.first, self.name, self.rest = kind, column, first, name, rest
        self.names: set[str] = set()
        self.selves: set[str] = set()
        """What the methods of a class call their first parameter, where that is unusual."""
        self.dynamic = False


def module_facts(text: str) -> ModuleFacts:
    """Return the facts of a Python text with LF line ends, without its code."""
    facts = facts_of(PieceReader().read(text))
    return replace(facts, code=Pieces(whole=facts.code.whole))


def facts_of(code: Pieces) -> ModuleFacts:
    """Return the facts of a Python text."""
    reader = _Reader(code)
    for piece, start in zip(code.pieces, code.starts, strict=True):
        for line in piece.noted:
            reader.take(line.text, line.column, line.first + start)
    reader.end_all()
    module = reader.scopes[0]
    return ModuleFacts(
        names=frozenset(module.names),
        imports={name: tuple(dict.fromkeys(found)) for name, found in reader.imports.items()},
        stars=tuple(dict.fromkeys(reader.stars)),
        classes=_at_the_top(reader.classes, module.names - reader.assigned, reader.put),
        every_class=tuple(reader.classes),
        assigned=frozenset(reader.assigned),
        dynamic=module.dynamic
        or "__getattr__" in module.names
        or not code.whole
        or any(piece.made_later for piece in code.pieces),
        code=code,
        old=any(piece.old for piece in code.pieces),
    )


class _Reader:
    def __init__(self, code: Pieces) -> None:
        self.code = code
        self.scopes = [_Scope("module", -1, 0)]
        self.imports: dict[str, list[tuple[str, str]]] = {}
        self.stars: list[str] = []
        self.classes: list[ClassFacts] = []
        self.put: dict[str, set[str]] = {}
        """Names that are put into classes below them."""
        self.assigned: set[str] = set()
        """Names that something else than None is assigned to outside functions."""
        self._decorated = False

    def end_all(self) -> None:
        """End every scope with the text."""
        self._close(0, sum(piece.span.text.count("\n") for piece in self.code.pieces) + 1)

    def take(self, text: str, column: int, first: int) -> None:
        """Read the next logical line."""
        while len(self.scopes) > 1 and column <= self.scopes[-1].column:
            self._close(len(self.scopes) - 1, first)
        scope = self.scopes[-1]
        if scope.kind == "def" and text[0] not in _FIRST_OF_NOTED:
            return
        if text.startswith(("import ", "from ", "from.")):
            self._import(scope, text)
            return
        if scope.kind != "def" and _MADE_LATER.search(text):
            scope.dynamic = True
        made = _DEF.match(text) if text[0] in "ad" else None
        opened = _CLASS.match(text) if text[0] == "c" else None
        if made is not None:
            scope.names.add(made[1])
            scope.selves.update(_FIRST_PARAMETER.findall(text[made.end() :])[:1])
            self.scopes.append(_Scope("def", column, first))
        elif opened is not None:
            scope.names.add(opened[1])
            inner = _Scope("class", column, first, opened[1], opened[2])
            inner.dynamic = self._decorated
            inner.names.update(_WORD.findall(_behind_head(opened[2])))
            self.scopes.append(inner)
        elif scope.kind != "def":
            scope.names.update(_WORD.findall(text))
            put = _PUT_IN.match(text)
            if put is not None:
                self.put.setdefault(put[1], set()).add(put[2])
            given = _ASSIGNED.match(text)
            if given is not None and given[2].strip() != "None":
                self.assigned.add(given[1])
        elif text.startswith("global "):
            self.scopes[0].names.update(_WORD.findall(text))
        self._decorated = text[0] == "@" and (self._decorated or _PLAIN_DECORATOR.match(text) is None)

    def _close(self, kept: int, end: int) -> None:
        """End every scope but the first `kept`, or but the module, at the line `end`."""
        while len(self.scopes) > max(kept, 1):
            scope = self.scopes.pop()
            if scope.kind == "class":
                self.classes.append(self._class(scope, end))

    def _class(self, scope: _Scope, end: int) -> ClassFacts:
        spans = [*self.code.spans(scope.first, end)]
        names = scope.names.union(*(span.on_self for span in spans))
        for unusual in scope.selves - {"self", "cls"}:
            pattern = re.compile(rf"\b{unusual}\s*\.\s*(\w+)")
            for span in spans:
                if unusual in span.text:
                    names.update(pattern.findall(span.text))
        names -= _NO_NAMES
        foreign = frozenset[str]().union(*(span.used for span in spans))
        foreign = foreign.difference(scope.names, *(span.bound for span in spans))
        for inner in self.classes:
            if inner.first > scope.first:
                foreign -= inner.names
        bases, plain = _bases(scope.rest)
        for_others = any(map(_FOR_OTHERS.search, (scope.name, *bases))) or any(span.unfinished for span in spans)
        dynamic = scope.dynamic or not plain or any(span.made_later for span in spans)
        return ClassFacts(
            scope.name, bases, frozenset(names), dynamic, for_others, scope.first, end, scope.column, foreign
        )

    def _import(self, scope: _Scope, text: str) -> None:
        found = _FROM.match(text)
        module = found[1].replace(" ", "") if found is not None else ""
        listed = (found[2] if found is not None else text[len("import ") :]).replace("(", " ").replace(")", " ")
        for item in listed.split(";")[0].split(","):
            there, _, here = (part.strip() for part in item.strip().partition(" as "))
            if there == "*":
                self.stars.append(module)
            elif found is not None and there:
                self._bind(scope, here or there, module, there)
            elif there:
                root = there.partition(".")[0]
                self._bind(scope, here or root, there if here else root, "")

    def _bind(self, scope: _Scope, here: str, module: str, there: str) -> None:
        self.imports.setdefault(here, []).append((module, there))
        if scope.kind != "def":
            scope.names.add(here)


def _behind_head(rest: str) -> str:
    """What stands on the line of a class behind its colon."""
    depth = 0
    for at, character in enumerate(rest):
        depth += (character in "([") - (character in ")]")
        if character == ":" and depth == 0:
            return rest[at + 1 :]
    return ""


def _bases(rest: str) -> tuple[tuple[str, ...], bool]:
    """The bases in the head of a class, and whether it has nothing else that could add names."""
    inside = rest.strip()
    if inside.startswith("["):  # type parameters
        return (), False
    if not inside.startswith("("):
        return (), True
    parts: list[str] = [""]
    depth = 0
    for character in inside:
        depth += (character in "([{") - (character in ")]}")
        if depth == 0:
            break
        if character == "," and depth == 1:
            parts.append("")
        elif depth > 1 or character not in "([{":
            parts[-1] += character
    parts = [part.strip() for part in parts if part.strip()]
    bases = [part for part in parts if "=" not in part]
    keywords = [re.sub(r"\s", "", part) for part in parts if "=" in part]
    plain = all(keyword in ("metaclass=ABCMeta", "metaclass=abc.ABCMeta") for keyword in keywords)
    return tuple(bases), plain


def _at_the_top(classes: list[ClassFacts], names: set[str], put: dict[str, set[str]]) -> dict[str, ClassFacts]:
    found: dict[str, ClassFacts] = {}
    for one in classes:
        other = found.get(one.name)
        if other is not None:  # an inner class may have the name of an outer one: then both count
            one = ClassFacts(
                one.name,
                tuple(dict.fromkeys(other.bases + one.bases)),
                other.names | one.names,
                other.dynamic or one.dynamic,
                other.for_others or one.for_others,
                one.first,
                one.end,
                one.column,
                other.foreign | one.foreign,
            )
        found[one.name] = one
    return {
        name: replace(one, names=one.names.union(put.get(name, ()))) for name, one in found.items() if name in names
    }
