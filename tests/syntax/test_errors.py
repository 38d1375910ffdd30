"""Where syntax errors tell something."""

from __future__ import annotations

from spark_lsp.syntax import can_judge, language_for, parse


def test_the_parser_knows_its_place_in_front_of_an_error_and_not_inside_one() -> None:
    text = "def f():\n    a = 1\n\nx = [1, 2\n\ndef g():\n    return 1\n"
    tree = parse(text, language_for("python", ""))
    assert can_judge(tree, text.index("a = 1"))
    assert not can_judge(tree, text.index("return 1"))
