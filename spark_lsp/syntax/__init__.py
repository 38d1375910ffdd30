"""Trees of open documents, kept up to date edit by edit, and the questions that completion asks of them.

Importing this package loads neither tree-sitter nor a grammar; that happens when the first document is parsed.
"""

from __future__ import annotations

from spark_lsp.syntax.blocks import (
    ScopeKind,
    Span,
    enclosing_block,
    enclosing_definition,
    errors_in,
    indentation_block,
    opens_block,
    scope_kind,
    statement_at,
)
from spark_lsp.syntax.errors import can_judge, error_count
from spark_lsp.syntax.languages import LANGUAGES, PLAIN, Language, language_for
from spark_lsp.syntax.parser import DocumentParser, SyntaxTree, parse, reparse

__all__ = [
    "LANGUAGES",
    "PLAIN",
    "DocumentParser",
    "Language",
    "ScopeKind",
    "Span",
    "SyntaxTree",
    "can_judge",
    "enclosing_block",
    "enclosing_definition",
    "error_count",
    "errors_in",
    "indentation_block",
    "language_for",
    "opens_block",
    "parse",
    "reparse",
    "scope_kind",
    "statement_at",
]
