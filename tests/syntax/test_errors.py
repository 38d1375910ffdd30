"""Whether a text adds a syntax error; ``█`` is where it goes."""

from __future__ import annotations

import pytest

from spark_lsp.syntax import adds_syntax_error, can_judge, error_count, language_for, parse


def adds(language_id: str, marked: str, inserted: str) -> bool:
    cursor = marked.index("█")
    before = marked.replace("█", "")
    tree = parse(before, language_for(language_id, ""))
    return adds_syntax_error(tree, before[:cursor] + inserted + before[cursor:], cursor)


@pytest.mark.parametrize(
    ("name", "language_id", "marked", "inserted", "expected"),
    [
        ("a statement", "python", "x = 1\n█\ny = 2\n", "z = 3", False),
        ("an open bracket", "python", "x = 1\n█\ny = 2\n", "f(", True),
        ("what completes a line that is broken", "python", "x = █\ny = 2\n", "3", False),
        ("what leaves it as broken as it was", "python", "x = f(█\ny = 2\n", "a, ", False),
        ("two values", "go", "func f() {\n\t█\n}\n", "a b c := 1", True),
        ("one closer too many", "rust", "fn f() {\n    g(█);\n}\n", "a)", True),
        ("a type that ends twice", "java", "class A {\n    █\n}\n", "int a;; }", True),
        ("a language without a grammar", "klingon", "x █", "((((", False),
        ("where the document is broken already", "python", "x = [1, 2\n\ndef f():\n    return █\n", "g(1)", False),
    ],
)
def test_adds_a_syntax_error(name: str, language_id: str, marked: str, inserted: str, expected: bool) -> None:
    assert adds(language_id, marked, inserted) is expected


def test_errors_before_may_be_given_instead_of_counted() -> None:
    tree = parse("x = 1\ny = (\n", language_for("python", ""))
    errors = error_count(tree)
    assert errors > 0
    assert adds_syntax_error(tree, "x = )1\ny = (\n", 4, errors) is adds_syntax_error(tree, "x = )1\ny = (\n", 4)
    assert not adds_syntax_error(tree, "x = )1\ny = (\n", 4, errors + 9)


def test_the_parser_knows_its_place_in_front_of_an_error_and_not_inside_one() -> None:
    text = "def f():\n    a = 1\n\nx = [1, 2\n\ndef g():\n    return 1\n"
    tree = parse(text, language_for("python", ""))
    assert can_judge(tree, text.index("a = 1"))
    assert not can_judge(tree, text.index("return 1"))
