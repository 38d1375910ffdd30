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
    ("a loop within a line", Extent.LINE, 0, "ab, █" + "ab, " * 5, StopReason.REPETITION),
]


@pytest.mark.parametrize(("name", "extent", "indentation", "text", "reason"), CASES, ids=[c[0] for c in CASES])
def test_it_stops_at(name: str, extent: Extent, indentation: int, text: str, reason: StopReason) -> None:
    kept = text.partition("█")[0]
    assert stops(text.replace("█", ""), extent, indentation) == (reason, kept)


def test_it_stops_before_the_line_that_follows_the_cursor_anyway() -> None:
    text = "\n    a = 1\n    return a\n"
    assert stops(text, Extent.BLOCK, 0, next_line="return a") == (StopReason.SUFFIX, "\n    a = 1")


def test_the_line_limit_counts_the_lines_begun_here() -> None:
    assert stops("\n    a\n    b\n    c", Extent.BLOCK, 0, max_lines=3) == (StopReason.LINES, "\n    a\n    b")


def test_a_line_of_dashes_is_a_ruler_and_not_a_loop() -> None:
    assert stops("# " + "-" * 60, Extent.LINE) is None


def test_nothing_ends_before_there_is_a_reason() -> None:
    assert stops("a = b + c", Extent.STATEMENT) is None


@pytest.mark.parametrize(("line", "expected"), [("x", 0), ("    x", 4), ("\tx", 4), ("  \tx", 4), ("\t  x", 6)])
def test_columns_of_leading_white_space(line: str, expected: int) -> None:
    assert columns(line) == expected
