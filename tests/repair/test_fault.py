"""What is read out of the messages of linters, type checkers and compilers."""

from __future__ import annotations

import pytest

from spark_lsp.repair.fault import asks_for_less, undefined_name


@pytest.mark.parametrize(
    ("message", "name"),
    [
        ("undefined name 'lenght'", "lenght"),  # pyflakes
        ("Undefined name `lenght`", "lenght"),  # ruff
        ('"lenght" is not defined', "lenght"),  # pyright
        ('Name "lenght" is not defined', "lenght"),  # mypy
        ("Undefined variable 'lenght'", "lenght"),  # pylint
        ("Cannot find name 'lenght'. Did you mean 'length'?", "lenght"),  # TypeScript
        ("'lenght' is not defined.", "lenght"),  # ESLint
        ("undefined: lenght", None),  # Go: too little to tell a name from a package
        ("use of undeclared identifier 'lenght'", "lenght"),  # clang
        ("expected ':'", None),
        ("local variable 'x' is assigned to but never used", None),
        ("The name is not defined", None),
    ],
)
def test_the_name_that_is_not_defined(message: str, name: str | None) -> None:
    assert undefined_name(message) == name


@pytest.mark.parametrize(
    ("message", "less"),
    [
        ("'os' imported but unused", True),
        ("redefinition of unused 'os' from line 1", True),
        ("unexpected indent", True),
        ("Unreachable code", True),
        ("undefined name 'os'", False),
        ("'(' was never closed", False),
    ],
)
def test_whether_taking_code_out_may_be_the_repair(message: str, less: bool) -> None:
    assert asks_for_less(message) is less
