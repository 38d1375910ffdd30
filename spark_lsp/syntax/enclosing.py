"""The block and the definition around a place, also where the text is not finished.

While somebody types, the interesting block is often not closed yet, the cursor stands on a blank line below what the
parser took for its end, or the parser gave up on it. So the way to the place is the way to the last code before it,
cut where a node is over, and inside an error the tokens and the indentation decide.
"""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING

from spark_lsp.syntax.indentation import indent_of, indentation_block, line_end, line_start, text_end
from spark_lsp.syntax.kinds import kind_of
from spark_lsp.syntax.languages import Language
from spark_lsp.syntax.nodes import children_from, is_definition, last_child, left_open, path_to
from spark_lsp.syntax.offsets import Span
from spark_lsp.syntax.parser import SyntaxTree
from spark_lsp.syntax.scopes import unclosed_token

if TYPE_CHECKING:
    from tree_sitter import Node

_LOOK_BACK = 32_768
"""Bytes of an error read back from the cursor: enough for a function, and bounded when a whole file is one error."""
_COMMENTS = 50
"""Comments in a row that are stepped over to find the code before them."""
_DEFINING_WORDS = frozenset(
    {"def", "class", "fn", "func", "function", "fun", "sub", "proc", "struct", "union", "record", "enum", "impl"}
    | {"interface", "trait", "protocol", "extension", "module", "mod", "namespace", "object", "contract"}
)
_CONTROL_WORDS = frozenset(
    {"if", "else", "for", "foreach", "while", "do", "loop", "switch", "match", "select", "try", "catch", "with"}
)
_SIGNATURES = ("parameters", "parameter_list", "function_declarator", "lambda_capture_specifier")
_CLOSERS = frozenset({"}", ")", "end", "fi", "done", "esac"})


def enclosing_block(tree: SyntaxTree, offset: int) -> Span | None:
    """The innermost block around `offset`: a function, a class, a body, an if, a loop, an element.

    It begins with its first line, signature and decorators included, and ends with the block or, when that is not
    closed, at the cursor. Blank lines below count as inside while the cursor is indented deep enough (where blocks are
    made by indentation) or the closing token is missing. None at top level and without a tree.
    """
    block = _around(tree, offset, definitions_only=False)
    definition = enclosing_definition(tree, offset)
    if block is not None and definition is not None and definition.start > block.start:
        return definition  # an error hides the blocks in it, not its words
    return block


def enclosing_definition(tree: SyntaxTree, offset: int) -> Span | None:
    """The innermost function, class, impl or the like around `offset`, with the same borders as `enclosing_block`."""
    return _around(tree, offset, definitions_only=True)


def _around(tree: SyntaxTree, offset: int, *, definitions_only: bool) -> Span | None:
    if tree.root is None:
        return None
    offset = min(max(offset, 0), len(tree.text))
    path = _path_around(tree, tree.root, offset)
    for index in range(len(path) - 1, -1, -1):
        node = path[index]
        if node.has_error:
            found = _in_error(tree, node, offset, definitions_only=definitions_only)
            if found is not None:
                return found
        if index == 0:
            return None  # the whole document is no block
        if is_definition(node, tree.language) or (not definitions_only and _is_block(node, tree, offset)):
            return _with_header(tree, path[: index + 1], offset)
    return None


def _path_around(tree: SyntaxTree, root: Node, offset: int) -> list[Node]:
    """The nodes around `offset`, from the root inwards."""
    code_end, column = _code_before(tree, root, offset)
    byte = tree.byte_of(offset)
    path = path_to(root, tree.byte_of(code_end) - 1) if code_end else [root]
    open_ended = left_open(path, tree.language, touching=code_end == offset)
    same_line = line_start(tree.text, code_end) == line_start(tree.text, offset)
    around = [root]
    for node, is_open in zip(path[1:], open_ended[1:], strict=True):
        if node.end_byte <= byte:
            if not is_open:
                break
            if tree.language.indent_blocks and not same_line and not node.is_error:
                inside = kind_of(node.type, tree.language.name).container
                if column < indent_of(_line_at(tree, node)) + (0 if inside else 1):
                    break
        around.append(node)
    return around


def _code_before(tree: SyntaxTree, root: Node, offset: int) -> tuple[int, int]:
    """Where the last code before `offset` ends, comments stepped over, and the column of the cursor's line."""
    text = tree.text
    start = line_start(text, offset)
    column = indent_of(text[start:offset] + ".")
    end = text_end(text, offset)
    if root.has_error:
        unclosed = unclosed_token(tree, offset)
        if unclosed is not None and unclosed.start < start:
            end = text_end(text, unclosed.start)  # what stands in it was parsed as if it were code
    for _ in range(_COMMENTS):
        if not end:
            break
        path = path_to(root, tree.byte_of(end) - 1)
        comments = (node for node in path if node.is_named and kind_of(node.type, tree.language.name).comment)
        comment = next(comments, None)
        if comment is None:
            break
        end = text_end(text, tree.offset_of(comment.start_byte))
    return end, column


def _is_block(node: Node, tree: SyntaxTree, offset: int) -> bool:
    if not node.is_named:
        return False
    kind = kind_of(node.type, tree.language.name)
    unfinished = node.end_byte <= tree.byte_of(offset)
    return kind.block or (kind.control and (unfinished or node.start_point.row != node.end_point.row))


def _with_header(tree: SyntaxTree, path: list[Node], offset: int) -> Span:
    """The span of the block or definition at the end of a path."""
    language = tree.language
    node, end = path[-1], path[-1].end_byte
    kind = kind_of(node.type, language.name)
    if kind.container and not is_definition(node, language):
        closer = node.next_sibling
        if closer is not None and not closer.is_named and closer.type in _CLOSERS:
            end = closer.end_byte  # some grammars leave "end" out of the body
        while len(path) > 2 and path[-2].named_child_count == 1 and _is_body(path[-2], tree):
            path = path[:-1]
        if len(path) > 2 and is_definition(path[-2], language):
            path = path[:-1]
            end = path[-1].end_byte
        else:
            return _lines_to(tree, _header_start(path[-1], path[-2], len(path) == 2, tree), end, offset)
    start = path[-1]
    if is_definition(start, language):
        while len(path) > 2 and kind_of(path[-2].type, language.name).wrapper:
            path = path[:-1]
            start = path[-1]
        before = start.prev_named_sibling
        while before is not None and kind_of(before.type, language.name).attribute:
            start = before
            before = start.prev_named_sibling
    return _lines_to(tree, start.start_byte, end, offset)


def _lines_to(tree: SyntaxTree, start_byte: int, end_byte: int, offset: int) -> Span:
    start = line_start(tree.text, tree.offset_of(start_byte))
    return Span(start, max(tree.offset_of(end_byte), offset))


def _header_start(body: Node, parent: Node, at_top: bool, tree: SyntaxTree) -> int:
    """Where what introduces a body begins: ``else`` for the second body of an if, the whole if for its first."""
    if at_top or _is_body(parent, tree):
        before = body.prev_named_sibling
        return before.start_byte if before is not None and before.type.endswith("signature") else body.start_byte
    start = parent.start_byte
    after_body = False
    for child in parent.children:
        if after_body:
            start = child.start_byte
        if child.start_byte >= body.start_byte:
            break
        after_body = _is_body(child, tree)
    return start


def _is_body(node: Node, tree: SyntaxTree) -> bool:
    return node.is_named and kind_of(node.type, tree.language.name).container


def _in_error(tree: SyntaxTree, node: Node, offset: int, *, definitions_only: bool) -> Span | None:
    """The block around `offset` that the parser could not put together, out of the errors among a node's children.

    What it could not place, it leaves in an error node as loose tokens, and often goes on behind it as if nothing had
    happened. So the errors before the cursor are read together: a brace in them that none closes opens the block.
    """
    byte = tree.byte_of(offset)
    before: list[Node] = []
    loose: list[bool] = []
    for child in takewhile(lambda child: child.start_byte < byte, children_from(node, byte - _LOOK_BACK)):
        parts = [child]
        if child.is_error and child.child_count:
            parts = [part for part in child.children if part.start_byte < byte]
        before += parts
        loose += [child.is_error or node.is_error] * len(parts)
    if not any(loose):
        return None
    if tree.language.indent_blocks:
        return _in_indented_error(tree, before, offset, definitions_only=definitions_only)
    openers: list[int] = []
    for index, part in enumerate(before):
        if part.type == "{" and loose[index]:
            openers.append(index)
        elif part.type == "}" and loose[index] and openers:
            openers.pop()
    for opener in reversed(openers):
        first = opener
        while first and not _ends_statement(before[first - 1], tree):
            first -= 1
        if first == opener and first and _lacks_body(before[first - 1], tree):
            first -= 1
        if not definitions_only or _defines(before[first:opener], tree.language):
            return _lines_to(tree, before[first].start_byte, byte, offset)
    return None


def _in_indented_error(tree: SyntaxTree, before: list[Node], offset: int, *, definitions_only: bool) -> Span | None:
    text = tree.text
    block = indentation_block(text, offset)
    start = line_start(text, offset)
    line = text[start : line_end(text, offset)]
    column = indent_of(line) if line.strip() else indent_of(text[start:offset] + ".")
    if indent_of(text[block.start : line_end(text, block.start)]) >= column:
        return None
    if not definitions_only:
        return block
    for node in reversed(before):
        if node.type in _DEFINING_WORDS and indent_of(_line_at(tree, node)) < column:
            start = line_start(text, tree.offset_of(node.start_byte))
            while start and text[line_start(text, start - 1) : start].lstrip().startswith("@"):
                start = line_start(text, start - 1)  # its decorators
            return Span(start, max(block.end, offset))
    return None


def _ends_statement(node: Node, tree: SyntaxTree) -> bool:
    if not node.is_named:
        return node.type in (";", "{", "}")
    kind = kind_of(node.type, tree.language.name)
    return kind.statement or kind.comment or node.is_error or is_definition(node, tree.language)


def _lacks_body(node: Node, tree: SyntaxTree) -> bool:
    """Whether a definition stands there without a body, as Go allows: then the brace behind it begins the body."""
    return is_definition(node, tree.language) and node.child_by_field_name("body") is None


def _defines(header: list[Node], language: Language) -> bool:
    """Whether the tokens in front of a brace begin a definition rather than an if or a loop."""
    words = {node.type for node in header if not node.is_named}
    if header and header[-1].type == "=>" and language.name not in ("rust", "scala"):
        return True  # a closure; in the other two, the arm of a match
    if words & _DEFINING_WORDS or any(is_definition(node, language) for node in header):
        return True
    signature = any(_declared(node).type.endswith(_SIGNATURES) for node in header)
    if language.name == "shellscript":
        signature = "(" in words
    return signature and not words & _CONTROL_WORDS


def _declared(node: Node) -> Node:
    """What a C declarator declares under its stars."""
    while node.type in ("pointer_declarator", "reference_declarator") and (below := last_child(node)) is not None:
        node = below
    return node


def _line_at(tree: SyntaxTree, node: Node) -> str:
    """The line on which a node begins."""
    start = line_start(tree.text, tree.offset_of(node.start_byte))
    return tree.text[start : line_end(tree.text, start)]
