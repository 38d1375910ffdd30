from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spark_lsp.syntax import indentation_block
from spark_lsp.syntax.indentation import indent_of, line_end, line_start

from .cases import at_cursor


@pytest.mark.parametrize(
    ("marked", "block"),
    [
        pytest.param("", "", id="empty text"),
        pytest.param("a\nb█\nc\n", "a\nb\nc", id="a paragraph at the margin"),
        pytest.param("a\n\nb█\nc\n\nd\n", "b\nc", id="blank lines border a paragraph"),
        pytest.param("if a:\n    b█\n    c\nd\n", "if a:\n    b\n    c", id="header and body"),
        pytest.param("if a {\n    b█\n}\nc\n", "if a {\n    b\n}", id="the closing line belongs to it"),
        pytest.param("f(\n    b█\n)[0]\nc\n", "f(\n    b", id="a line that goes on does not only close"),
        pytest.param("if a:\n    b█\n\n    c\n", "if a:\n    b\n\n    c", id="blank lines inside"),
        pytest.param("if a:\n    b\n        c█\n", "    b\n        c", id="the innermost"),
        pytest.param("if a:\n    b█\n        c\n", "if a:\n    b\n        c", id="what is deeper is inside"),
        pytest.param("if a:\n    b\n    █", "if a:\n    b\n    ", id="on a blank line the column counts"),
        pytest.param("if a:\n    b\n█\nc\n", "", id="a blank line at the margin"),
        pytest.param("if a:\r\n\tb█\r\nc\r\n", "if a:\r\n\tb", id="tabs and CRLF"),
        pytest.param("if a:\r    b█\rc\r", "if a:\r    b", id="lone CR"),
    ],
)
def test_the_block_by_indentation(marked: str, block: str) -> None:
    text, offset = at_cursor(marked) if marked else ("", 0)
    span = indentation_block(text, offset)
    assert text[span.start : span.end] == block


@pytest.mark.parametrize(("line", "columns"), [("", 0), ("a", 0), ("    a", 4), ("\ta", 8), ("  \ta", 8), ("   ", 3)])
def test_columns(line: str, columns: int) -> None:
    assert indent_of(line) == columns


lines = st.sampled_from(["a", "  b", "    c:", "\td", "", "  ", "}", "é😀", "x\x0cy"])
texts = st.builds(
    lambda parts, end: end.join(parts), st.lists(lines, max_size=12), st.sampled_from(["\n", "\r\n", "\r"])
)


@settings(max_examples=150, deadline=None)
@given(texts, st.data())
def test_a_block_is_whole_lines_around_the_cursor(text: str, data: st.DataObject) -> None:
    offset = data.draw(st.integers(0, len(text)))
    span = indentation_block(text, offset)
    assert 0 <= span.start <= offset <= span.end <= len(text) or text[offset - 1 : offset + 1] == "\r\n"
    assert line_start(text, span.start) == span.start
    assert line_end(text, span.end) == span.end
