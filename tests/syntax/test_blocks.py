from __future__ import annotations

import pytest

from spark_lsp.syntax import (
    Span,
    SyntaxTree,
    enclosing_block,
    enclosing_definition,
    errors_in,
    language_for,
    parse,
    scope_kind,
    statement_at,
)

from .cases import Case, all_cases


def lines_of(text: str, span: Span | None) -> str:
    if span is None:
        return "none"
    assert span.start == 0 or text[span.start - 1] == "\n", "a block begins at the start of a line"
    first = text.count("\n", 0, span.start) + 1
    block = text[span.start : span.end].rstrip("\r\n")
    return f"{first}-{first + block.count(chr(10))}"


def text_of(text: str, span: Span | None) -> str:
    return "none" if span is None else text[span.start : span.end].replace("\n", "⏎")


def answers(tree: SyntaxTree, offset: int) -> dict[str, str]:
    return {
        "block": lines_of(tree.text, enclosing_block(tree, offset)),
        "definition": lines_of(tree.text, enclosing_definition(tree, offset)),
        "statement": text_of(tree.text, statement_at(tree, offset)),
        "scope": scope_kind(tree, offset).value,
        "errors": str(errors_in(tree, 0, len(tree.text))),
    }


@pytest.mark.parametrize("case", all_cases(), ids=str)
def test_case(case: Case) -> None:
    tree = parse(case.text, language_for(case.language_id, ""))
    found = answers(tree, case.offset)
    assert {name: found[name] for name in case.expected} == case.expected


@pytest.mark.parametrize("case", all_cases(), ids=str)
def test_case_with_windows_line_ends(case: Case) -> None:
    text = case.text.replace("\n", "\r\n")
    offset = case.offset + case.text.count("\n", 0, case.offset)
    tree = parse(text, language_for(case.language_id, ""))
    found = {name: value.replace("\r", "") for name, value in answers(tree, offset).items()}
    assert {name: found[name] for name in case.expected} == case.expected
