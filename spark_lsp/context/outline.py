"""What a file imports and defines, by its syntax tree: signatures without bodies.

The rules are over the fields that grammars share (`name`, `body`, `declaration`), so they hold for most languages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from spark_lsp.context.imports import SCRIPT_LANGUAGES, Import
from spark_lsp.context.similarity import words
from spark_lsp.syntax.kinds import kind_of
from spark_lsp.syntax.parser import SyntaxTree

if TYPE_CHECKING:
    from tree_sitter import Node

MOST_NODES = 2_000
"""Statements of a file that are looked at; generated files have more."""
MOST_MEMBERS = 64
SIGNATURE_CHARACTERS = 400
"""Longer signatures are cut."""
VALUE_CHARACTERS = 100
"""Of a constant or a field, its first line up to here."""
SHAPE_LINES = 16
"""Types that are nothing but their fields are shown whole up to this length."""

_SHAPE = re.compile(r"(\w*_)?(interface|struct|enum|type|record|union|trait|protocol|message)(_\w+)?")
_IMPORT = re.compile(r"(import|use|using|include|require|preproc_include|package)(_\w+)?")
_AROUND = re.compile(
    r"decorated_definition|export_statement|template_declaration|ambient_declaration|expression_statement|"
    r"(lexical|variable|const|var|type)_declaration"
)
"""Nodes that only stand around what is defined."""
_REQUIRE = re.compile(r"""(?:const|let|var)\s+(.+?)\s*=\s*require\(\s*["'](.+?)["']\s*\)""", re.DOTALL)
_NAME_FIELDS = ("name", "declarator", "left", "pattern", "property", "type")


@dataclass(frozen=True, slots=True)
class Member:
    """A method or a field."""

    name: str
    signature: str
    """With its indentation."""


@dataclass(frozen=True, slots=True)
class Definition:
    """Something defined at the top of a file."""

    name: str
    signature: str
    members: tuple[Member, ...]
    start: int
    """Where it begins, in code points."""


@dataclass(frozen=True, slots=True)
class Outline:
    """A file without its bodies."""

    imports: tuple[Import, ...] = ()
    definitions: tuple[Definition, ...] = ()


def outline(tree: SyntaxTree) -> Outline:
    """Return the outline of a file; an empty one where there is no tree."""
    imports: list[Import] = []
    definitions: list[Definition] = []
    if tree.root is not None:
        for node in tree.root.named_children[:MOST_NODES]:
            found = _import(node, tree)
            if found is not None:
                imports.append(found)
                continue
            definition = _definition(node, tree)
            if definition is not None:
                definitions.append(definition)
    return Outline(tuple(imports), tuple(definitions))


# Imports


def _import(node: Node, tree: SyntaxTree) -> Import | None:
    language, text, end = tree.language.name, _text(node), tree.offset_of(node.end_byte)
    if language == "python":
        if node.type not in ("import_statement", "import_from_statement"):
            return None
        module = node.child_by_field_name("module_name")
        names = [_python_name(child) for child in node.children_by_field_name("name")]
        return Import(text, _text(module), tuple(names), end)
    if language in SCRIPT_LANGUAGES:
        source = node.child_by_field_name("source")
        if source is not None:
            return Import(text, _text(source).strip("\"'`"), tuple(_script_names(node)), end)
        required = _REQUIRE.match(text) if "require(" in text[:SIGNATURE_CHARACTERS] else None
        if required is not None:
            return Import(text, required[2], tuple((name, name) for name in sorted(words(required[1]))), end)
        return None
    if _IMPORT.fullmatch(node.type):
        return Import(text.rstrip("\n"), "", tuple((name, name) for name in sorted(words(text))), end)
    return None


def _python_name(node: Node) -> tuple[str, str]:
    if node.type == "aliased_import":
        return _text(node.child_by_field_name("alias")), _text(node.child_by_field_name("name"))
    return _text(node), _text(node)


def _script_names(node: Node) -> Iterator[tuple[str, str]]:
    waiting = [*node.named_children]
    while waiting:
        child = waiting.pop(0)
        if child.type in ("import_specifier", "export_specifier"):
            name, alias = _text(child.child_by_field_name("name")), child.child_by_field_name("alias")
            yield (_text(alias) if alias is not None else name), name
        elif child.type == "identifier":
            yield _text(child), _text(child)
        else:
            waiting += child.named_children


# Definitions


def _definition(node: Node, tree: SyntaxTree) -> Definition | None:
    inner = _inner(node)
    name = _name(inner)
    if not name or kind_of(node.type, tree.language.name).comment:
        return None
    body = _body(inner)
    if body is not None and _SHAPE.fullmatch(inner.type) and _lines(node) <= SHAPE_LINES:
        return Definition(name, _text(node), (), tree.offset_of(node.start_byte))
    members = tuple(_members(body, tree)) if body is not None and _holds_members(inner, tree) else ()
    signature = _signature(node, inner, body, tree)
    if tree.language.indent_blocks and body is not None and not members:
        signature += " ..."
    return Definition(name, signature, members, tree.offset_of(node.start_byte))


def _inner(node: Node) -> Node:
    """What a node defines, out of decorators, exports and the like."""
    while _AROUND.fullmatch(node.type):
        inner = node.child_by_field_name("definition") or node.child_by_field_name("declaration")
        if inner is None:
            inner = next((child for child in reversed(node.named_children) if _name(child)), None)
        if inner is None:
            break
        node = inner
    return node


def _name(node: Node) -> str:
    """The name that a node gives to something, empty if it gives none."""
    for depth in range(8):  # a C declarator may stand in several others
        below = next((found for field in _NAME_FIELDS if (found := node.child_by_field_name(field)) is not None), None)
        if below is None:
            if depth == 0:
                return ""
            break
        node = below
    else:
        return ""
    text = _text(node) if not node.named_child_count else ""
    return text if text.isidentifier() else ""


def _body(node: Node) -> Node | None:
    """The body of what a node defines; of a constant that is a function, the function's."""
    body = node.child_by_field_name("body")
    value = node.child_by_field_name("value") or node.child_by_field_name("right")
    if body is None and value is not None and kind_of(value.type, "").closure:
        body = value.child_by_field_name("body")
    return body


def _holds_members(node: Node, tree: SyntaxTree) -> bool:
    kind = kind_of(node.type, tree.language.name)
    return kind.definition and not re.search(r"function|func|method|fn_|constructor", node.type) and not kind.closure


def _members(body: Node, tree: SyntaxTree) -> Iterator[Member]:
    for node in body.named_children[:MOST_MEMBERS]:
        inner = _inner(node)
        name = _name(inner)
        if not name or kind_of(node.type, tree.language.name).comment:
            continue
        start = tree.offset_of(node.start_byte)
        before = tree.text[tree.text.rfind("\n", 0, start) + 1 : start]
        signature = _signature(node, inner, _body(inner), tree)
        if tree.language.indent_blocks and _body(inner) is not None:
            signature += " ..."
        yield Member(name, (before if before.isspace() else "    ") + signature)


def _signature(node: Node, inner: Node, body: Node | None, tree: SyntaxTree) -> str:
    """The text up to the body; of what has none, the first line."""
    start, whole = tree.offset_of(node.start_byte), _text(node)
    if body is None:
        return whole.partition("\n")[0].rstrip()[:VALUE_CHARACTERS]
    end = tree.offset_of(_header_end(body))
    if end - start > SIGNATURE_CHARACTERS:
        start = tree.offset_of(inner.start_byte)
    header = tree.text[start : min(end, start + SIGNATURE_CHARACTERS)]
    return header.replace("\r\n", "\n").replace("\r", "\n").rstrip().removesuffix("{").rstrip()


def _header_end(body: Node) -> int:
    """Where the last token before a body ends; comments between them are no part of a signature."""
    before = body.prev_sibling
    while before is not None and "comment" in before.type:
        before = before.prev_sibling
    return before.end_byte if before is not None else body.start_byte


def _lines(node: Node) -> int:
    return node.end_point.row - node.start_point.row + 1


def _text(node: Node | None) -> str:
    if node is None or node.text is None:
        return ""
    return node.text.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
