"""Where suggestions end. In each case the text before ``█`` is kept, and what follows it must not be needed."""

from __future__ import annotations

import pytest

from spark_lsp.decoding.stopping import Extent, StopReason, StopRule, columns


def opens(line: str) -> bool:
    return line.rstrip().endswith((":", "{"))


def completes(text: str) -> bool:
    return text.count("(") <= text.count(")")


def stops(text: str, extent: Extent, indentation: int = 0, **changes: object) -> tuple[StopReason, str] | None:
    rule = StopRule(extent, indentation, opens_block=opens, completes=completes, **changes)  # type: ignore[arg-type]
    for length in range(len(text) + 1):
        stop = rule.check(text[:length])
        if stop is not None:
            return stop.reason, text[: stop.keep]
    return None


CASES = [
    ("the rest of a line", Extent.LINE, 0, "x)█\nmore", StopReason.LINE),
    ("a statement", Extent.STATEMENT, 4, "return x█\n    y = 1", StopReason.STATEMENT),
    ("a statement over lines", Extent.STATEMENT, 0, "f(\n    a,\n)█\nb", StopReason.STATEMENT),
    ("a new line first", Extent.STATEMENT, 0, "\nx = 1█\ny", StopReason.STATEMENT),
    ("a statement takes its block along", Extent.STATEMENT, 0, "if a:\n    b\n    c█\nd", StopReason.BLOCK),
    ("a block with a closer", Extent.STATEMENT, 0, "if (a) {\n    b;\n}█\nc", StopReason.BLOCK),
    ("the body of an open block", Extent.BLOCK, 0, "\n    a = 1\n    return a█\ndef g", StopReason.BLOCK),
    ("a body with a blank line", Extent.BLOCK, 0, "\n    a = 1\n\n    return a█\n\ndef g", StopReason.BLOCK),
    ("a nested body", Extent.BLOCK, 4, "\n        a\n        if b:\n            c█\n    d", StopReason.BLOCK),
    ("a shallower line", Extent.STATEMENT, 8, "f(█\n    g", StopReason.STATEMENT),
    ("two blank lines", Extent.BLOCK, 0, "\n    a█\n\n\n", StopReason.BLOCK),
    ("three equal lines", Extent.BLOCK, 0, "\n    a()█\n    a()\n    a()\n", StopReason.REPETITION),
    ("an else goes with its if", Extent.STATEMENT, 0, "if a:\n    b\nelse:\n    c█\nd", StopReason.BLOCK),
    ("an else in braces", Extent.STATEMENT, 0, "if (a) {\n  b;\n} else {\n  c;\n}█\nd", StopReason.BLOCK),
    ("a body ends before an else that is not its own", Extent.BLOCK, 0, "\n    a█\nelse:", StopReason.BLOCK),
    ("a block with a closing word", Extent.STATEMENT, 0, "if a:\n  b\nfi█\nc", StopReason.BLOCK),
    (
        "the first method of a class",
        Extent.STATEMENT,
        0,
        "class A:\n    def f(self):\n        a\n\n        b█\n\n    def g(self):",
        StopReason.BLOCK,
    ),
    (
        "fields and a method",
        Extent.STATEMENT,
        0,
        "class A {\n  a;\n\n  f() {\n    b;\n  }█\n\n  g() {",
        StopReason.BLOCK,
    ),
    (
        "a function is not cut at a blank line",
        Extent.STATEMENT,
        0,
        "def f():\n    if a:\n        b\n\n    return c█\nd",
        StopReason.BLOCK,
    ),
    ("a loop within a line", Extent.LINE, 0, "ab, █" + "ab, " * 5, StopReason.REPETITION),
]


@pytest.mark.parametrize(("name", "extent", "indentation", "text", "reason"), CASES, ids=[c[0] for c in CASES])
def test_it_stops_at(name: str, extent: Extent, indentation: int, text: str, reason: StopReason) -> None:
    kept = text.partition("█")[0]
    assert stops(text.replace("█", ""), extent, indentation) == (reason, kept)


def test_it_stops_before_the_line_that_follows_the_cursor_anyway() -> None:
    text = "\n    a = 1\n    return a\n"
    assert stops(text, Extent.BLOCK, 0, next_line="return a") == (StopReason.SUFFIX, "\n    a = 1")


def test_a_bracket_below_is_recognised_only_where_it_is_indented_alike() -> None:
    text = "\n    if (a) {\n        b;\n    }\n    c;\n}\n"
    assert stops(text, Extent.BLOCK, 0, next_line="}", next_column=0) == (StopReason.SUFFIX, text[:-3])


def test_after_a_comment_the_block_is_a_paragraph() -> None:
    text = "a = 1\nb = 2\n\nc = 3"
    assert stops(text, Extent.BLOCK, -1, paragraph=0) == (StopReason.BLOCK, "a = 1\nb = 2")


def test_two_lines_in_a_row_with_a_new_error_end_the_text_at_the_last_good_one() -> None:
    def sound(text: str) -> bool:
        return "= =" not in text

    text = "\n    a = 1\n    b = = 2\n    c = 3\n    d"
    assert stops(text, Extent.BLOCK, 0, sound=sound) == (StopReason.SYNTAX, "\n    a = 1")


def test_one_line_with_an_error_may_be_completed_by_the_next() -> None:
    def sound(text: str) -> bool:
        return not text.endswith("match x")

    assert stops("\n    match x\n    .b\n    c", Extent.BLOCK, 0, sound=sound) is None


def test_the_line_limit_counts_the_lines_begun_here() -> None:
    assert stops("\n    a\n    b\n    c", Extent.BLOCK, 0, max_lines=3) == (StopReason.LINES, "\n    a\n    b")


def test_a_line_of_dashes_is_a_ruler_and_not_a_loop() -> None:
    assert stops("# " + "-" * 60, Extent.LINE) is None


def test_nothing_ends_before_there_is_a_reason() -> None:
    assert stops("a = b + c", Extent.STATEMENT) is None


@pytest.mark.parametrize(("line", "expected"), [("x", 0), ("    x", 4), ("\tx", 4), ("  \tx", 4), ("\t  x", 6)])
def test_columns_of_leading_white_space(line: str, expected: int) -> None:
    assert columns(line) == expected
