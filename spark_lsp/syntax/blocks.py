"""Questions about a place in a document: which block, which statement, which errors.

Offsets are code points. Every answer is found along the way from the root to the place, so its cost does not grow with
the document, and every walk is a loop, so deeply nested text overflows nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from spark_lsp.syntax.enclosing import enclosing_block, enclosing_definition
from spark_lsp.syntax.indentation import indentation_block
from spark_lsp.syntax.kinds import can_be_statement, kind_of
from spark_lsp.syntax.lexical import ScopeKind
from spark_lsp.syntax.nodes import children_from, lacks_hidden_token, path_to
from spark_lsp.syntax.offsets import Span
from spark_lsp.syntax.openers import opens_block
from spark_lsp.syntax.parser import SyntaxTree
from spark_lsp.syntax.scopes import scope_kind

if TYPE_CHECKING:
    from tree_sitter import Node

__all__ = [
    "ScopeKind",
    "Span",
    "enclosing_block",
    "enclosing_definition",
    "errors_in",
    "indentation_block",
    "opens_block",
    "scope_kind",
    "statement_at",
]


def statement_at(tree: SyntaxTree, offset: int) -> Span | None:
    """The innermost statement, declaration, field, import or element that touches `offset` and has no error inside.

    Where two touch, it is the one that ends there.
    """
    if tree.root is None:
        return None
    byte = tree.byte_of(offset)
    for side in (byte - 1, byte):
        path = path_to(tree.root, max(side, 0))
        for index in range(len(path) - 1, 0, -1):
            end = path[index].end_byte
            node = _before_semicolon(path[index]) or path[index]
            if node.is_named and not node.has_error and _is_statement(node, path[index - 1], index == 1, tree):
                start, whole = node.start_byte, path[index - 1]
                if index > 1 and _only_adds_semicolon(whole, start, end, tree):
                    end = whole.end_byte
                return Span(tree.offset_of(start), tree.offset_of(end))
    return None


def errors_in(tree: SyntaxTree, start: int, end: int) -> int:
    """How many error nodes and missing tokens overlap the range from `start` to `end`."""
    if tree.root is None or not tree.root.has_error:
        return 0
    first, last = tree.byte_of(start), tree.byte_of(end)
    count = 0
    waiting = [tree.root]
    while waiting:
        node = waiting.pop()
        if node.is_missing or node.is_error:
            count += _overlaps(node.start_byte, node.end_byte, first, last)
        elif first <= node.end_byte <= last and lacks_hidden_token(node):
            count += 1
        for child in children_from(node, first):
            if child.start_byte > last:
                break
            if child.has_error:
                waiting.append(child)
    return count


def _overlaps(start: int, end: int, first: int, last: int) -> bool:
    if start == end:
        return first <= start <= last
    return start < last and first < end


def _is_statement(node: Node, parent: Node, at_top: bool, tree: SyntaxTree) -> bool:
    language = tree.language.name
    if kind_of(node.type, language).statement:
        return True
    inside_block = at_top or (parent.is_named and kind_of(parent.type, language).container)
    return inside_block and can_be_statement(node.type, language)


def _before_semicolon(node: Node) -> Node | None:
    """What a semicolon ends, in grammars that put it beside the statement."""
    return node.prev_sibling if node.type == ";" else None


def _only_adds_semicolon(whole: Node, start: int, end: int, tree: SyntaxTree) -> bool:
    """Whether a node is the statement from `start` to `end` and its semicolon."""
    rest = tree.encoded.data[end : min(whole.end_byte, end + 16)] if tree.encoded else b""
    return whole.start_byte == start and whole.end_byte - end < 16 and rest.strip() == b";"
