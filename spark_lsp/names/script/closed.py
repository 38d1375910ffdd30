"""The closed sets of names that modules, classes and instances of a library have."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from spark_lsp.names.script.exports import ALL, DEFAULT
from spark_lsp.names.script.modules import BUFFER, ScriptLibrary
from spark_lsp.names.script.shapes import Kind, Shape

_DEPTH = 12
"""Steps from one module or shape to the next; a longer way is given up, as is one that goes in a circle."""
OF_OBJECTS = frozenset(
    {"constructor", "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable", "toLocaleString", "toString", "valueOf"}
)
OF_FUNCTIONS = frozenset({"apply", "arguments", "bind", "call", "caller", "length", "name", "prototype"})
_OF_ERRORS = frozenset({"message", "name", "stack", "cause"})
_OF_ERROR_CLASSES = frozenset({"captureStackTrace", "stackTraceLimit", "prepareStackTrace", "isError"})
_ERRORS = frozenset({"Error", "TypeError", "RangeError", "SyntaxError", "ReferenceError", "EvalError", "URIError"})


class As(Enum):
    """What of a shape or a module is meant."""

    ITSELF = "itself"
    """The class, the enumeration, the module."""
    INSTANCE = "instance"


@dataclass(frozen=True, slots=True)
class Target:
    """A module or, with a name, a shape in it. Only found where nothing else can be meant."""

    module: str
    name: str = ""
    kind: As = As.ITSELF


@dataclass(frozen=True, slots=True)
class ClosedNames:
    """Answers from one library."""

    library: ScriptLibrary

    def resolve(self, module: str, dotted: str, kind: As) -> Target | None:
        """Return what a name, or names with dots, means at the top of a module; as a type if `kind` is an instance."""
        root, *rest = dotted.split(".")
        found = self._find(module, root, kind, _DEPTH)
        for name in rest:
            found = self._exported(found.module, name, kind, _DEPTH) if found is not None and not found.name else None
        return found

    def imported(self, module: str, written: str, there: str, kind: As) -> Target | None:
        """Return what an import in a module gives."""
        return self._imported(module, written, there, kind, _DEPTH)

    def member(self, target: Target, name: str) -> Target | None:
        """Return what the attribute `name` of a target is."""
        if not target.name:
            return self._exported(target.module, name, As.ITSELF, _DEPTH)
        if target.kind is As.ITSELF:
            return None
        shape = self._shape(target)
        found = self.declared(target.module, shape, name) if shape is not None else None
        return self.instance(*found) if found is not None else None

    def instance(self, module: str, written: str) -> Target | None:
        """Return what is declared to be of a type, if that can be of no type made of it."""
        target = self.resolve(module, written, As.INSTANCE)
        return target if target is not None and target.name not in self.library.bases else None

    def declared(self, module: str, shape: Shape, name: str) -> tuple[str, str] | None:
        """Return module and type, as they are written, of what a member of a shape is declared to be."""
        return self._declared(module, shape, name, _DEPTH)

    def names(self, target: Target) -> frozenset[str] | None:
        """Return all names that a target can have; None if they are not all known."""
        if not target.name:
            names = self._module_names(target.module, _DEPTH)
            return names | {DEFAULT} if names is not None else None
        shape = self._shape(target)
        if shape is None:
            return None
        if target.kind is As.ITSELF:
            return self._of_itself(target.module, shape)
        return self.of_instances(target.module, shape) if shape.kind is not Kind.ENUM else None

    def of_instances(self, module: str, shape: Shape) -> frozenset[str] | None:
        """Return all names of the instances of a shape; None if they are not all known, or if it uses others."""
        names = self._names_of(module, shape, As.INSTANCE, _DEPTH)
        if names is None:
            return None
        own = shape.foreign - names - OF_OBJECTS
        itself = self.of_class(module, shape) if own else None
        return names | OF_OBJECTS if not own or (itself is not None and own <= itself) else None

    def of_class(self, module: str, shape: Shape) -> frozenset[str] | None:
        """Return all names of a class itself."""
        names = self._names_of(module, shape, As.ITSELF, _DEPTH)
        return names | OF_FUNCTIONS | OF_OBJECTS if names is not None else None

    def _of_itself(self, module: str, shape: Shape) -> frozenset[str] | None:
        if shape.kind is Kind.CLASS:
            return self.of_class(module, shape)
        return shape.statics | OF_OBJECTS if shape.kind is Kind.ENUM and not shape.dynamic else None

    def _shape(self, target: Target) -> Shape | None:
        module = self.library.modules.get(target.module)
        return module.facts.shapes.get(target.name) if module is not None else None

    def _names_of(self, module: str, shape: Shape, kind: As, depth: int) -> frozenset[str] | None:
        holder = self.library.modules.get(module)
        if shape.dynamic or depth == 0 or holder is None or shape.name in holder.facts.links.prototypes:
            return None
        if kind is As.INSTANCE:
            names = shape.names | (OF_FUNCTIONS if shape.callable else frozenset())
        else:
            names = shape.statics
        for base in shape.bases:
            more = self._base_names(module, base, kind, depth - 1)
            if more is None:
                return None
            names |= more
        return names

    def _base_names(self, module: str, base: str, kind: As, depth: int) -> frozenset[str] | None:
        links, shapes = self.library.modules[module].facts.links, self.library.modules[module].facts.shapes
        if base in _ERRORS and not (base in links.imports or base in links.others or base in shapes):
            return _OF_ERRORS if kind is As.INSTANCE else _OF_ERROR_CLASSES
        target = self.resolve(module, base, As.INSTANCE)
        shape = self._shape(target) if target is not None else None
        if target is None or shape is None:
            return None
        names = self._names_of(target.module, shape, kind, depth)
        return names | shape.foreign if names is not None and kind is As.INSTANCE else names

    def _declared(self, module: str, shape: Shape, name: str, depth: int) -> tuple[str, str] | None:
        if name in shape.types:
            written = shape.types[name]
            return (module, written) if written else None
        if name in shape.names or depth == 0:
            return None
        found = set()
        for base in shape.bases:
            other = self.resolve(module, base, As.INSTANCE)
            above = self._shape(other) if other is not None else None
            found.add(self._declared(other.module, above, name, depth - 1) if other and above else None)
        return found.pop() if len(found) == 1 else None

    def _find(self, key: str, name: str, kind: As, depth: int) -> Target | None:
        module = self.library.modules.get(key)
        if module is None or depth == 0 or not (module.facts.is_module or key == BUFFER):
            return None
        facts = module.facts
        imports = facts.links.imports.get(name, ())
        if name in facts.links.others:
            return None  # a type may have the name of a value; a namespace adds to a class
        if name in facts.shapes:
            return Target(key, name, kind) if not imports else None
        if len(imports) != 1:
            return None
        return self._imported(key, *imports[0], kind, depth - 1)

    def _imported(self, module: str, written: str, there: str, kind: As, depth: int) -> Target | None:
        holder = self.library.modules.get(module)
        key = holder.links.get(written) if holder is not None and depth else None
        if key is None or key not in self.library.modules:
            return None
        return Target(key) if there == ALL else self._exported(key, there, kind, depth - 1)

    def _exported(self, key: str, name: str, kind: As, depth: int) -> Target | None:
        module = self.library.modules.get(key)
        if module is None or depth <= 0 or module.facts.links.dynamic:
            return None
        links = module.facts.links
        if name in links.exports:
            written, there = links.exports[name]
            if not there:
                return None
            return self._imported(key, written, there, kind, depth) if written else self._find(key, there, kind, depth)
        if module.ambient and name in module.facts.shapes:
            return self._find(key, name, kind, depth)
        if name == DEFAULT or any(star not in module.links for star in links.stars):
            return None
        ways = (self._exported(module.links[star], name, kind, depth - 1) for star in links.stars)
        found = {target for target in ways if target is not None}
        return found.pop() if len(found) == 1 else None

    def _module_names(self, key: str, depth: int) -> frozenset[str] | None:
        module = self.library.modules.get(key)
        if module is None or depth == 0:
            return None
        facts = module.facts
        if facts.links.dynamic or not facts.whole or not facts.is_module:
            return None
        names = frozenset(facts.links.exports)
        if module.ambient:
            names |= facts.links.others | frozenset(facts.shapes)
        for star in facts.links.stars:
            other = module.links.get(star)
            more = self._module_names(other, depth - 1) if other is not None else None
            if more is None:
                return None
            names |= more
        return names
