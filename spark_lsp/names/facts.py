"""What a Python module binds: names, imports, classes with their members. Always rather too many names than too few."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from spark_lsp.names.lines import STRING_LINE, Code, CodeLine, read_code, without_strings

_WORD = re.compile(r"[^\W\d]\w*")
_DEF = re.compile(r"(?:async\s+)?def\s+(\w+)")
_FIRST_PARAMETER = re.compile(r"\(\s*(\w+)")
_CLASS = re.compile(r"class\s+(\w+)\s*(.*)")
_FROM = re.compile(r"from\s+([.\w\s]+?)\s+import\s+(.*)")
_ON_SELF = re.compile(r"self\.(\w+)"), re.compile(r"cls\.(\w+)")
_MADE_LATER = re.compile(r"\b(?:setattr|exec|eval|vars|locals|globals|__dict__|__getattr\w*__|global_enum)\b")
"""In a module outside its functions: names may come from here that no reader sees."""
_MODULE_MADE_LATER = re.compile(
    r"\bglobals\(\)|\bsys\.modules\[\s*__name__\s*\]|\b_convert_\w*\(|[lL]azy_?(?:[mM]odule|[iI]mport|[lL]oad)"
)
"""The same, anywhere in a module."""
_CLASS_MADE_LATER = re.compile(
    r"__(?:getattr\w*|setattr|dict|init_subclass)__|(?:setattr|vars|exec|locals)\(|(?:has|get)attr\(\s*(?:self|cls)\b"
)
"""In a class: its instances may have names that no reader sees."""
_MARKS = (
    "globals()",
    "__name__",
    "_convert_",
    "azy",
    "__getattr",
    "__setattr__",
    "__dict__",
    "__init_subclass__",
    "setattr(",
    "vars(",
    "exec(",
    "locals(",
    "hasattr(",
    "getattr(",
)
"""Where a text has none of these, none of the two above is in it; this is much faster to find out."""
_PLAIN_DECORATOR = re.compile(
    r"@\s*(?:dataclass|dataclasses\.dataclass|final|typing\.final|total_ordering|functools\.total_ordering"
    r"|runtime_checkable|typing\.runtime_checkable)\b"
)
"""Decorators of classes that add no public name."""
_ASSIGNED = re.compile(r"(\w+)\s*(?::[^=]+)?=(?!=)(.*)")
_FOR_OTHERS = re.compile(r"Mixin|Base|Abstract|Interface|Protocol|\bABC\b")
"""In the name of a class or of what it is made of."""
_UNFINISHED = re.compile(r"NotImplementedError|abstractmethod")
_PUT_IN = re.compile(r"(\w+)\.(\w+)\s*=(?!=)")
"""`Class.name = ...`, written below a class."""
_FIRST_OF_NOTED = frozenset("@acdfgi")
"""What the lines begin with that matter in a function: definitions, imports and `global`; most others are skipped."""
_OLD_PYTHON = re.compile(r"print\s+[\"'\w]|except\s+[\w.]+\s*,\s*\w+\s*:")


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
    code: Code = field(default_factory=lambda: Code((), whole=True))
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


def module_facts(text: str, *, keep_code: bool = False) -> ModuleFacts:
    """Return the facts of a Python text with LF line ends. With `keep_code` they hold its lines, as for a buffer."""
    masked, closed = without_strings(text)
    code = read_code(masked, closed)
    reader = _Reader(text.split("\n"), masked.replace(STRING_LINE, "\n").split("\n"))
    for line in code.lines:
        reader.take(line)
    reader.close(0, len(reader.raw))
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
        or (reader.marked and _MODULE_MADE_LATER.search(masked) is not None),
        code=code if keep_code else Code((), code.whole),
        old=any(_OLD_PYTHON.match(line.text) for line in code.lines if line.text.startswith(("print", "except"))),
    )


class _Reader:
    def __init__(self, raw: list[str], masked: list[str]) -> None:
        self.raw, self.masked = raw, masked
        self.scopes = [_Scope("module", -1, 0)]
        self.imports: dict[str, list[tuple[str, str]]] = {}
        self.stars: list[str] = []
        self.classes: list[ClassFacts] = []
        self.put: dict[str, set[str]] = {}
        """Names that are put into classes below them."""
        self.assigned: set[str] = set()
        """Names that something else than None is assigned to outside functions."""
        self._decorated = False
        code = "\n".join(masked)
        self.unfinished = _UNFINISHED.search(code) is not None
        self.marked = any(mark in code for mark in _MARKS)

    def take(self, line: CodeLine) -> None:
        while len(self.scopes) > 1 and line.column <= self.scopes[-1].column:
            self.close(len(self.scopes) - 1, line.first)
        scope, text = self.scopes[-1], line.text
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
            self.scopes.append(_Scope("def", line.column, line.first))
        elif opened is not None:
            scope.names.add(opened[1])
            inner = _Scope("class", line.column, line.first, opened[1], opened[2])
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

    def close(self, kept: int, end: int) -> None:
        """End every scope but the first `kept`, or but the module, at the line `end`."""
        while len(self.scopes) > max(kept, 1):
            scope = self.scopes.pop()
            if scope.kind == "class":
                self.classes.append(self._class(scope, end))

    def _class(self, scope: _Scope, end: int) -> ClassFacts:
        own = "\n".join(self.raw[scope.first : end])
        names = scope.names.union(*(pattern.findall(own) for pattern in _ON_SELF))
        for unusual in scope.selves - {"self", "cls"}:
            names |= set(re.findall(rf"\b{unusual}\s*\.\s*(\w+)", own))
        bases, plain = _bases(scope.rest)
        for_others = any(map(_FOR_OTHERS.search, (scope.name, *bases)))
        if self.unfinished and not for_others:
            for_others = _UNFINISHED.search("\n".join(self.masked[scope.first : end])) is not None
        dynamic = scope.dynamic or not plain
        if self.marked and not dynamic:
            dynamic = _CLASS_MADE_LATER.search("\n".join(self.masked[scope.first : end])) is not None
        return ClassFacts(scope.name, bases, frozenset(names), dynamic, for_others, scope.first, end, scope.column)

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
            )
        found[one.name] = one
    return {
        name: replace(one, names=one.names.union(put.get(name, ()))) for name, one in found.items() if name in names
    }
