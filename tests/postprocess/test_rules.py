"""Post-processing by example: ``█`` is the cursor, ``‹…›`` is what the model wrote there."""

from __future__ import annotations

import pytest

from spark_lsp.postprocess import Place, postprocess


def shown(marked: str) -> str:
    before, _, rest = marked.partition("‹")
    suggestion, _, after = rest.partition("›")
    line_after, *below = after.split("\n")
    return postprocess(suggestion, Place(before.rpartition("\n")[2], line_after, tuple(below)))


CASES = [
    ("a clean text stays", "x = ‹1 + 2›", "1 + 2"),
    ("blanks at the ends of lines go", "x = ‹f(  \n    1,\t\n)›\n", "f(\n    1,\n)"),
    ("blank lines at the end go", "‹return x\n\n\n›", "return x"),
    ("the leading blank stays", "return‹ x›", " x"),
    ("CR LF becomes LF", "‹a\r\nb›", "a\nb"),
    ("nothing visible is nothing", "x = ‹  \n \n›", ""),
    ("the closer that the editor put there", "print(‹x)›)", "x"),
    ("two of them", "f(g(‹x))›))", "x"),
    ("a closer of its own stays", "print(‹f(x)›)", "f(x)"),
    ("a closer that is not there stays", "print(‹x)›", "x)"),
    ("a bracket in a string does not count", "print(‹')')›)", "')'"),
    ("the closing quote that is there", "x = '‹abc'›'", "abc"),
    ("the rest of the line", "x = ‹a if b else c› else c", "a if b"),
    ("the rest of the line, with more behind", "f(‹a, b): return›, b):", "a"),
    ("the line below", "‹a = 1\nreturn a›\nreturn a\n", "a = 1"),
    ("the line below with another indentation", "‹a = 1\n        return a›\n    return a\n", "a = 1"),
    ("several lines below", "‹a\nbb\ncc›\nbb\ncc\ndd\n", "a"),
    ("a text that is the line below", "‹return a›\n    return a\n", ""),
    ("only the end is compared", "‹return a\nreturn b›\nreturn a\n", "return a\nreturn b"),
]


@pytest.mark.parametrize(("name", "marked", "expected"), CASES, ids=[case[0] for case in CASES])
def test_what_is_shown(name: str, marked: str, expected: str) -> None:
    assert shown(marked) == expected
