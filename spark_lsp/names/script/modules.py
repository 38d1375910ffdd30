"""What a whole script binds and exports, and the modules that one document imports."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from spark_lsp.names.script.exports import Links
from spark_lsp.names.script.pieces import Piece, Pieces
from spark_lsp.names.script.shapes import Shape, joined

BUFFER = ""
"""The key of the module that is being written."""


@dataclass(frozen=True, slots=True)
class ScriptFacts:
    """A script as it is written."""

    shapes: Mapping[str, Shape]
    """By name; of several with one name, all that any of them has."""
    links: Links
    bases: frozenset[str]
    """Names of what shapes in it are made of, without the names of their modules."""
    whole: bool
    """Whether every brace is closed; else a part of it may belong to another one than it seems."""
    mocked: bool = False
    """Whether it is a test that puts something else in place of modules."""

    @property
    def is_module(self) -> bool:
        """Whether it imports or exports something; other scripts share their names with all others."""
        links = self.links
        return bool(links.imports or links.exports or links.stars or links.imported or links.dynamic)


@dataclass(frozen=True, slots=True)
class ScriptModule:
    """A module that was read, with the way to those that it imports."""

    facts: ScriptFacts
    links: Mapping[str, str] = field(default_factory=dict)
    """Keys of modules by the way they are written here."""
    ambient: bool = False
    """Whether it only describes a module, so that all that it declares may be exported."""


@dataclass(frozen=True, slots=True)
class ScriptLibrary:
    """Modules by their keys: what one document imports, directly and further on."""

    modules: Mapping[str, ScriptModule] = field(default_factory=dict)
    links: Mapping[str, str] = field(default_factory=dict)
    """Keys by the way the document writes them."""
    bases: frozenset[str] = frozenset()
    """Names of what shapes in these modules are made of."""
    pieces: Mapping[str, Piece] = field(default_factory=dict, compare=False)
    """What was read of the document itself meanwhile, for a `PieceReader`."""

    def with_buffer(self, facts: ScriptFacts) -> ScriptLibrary:
        """Return the library with the document itself in it, under `BUFFER`."""
        return ScriptLibrary(
            {**self.modules, BUFFER: ScriptModule(facts, self.links)}, self.links, self.bases | facts.bases
        )


def facts_of(code: Pieces) -> ScriptFacts:
    """Return the facts of a script."""
    shapes: dict[str, Shape] = {}
    imports: dict[str, tuple[tuple[str, str], ...]] = {}
    exports: dict[str, tuple[str, str]] = {}
    for piece in code.pieces:
        for shape in piece.shapes:
            if shape.name:
                shapes[shape.name] = joined(shapes[shape.name], shape) if shape.name in shapes else shape
        for name, found in piece.links.imports.items():
            imports[name] = tuple(dict.fromkeys((*imports.get(name, ()), *found)))
        for name, there in piece.links.exports.items():
            known = exports.get(name, ("", ""))
            exports[name] = there if known == ("", "") or known == there else ("", "")
    links = Links(
        imports,
        exports,
        tuple(dict.fromkeys(star for piece in code.pieces for star in piece.links.stars)),
        any(piece.links.dynamic for piece in code.pieces),
        _all(piece.links.others for piece in code.pieces),
        _all(piece.links.prototypes for piece in code.pieces),
        tuple(span for piece in code.pieces for span in piece.links.imported),
    )
    bases = _all((base.rpartition(".")[2] for base in shape.bases) for piece in code.pieces for shape in piece.shapes)
    return ScriptFacts(shapes, links, bases, code.whole, any(piece.mocked for piece in code.pieces))


def _all(found: Iterable[Iterable[str]]) -> frozenset[str]:
    return frozenset[str]().union(*found)
