"""The syntax errors of a document."""

from __future__ import annotations

from spark_lsp.syntax.blocks import errors_in
from spark_lsp.syntax.indentation import line_start, text_end
from spark_lsp.syntax.nodes import path_to
from spark_lsp.syntax.parser import SyntaxTree


def error_count(tree: SyntaxTree) -> int:
    """How many error nodes and missing tokens a whole document has; 0 without a grammar."""
    return errors_in(tree, 0, len(tree.text))


def can_judge(tree: SyntaxTree, offset: int) -> bool:
    """Whether the parser knows where it is at `offset`: the code before it is in no error of several lines.

    Inside such an error the number of errors goes up and down with texts that are right.
    """
    if tree.root is None:
        return False
    if not tree.root.has_error:
        return True
    code_end = text_end(tree.text, offset)
    start = tree.byte_of(line_start(tree.text, code_end))
    around = path_to(tree.root, max(tree.byte_of(code_end) - 1, 0))
    return not any(node.is_error and node.start_byte < start for node in around)
