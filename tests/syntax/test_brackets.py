"""What is open at the cursor ``█``, and what the text behind it needs."""

from __future__ import annotations

import pytest

from spark_lsp.syntax.brackets import Openness, brackets_in, openness_at, take_closed, unmet
from spark_lsp.syntax.languages import language_for


def at(language_id: str, marked: str) -> Openness:
    return openness_at(marked.replace("█", ""), marked.index("█"), language_for(language_id, ""))


CASES = [
    ("nothing", "python", "x = █", "", ""),
    ("a call", "python", "f(a, █)", "(", "("),
    ("a call that is not closed", "python", "f(a, █", "(", ""),
    ("closed again before the cursor", "python", "f(a)[█]", "[", "["),
    ("a string and a comment", "python", "x = ['(', # (\n  █]", "[", "["),
    ("a character", "c", "f('(', █)", "(", "("),
    ("what the text behind opens itself", "go", "f(█, g(a))", "(", "("),
    ("lines above and below", "typescript", "f({\n  a: [\n    █\n  ],\n});", "({[", "[{("),
    ("code at the margin ends the reach", "python", "x = [\n\ndef f():\n    g(█)\n\ny = ]", "(", "("),
    ("a label is no code at the margin", "c", "void f(void) {\nout:\n  g(█);\n}\n", "{(", "({"),
    ("nor is a comment", "c", "int a[] = {\n/* b */\n  █\n};\n", "{", "{"),
]


@pytest.mark.parametrize(("name", "language_id", "marked", "opened", "needed"), CASES, ids=[case[0] for case in CASES])
def test_brackets(name: str, language_id: str, marked: str, opened: str, needed: str) -> None:
    openness = at(language_id, marked)
    assert "".join(bracket.opener for bracket in openness.brackets) == opened
    assert "".join(need.opener for need in openness.needed) == needed


@pytest.mark.parametrize(
    ("language_id", "marked", "quote", "closed"),
    [
        ("python", "x = 'a█'", "'", True),
        ("python", "x = 'a█", "'", False),
        ("python", "x = 'a█ + 'b'", "'", False),
        ("python", 'def f():\n    """A.\n    █\n    """\n', '"""', True),
        ("python", 'def f():\n    """A.\n    █\n\ndef g():\n    """B."""\n', '"""', False),
        ("rust", 'let x = r#"a█"#;', 'r#"', True),
        ("go", "x := `a\n█\n`", "`", True),
        ("typescript", "f('it\\'s █')", "'", True),
        ("c", "/* a █ */", "/*", False),
        ("python", "x = 'a' + █", "", False),
    ],
)
def test_strings_and_comments(language_id: str, marked: str, quote: str, closed: bool) -> None:
    openness = at(language_id, marked)
    assert (openness.quote, openness.quote_closed) == (quote, closed)


def test_a_closer_belongs_to_the_bracket_whose_line_is_indented_like_its_own() -> None:
    openness = at("typescript", "function f() {\n  if (a) {\n    █\n}\n")
    stack = list(openness.brackets)
    assert take_closed(stack, openness.needed[0])
    assert not stack, "the brace at the margin closes the function, and the inner block is open"
    inner = list(openness.brackets[:1])
    assert unmet(inner, openness.needed) == (0, 0)
    assert unmet([], openness.needed) == (0, 1)
    assert unmet([], at("typescript", "f(█)").needed) == (1, 1)


def test_brackets_of_a_text_that_begins_in_a_string() -> None:
    python = language_for("python", "")
    assert list(brackets_in("a) ', (b", python, "'")) == [(6, "(")]
    assert list(brackets_in("a) ', (b", python)) == [(1, ")")]
