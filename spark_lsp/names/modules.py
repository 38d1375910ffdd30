"""Modules that were read, and the closed sets of names that they and their classes have."""

from __future__ import annotations

import builtins
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from spark_lsp.names.facts import ClassFacts, ModuleFacts
from spark_lsp.names.pieces import Piece

BUFFER = ""
"""The key of the module that is being written."""
_DEPTH = 12
"""Steps from one module or class to the next; a longer way is given up, as is one that goes in a circle."""
_NOTHING_TO_SHOW = frozenset(
    {("abc", "ABC"), ("typing", "Generic"), ("typing_extensions", "Generic"), ("builtins", "object")}
)
"""Bases without public names."""


def below(package: str, name: str) -> str:
    """Return how a module of a package is written, both as they are written in an import."""
    return f"{package}{name}" if package.endswith(".") else f"{package}.{name}"


def base_names(classes: Iterable[ClassFacts]) -> frozenset[str]:
    """Return the last names of all bases of these classes."""
    bases = (base.partition("[")[0] for one in classes for base in one.bases)
    return frozenset(base.rpartition(".")[2].strip() for base in bases)


@dataclass(frozen=True, slots=True)
class Module:
    """A module that was read, with the way to those that it imports."""

    facts: ModuleFacts
    links: Mapping[str, str] = field(default_factory=dict)
    """Keys of modules by the way they are written here; a module of a package also as `package.module`."""
    submodules: frozenset[str] = frozenset()
    """Names of all modules within a package, read or not."""
    extra: frozenset[str] = frozenset()
    """Names known from elsewhere than its text."""
    complete: bool = False
    """Whether there are no names but these, whatever the text says."""


@dataclass(frozen=True, slots=True)
class Target:
    """A module or, with a name, a class in it. Only found where nothing else can be meant."""

    module: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class Library:
    """Modules by their keys: what one document imports, directly and further on."""

    modules: Mapping[str, Module] = field(default_factory=dict)
    links: Mapping[str, str] = field(default_factory=dict)
    """Keys by the way the document writes them."""
    bases: frozenset[str] = frozenset()
    """Names of classes that others in these modules are made of, without the names of their modules."""
    pieces: Mapping[str, Piece] = field(default_factory=dict, compare=False)
    """What was read of the document itself meanwhile, for a `PieceReader`."""

    def with_buffer(self, facts: ModuleFacts) -> Library:
        """Return the library with the document itself in it, under `BUFFER`."""
        return Library(
            {**self.modules, BUFFER: Module(facts, self.links)}, self.links, self.bases | base_names(facts.every_class)
        )

    def imported(self, module: str, written: str, name: str) -> Target | None:
        """Return what `from written import name` gives in a module; without a name, what `import written` does."""
        return self._imported(module, written, name, _DEPTH)

    def resolve(self, module: str, dotted: str) -> Target | None:
        """Return what `dotted`, a name or names with dots, is at the top of a module; None if that is not certain."""
        root, *rest = dotted.split(".")
        found = self._find(module, root, _DEPTH)
        for name in rest:
            found = self.attribute(found, name) if found is not None else None
        return found

    def attribute(self, target: Target, name: str) -> Target | None:
        """Return the module or class that is the attribute `name` of a target."""
        if target.name:
            return None
        return self._find(target.module, name, _DEPTH)

    def names(self, target: Target) -> frozenset[str] | None:
        """Return all names that a target can have; None if they are not all known."""
        if target.name:
            return self._class_names(target, _DEPTH)
        return self._module_names(target.module, _DEPTH)

    def class_names(self, module: str, found: ClassFacts) -> frozenset[str] | None:
        """Return all names of a class and its instances; None if they are not all known."""
        return self._names_of(module, found, _DEPTH)

    def _imported(self, module: str, written: str, name: str, depth: int) -> Target | None:
        holder = self.modules.get(module)
        if holder is None or depth == 0:
            return None
        key = holder.links.get(written)
        if not name:
            return self._module(key)
        itself = key == module  # `from . import name` in a package: only a module of it can be meant
        found = self._find(key, name, depth - 1) if key is not None and not itself else None
        if found is None and (key is None or itself or not self._binds(key, name)):
            found = self._module(holder.links.get(below(written, name)))
        return found

    def _module(self, key: str | None) -> Target | None:
        return Target(key) if key is not None and key in self.modules else None

    def _binds(self, key: str, name: str) -> bool:
        module = self.modules.get(key)
        return module is not None and name in module.facts.names

    def _find(self, key: str, name: str, depth: int) -> Target | None:
        module = self.modules.get(key)
        if module is None or depth == 0:
            return None
        facts = module.facts
        imports, defined = facts.imports.get(name, ()), name in facts.classes
        if name in facts.assigned:
            return None
        if defined:
            return Target(key, name) if not imports else None
        if imports:
            found = {self._imported(key, written, there, depth - 1) for written, there in imports}
            return found.pop() if len(found) == 1 else self._module(module.links.get(f".{name}"))
        if name in module.submodules and name not in facts.names:
            return self._module(module.links.get(f".{name}"))
        if name in facts.names:
            return None
        if any(star not in module.links and not star.startswith("_") for star in facts.stars):
            return None  # a star without a link is the C twin (`_datetime`) of what is written in Python
        ways = (self._find(module.links[star], name, depth - 1) for star in facts.stars if star in module.links)
        return next((found for found in ways if found is not None), None)

    def _module_names(self, key: str, depth: int) -> frozenset[str] | None:
        module = self.modules.get(key)
        if module is None or depth == 0 or (module.facts.dynamic and not module.complete):
            return None
        names = module.facts.names | module.submodules | module.extra
        if module.complete:
            return names
        for star in module.facts.stars:
            other = module.links.get(star)
            more = self._module_names(other, depth - 1) if other is not None else None
            if more is None:
                return None
            names |= more
        return names

    def _class_names(self, target: Target, depth: int) -> frozenset[str] | None:
        module = self.modules.get(target.module)
        found = module.facts.classes.get(target.name) if module is not None else None
        return self._names_of(target.module, found, depth) if found is not None else None

    def _names_of(self, module: str, found: ClassFacts, depth: int) -> frozenset[str] | None:
        if found.dynamic or depth == 0:
            return None
        names = found.names
        for written in found.bases:
            more = self._base_names(module, written, depth - 1)
            if more is None:
                return None
            names |= more
        return names

    def _base_names(self, module: str, written: str, depth: int) -> frozenset[str] | None:
        base = re.sub(r"\s|\[.*\]$", "", written)
        if not re.fullmatch(r"\w+(?:\.\w+)*", base):
            return None
        holder = self.modules[module].facts
        if "." not in base and base not in holder.names and not holder.stars:
            kind = getattr(builtins, base, None)
            shown = (name for name in dir(kind) if not name.startswith("__"))
            return frozenset(shown) if isinstance(kind, type) else None
        origin = self._origin(holder, base)
        if origin in _NOTHING_TO_SHOW:
            return frozenset()
        target = self.resolve(module, base)
        if target is None or not target.name:
            return None
        return self._class_names(target, depth)

    @staticmethod
    def _origin(holder: ModuleFacts, base: str) -> tuple[str, str]:
        """Module and name of a base as they are written in the imports."""
        root, _, last = base.rpartition(".")
        imports = holder.imports.get(root or base, ())
        if len(imports) != 1:
            return "", ""
        written, there = imports[0]
        return (written, last) if root else (written, there)
