"""What Python says of a text: its first error, the names that nothing binds, and how many nothing uses."""

from __future__ import annotations

import pytest

from spark_lsp.repair.python_check import MAX_CHARACTERS, python_facts


@pytest.mark.parametrize(
    ("text", "undefined"),
    [
        ("print(a)\n", {"a": 1}),
        ("a = 1\nprint(a)\n", {}),
        ("def f(a):\n    return a + b + b\n", {"b": 2}),
        ("def f():\n    return later\nlater = 1\n", {}),
        ("import a.b, c as d\nprint(a, d, c)\n", {"c": 1}),
        ("def f():\n    global g\n    g = 1\ndef h():\n    return g\n", {}),
        ("[x for x in range(3) if x]\nlambda y: y\n", {}),
        ("def f():\n    total = 0\n    totl += 1\n    return total\n", {"totl": 1}),
        ("def f(total):\n    total += 1\n", {}),
        ("try:\n    pass\nexcept OSError as e:\n    print(e, __file__)\n", {}),
        ("match x:\n    case [a, *b]:\n        print(a, b)\n", {"x": 1}),
    ],
)
def test_names_that_nothing_binds(text: str, undefined: dict[str, int]) -> None:
    facts = python_facts(text)
    assert facts is not None
    assert facts.undefined == undefined


def test_a_star_import_may_bind_anything() -> None:
    facts = python_facts("from os import *\nprint(a)\n")
    assert facts is not None
    assert facts.undefined is None


@pytest.mark.parametrize(
    ("text", "line"), [("a = 1\nif a\n    pass\n", 1), ("def f(:\n", 0), ("a = 1\n  b = 2\n", 1), ("return 1\n", 0)]
)
def test_the_line_of_the_first_error(text: str, line: int) -> None:
    facts = python_facts(text)
    assert facts is not None
    assert facts.error_line == line
    assert facts.error


@pytest.mark.parametrize(
    ("text", "unused"),
    [
        ("import os\n", 1),
        ("import os\nos\n", 0),
        ("def f(a):\n    b = 1\n", 1),
        ("def f():\n    b = 1\n    return b\n", 0),
    ],
)
def test_names_that_nothing_uses(text: str, unused: int) -> None:
    facts = python_facts(text)
    assert facts is not None
    assert facts.unused == unused


@pytest.mark.parametrize("text", ["x\n" * MAX_CHARACTERS, "a = '\0'\n", "-" * 100_000 + "1"])
def test_what_this_python_cannot_or_should_not_read(text: str) -> None:
    facts = python_facts(text)
    assert facts is None or facts.error


def test_odd_escapes_are_not_our_concern() -> None:
    assert python_facts("a = '\\d'\nb = a is 'x'\n") is not None  # warnings are errors in these tests
