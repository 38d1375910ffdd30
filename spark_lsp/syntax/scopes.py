"""Whether a place is code, comment or string."""

from __future__ import annotations

from dataclasses import replace
from itertools import takewhile
from typing import TYPE_CHECKING

from spark_lsp.syntax.indentation import line_start
from spark_lsp.syntax.kinds import kind_of
from spark_lsp.syntax.lexical import ScopeKind, Token, open_at_end
from spark_lsp.syntax.nodes import children_from, last_child, path_to
from spark_lsp.syntax.parser import SyntaxTree

if TYPE_CHECKING:
    from tree_sitter import Node

_SCAN_LIMIT = 32_768
"""Code points read back from the cursor where the parser gave up; about 800 lines, scanned in under a millisecond."""


def scope_kind(tree: SyntaxTree, offset: int) -> ScopeKind:
    """What a character typed at `offset` becomes part of.

    The character before decides: at the end of a line comment it is the comment, after a closing quote it is code,
    after an opening one that nothing closes it is the string. Code inside an interpolated string is code.
    """
    offset = min(max(offset, 0), len(tree.text))
    if offset == 0:
        return ScopeKind.CODE
    if tree.root is None:
        return _kind(unclosed_token(tree, offset))
    byte = tree.byte_of(offset)
    path = path_to(tree.root, byte - 1)
    for node in reversed(path):
        if not node.is_named or _over(node, byte, tree):
            continue
        kind = kind_of(node.type, tree.language.name)
        if kind.comment:
            # In x = "a # b the parser takes the rest for a comment because nothing closes the string.
            in_string = tree.root.has_error and _kind(unclosed_token(tree, offset)) is ScopeKind.STRING
            return ScopeKind.STRING if in_string else ScopeKind.COMMENT
        if kind.string or _is_quoted_literal(node, tree):
            return ScopeKind.STRING
        if kind.interpolation:
            return ScopeKind.CODE
    return _kind(unclosed_token(tree, offset)) if tree.root.has_error else ScopeKind.CODE


def _kind(token: Token | None) -> ScopeKind:
    return ScopeKind.CODE if token is None else token.kind


def _over(node: Node, byte: int, tree: SyntaxTree) -> bool:
    """Whether the node ends right before `byte` and nothing typed there can belong to it any more."""
    if node.end_byte != byte:
        return False
    kind = kind_of(node.type, tree.language.name)
    if kind.comment:
        text = _text(node, tree)
        block = tree.language.block_comment
        if block is not None and text.startswith(block[0]):
            return text.endswith(block[1]) and len(text) >= len(block[0]) + len(block[1])
        return text.endswith(("\n", "\r")) or "block" in node.type or "multiline" in node.type
    last = last_child(node)
    return not (node.has_error or (last is not None and last.is_missing))


def _is_quoted_literal(node: Node, tree: SyntaxTree) -> bool:
    """Some grammars call every constant a literal (SQL)."""
    return node.type == "literal" and _text(node, tree)[:1] in ("'", '"')


def _text(node: Node, tree: SyntaxTree) -> str:
    data = tree.encoded.data if tree.encoded else b""
    return data[node.start_byte : node.end_byte].decode("utf-8", "replace")


def unclosed_token(tree: SyntaxTree, offset: int) -> Token | None:
    """The comment or string around `offset` by delimiters alone; its offsets are those of the document.

    For trees with errors: an unterminated string is one to the parser, which then takes its content for code, often
    without any further error. So the text is read from the first error in reach; what stands before it is code.
    """
    text, language = tree.text, tree.language
    start = line_start(text, offset)
    if tree.root is not None and tree.root.has_error:
        start = min(start, _open_block_comment(tree, offset), _first_error(tree, tree.root, offset))
    token = open_at_end(text[start:offset], language)
    return None if token is None else replace(token, start=start + token.start, end=start + token.end)


def _first_error(tree: SyntaxTree, root: Node, offset: int) -> int:
    """The start of the line on which the first error in reach begins; `offset` when there is none before it."""
    limit = line_start(tree.text, max(offset - _SCAN_LIMIT, 0))
    if root.is_error:
        return limit
    byte = tree.byte_of(offset)
    before = takewhile(lambda child: child.start_byte < byte, children_from(root, tree.byte_of(limit)))
    broken = next((child for child in before if child.has_error), None)
    return offset if broken is None else line_start(tree.text, max(limit, tree.offset_of(broken.start_byte)))


def _open_block_comment(tree: SyntaxTree, offset: int) -> int:
    """The start of the line on which a block comment begins that nothing closes; `offset` when there is none."""
    block = tree.language.block_comment
    opened = tree.text.rfind(block[0], 0, offset) if block else -1
    if block is None or opened == -1 or tree.text.find(block[1], opened + len(block[0]), offset) != -1:
        return offset
    start = line_start(tree.text, opened)
    token = open_at_end(tree.text[start:offset], tree.language)
    return start if token is not None and token.kind is ScopeKind.COMMENT else offset
