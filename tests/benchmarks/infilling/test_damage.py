from __future__ import annotations

import pytest

from benchmarks.infilling.damage import Damage, damage, duplicates, unmatched
from spark_lsp.syntax.languages import language_for

NONE = Damage(adds_error=False, leaves_error=False, duplicates=False, unbalanced=False)


def broken(marked: str, text: str, answer: str, language: str = "python") -> set[str]:
    before, _, after = marked.partition("█")
    found = damage(before, text, after, answer, language_for(language, ""))
    return {name for name in found.__slots__ if getattr(found, name)}


CASES = [
    ("the author's text", "python", "x = █\ny = 2\n", "f(1)", "f(1)", set()),
    ("another right text", "python", "x = █\ny = 2\n", "[g(2)]", "f(1)", set()),
    ("a syntax error", "python", "a = 1\n█\ny = 2\n", "def = 3", "x = 1", {"adds_error", "leaves_error"}),
    ("an opener left", "javascript", "a();\n█\ny();\n", "f(1", "f(1)", {"adds_error", "leaves_error", "unbalanced"}),
    ("a closer too many", "c", "int f() {\n  g(█);\n}\n", "1)", "1", {"adds_error", "leaves_error", "unbalanced"}),
    ("the line below again", "python", "a = 1\n█\nc = 2\n", "b = 1\nc = 2", "b = 1", {"duplicates"}),
    ("the rest of the line again", "python", "x = █ + last\n", "a + last", "a", {"duplicates"}),
    ("a repetition that the author wrote", "python", "█\nx += 1\n", "x += 1", "x += 1", set()),
    ("brackets in strings", "python", "x = █\n", "')))'", "1", set()),
    ("other line ends", "c", "int a;\r\n█\r\nint c;\r\n", "int b;", "int b;", set()),
    ("no grammar", "klingon", "a █ b\n", "(", "", {"unbalanced"}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "language", "marked", "text", "answer", "expected"), CASES, ids=[case[0] for case in CASES]
)
def test_what_a_text_breaks(name: str, language: str, marked: str, text: str, answer: str, expected: set[str]) -> None:
    assert broken(marked, text, answer, language) == expected


def test_an_error_that_was_there_before_is_not_added() -> None:
    assert broken("def (:\n█\n", "x = 1", "x = 1") == set()


def test_an_error_that_was_to_be_mended_is_left_but_not_added() -> None:
    assert broken("x = [1, █\n", "2", "2]") == {"leaves_error", "unbalanced"}


@pytest.mark.parametrize(
    ("text", "after", "expected"),
    [
        ("a\n  b = 2\n", "\nb = 2\n", True),
        ("a\nb = 2\nc", "\nb = 2\n", False),
        ("a\n}", "\n}\n", False),
        ("x)", ")", False),
        ("x, y)", " y)", True),
        ("", "\nb\n", False),
        ("b", "", False),
    ],
)
def test_the_suffix_is_repeated_only_at_the_end_of_the_text(text: str, after: str, expected: bool) -> None:
    assert duplicates(text, after) is expected


@pytest.mark.parametrize(
    ("brackets", "count"), [("", 0), ("([]){}", 0), ("(", 1), (")", 1), ("([)", 3), ("())", 1), ("}{", 2)]
)
def test_brackets_without_a_partner(brackets: str, count: int) -> None:
    assert unmatched(list(brackets)) == count
