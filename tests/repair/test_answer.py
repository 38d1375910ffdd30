"""Where an answer ends, and how it is put in the place of the old lines."""

from __future__ import annotations

from dataclasses import replace

import pytest

from spark_lsp.repair.answer import MORE_LINES, ending, lines_for

OLD = "    a = 1\n    b = 2"


@pytest.mark.parametrize(
    ("fence", "below", "written", "kept"),
    [
        ("```", "", "    a = 1\n    b = 3\n```\nThat is all.", "    a = 1\n    b = 3"),
        ("```", "    c = 3\n", "    a = 1\n    b = 3\n    c = 3\n", "    a = 1\n    b = 3"),
        ("", "\n    c = 3\n", "    a = 1\n    b = 3\n\n    c = 3\n", "    a = 1\n    b = 3\n"),
        ("```", "    a = 1\n", "    a = 1\n    b", None),
        ("```", "", "    a = 1\n    b = 3\n``", None),
        ("```", "", "```", ""),
        ("", "", "x\n" * (2 + MORE_LINES), "x\n" * (1 + MORE_LINES) + "x"),
    ],
)
def test_where_it_ends(fence: str, below: str, written: str, kept: str | None) -> None:
    stop = ending(OLD, fence, below).check(written)
    assert (None if stop is None else written[: stop.keep]) == kept


def test_what_it_began_with_counts() -> None:
    rule = replace(ending(OLD, "```", "    c = 3\n"), begun="    a = 1\n")
    stop = rule.check("    b = 3\n    c = 3\n")
    assert stop is not None
    assert stop.keep == len("    b = 3")


@pytest.mark.parametrize(
    ("old", "answer", "lines"),
    [
        (OLD, "    a = 1\n    b = 3\n", "    a = 1\n    b = 3"),
        (OLD, "\n    a = 1\n    b = 3", "    a = 1\n    b = 3"),
        (OLD, "a = 1\nif a:\n    b = 3", "    a = 1\n    if a:\n        b = 3"),
        ("a = 1  ", "a = 2", "a = 2  "),
        ("a = 1", "a = 2", "a = 2"),
    ],
)
def test_it_stands_where_the_old_lines_stood(old: str, answer: str, lines: str) -> None:
    assert lines_for(old, answer) == lines
