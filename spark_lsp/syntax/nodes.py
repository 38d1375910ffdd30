"""Ways through a syntax tree, all of them loops: a file of ten thousand nested brackets must not overflow a stack."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from spark_lsp.syntax.kinds import kind_of
from spark_lsp.syntax.languages import Language

if TYPE_CHECKING:
    from tree_sitter import Node

_OPEN_ENDED = frozenset({"toml", "ini", "markdown", "makefile", "rst"})
"""Languages whose sections go on until the next one begins."""
_CLOSERS = frozenset({"}", ")", "]", ">", "/>", "end", "fi", "done", "esac"})
_ENDS = _CLOSERS | {";", ","}
"""Tokens after which what they belong to is over."""
_DEFINED_BY_WORD = {"elixir": b"def"} | dict.fromkeys(("clojure", "commonlisp", "scheme", "racket"), b"def")
"""Languages in which a definition is a call or a list like any other, told by its first word."""


def path_to(root: Node, byte: int) -> list[Node]:
    """The nodes that cover `byte`, from the root down to the leaf."""
    path = [root]
    cursor = root.walk()
    while cursor.goto_first_child_for_byte(byte) is not None:
        node = cursor.node
        if node is None or node.start_byte > byte:
            break
        path.append(node)
    return path


def children_from(node: Node, byte: int) -> Iterator[Node]:
    """The children of a node from `byte` on: all that end there or later, and perhaps some before them."""
    cursor = node.walk()
    # A missing token has no width, so one that stands at `byte` is found from the byte before only. Where no child
    # covers the byte, tree-sitter may find nothing at all although others follow; then one looks farther back.
    start, step = byte - 1, 1
    while start > 0 and cursor.goto_first_child_for_byte(start) is None:
        start, step = start - step, step * 2
    more = start > 0 or cursor.goto_first_child()
    while more and cursor.node is not None:
        yield cursor.node
        more = cursor.goto_next_sibling()


def last_child(node: Node) -> Node | None:
    """The last child; tree-sitter raises where there is none."""
    return node.child(node.child_count - 1) if node.child_count else None


def left_open(path: list[Node], language: Language, *, touching: bool) -> list[bool]:
    """For every node of a path: whether text put after its end could still belong to it.

    So it is where blocks are made by indentation, where the closing token is missing, in the cases of a switch, and,
    with `touching`, right behind text that nothing ends: in ``let f x = x + 1`` the cursor is still in f.
    """
    if language.indent_blocks or language.name in _OPEN_ENDED:
        return [True] * len(path)
    leaf = path[-1]
    ended = not leaf.is_named and leaf.type in _ENDS
    result = [leaf.is_error or (touching and not ended)]
    for node, below in zip(path[-2::-1], path[:0:-1], strict=True):
        last = last_child(node)
        inherited = result[-1] and last is not None and last.end_byte == below.end_byte
        section = node.is_named and kind_of(node.type, language.name).section and leaf.type not in _CLOSERS
        unfinished = (last is not None and last.is_missing) or (node is not path[0] and lacks_hidden_token(node))
        result.append(inherited or section or node.is_error or unfinished)
    return result[::-1]


def lacks_hidden_token(node: Node) -> bool:
    """Whether a token that has no node of its own is missing at the end (``</p>``): the error is nobody else's."""
    return node.has_error and not (node.is_error or node.is_missing or any(child.has_error for child in node.children))


def is_block_closure(node: Node, language: Language) -> bool:
    """Whether a function without a name has a block for its body."""
    if not kind_of(node.type, language.name).closure:
        return False
    body = node.child_by_field_name("body") or last_child(node)
    return body is not None and body.is_named and kind_of(body.type, language.name).block


def is_definition(node: Node, language: Language) -> bool:
    """Whether the node defines a function, a class or the like."""
    if not node.is_named:
        return False
    kind = kind_of(node.type, language.name)
    if kind.definition:
        # "struct point p;" only uses a type: in C a definition has a body.
        return not node.type.endswith("_specifier") or node.child_by_field_name("body") is not None
    if kind.wrapper:
        return any(kind_of(child.type, language.name).definition for child in node.named_children)
    if kind.block and node.type == "function_body":
        before = node.prev_named_sibling  # Dart puts the signature beside the body
        return before is not None and before.type.endswith("signature")
    if language.name in _DEFINED_BY_WORD:
        word = node.named_child(0) if node.named_child_count else None
        return word is not None and (word.text or b"").startswith(_DEFINED_BY_WORD[language.name])
    return is_block_closure(node, language)
