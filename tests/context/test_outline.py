"""What a file imports and defines, in several languages."""

from __future__ import annotations

import pytest

from spark_lsp.context.outline import SIGNATURE_CHARACTERS, Outline, outline
from spark_lsp.syntax.languages import language_for
from spark_lsp.syntax.parser import parse


def outline_of(text: str, language: str = "python") -> Outline:
    return outline(parse(text, language_for(language, "")))


def shown(text: str, language: str) -> list[str]:
    return [
        "\n".join([definition.signature, *(member.signature for member in definition.members)])
        for definition in outline_of(text, language).definitions
    ]


CASES = [
    ("python", "def f(a, b=1) -> int:\n    return 1\n", ["def f(a, b=1) -> int: ..."]),
    ("python", 'def f(a,\n      b):\n    """Doc."""\n', ["def f(a,\n      b): ..."]),
    ("python", "def f():  # why\n    # a comment\n    pass\n", ["def f(): ..."]),
    ("python", "async def f():\r\n    pass\r\n", ["async def f(): ..."]),
    ("python", "@cache\ndef f():\n    pass\n", ["@cache\ndef f(): ..."]),
    (
        "python",
        'class A(B):\n    """Doc."""\n    x: int = 1\n    def f(self):\n        """Doc."""\n        return 1\n',
        ["class A(B):\n    x: int = 1\n    def f(self): ..."],
    ),
    ("python", 'class A:\n    """Doc."""\n', ["class A: ..."]),
    ("python", "class A(B):\n    pass\n", ["class A(B): ..."]),
    ("python", "LIMIT = 3\n", ["LIMIT = 3"]),
    ("python", "pass\nname\n", []),
    ("python", "a, b = 1, 2\nprint(1)\nif x:\n    y = 1\n", []),
    ("typescript", "export function f(a: number) {\n  return '';\n}\n", ["export function f(a: number)"]),
    ("typescript", "export const f = (a: number): number => a + 1;\n", ["export const f = (a: number): number =>"]),
    ("typescript", "export const LIMIT = 3;\n", ["export const LIMIT = 3;"]),
    ("typescript", "interface P {\n  x: number;\n}\n", ["interface P {\n  x: number;\n}"]),
    ("typescript", "type U = A | B;\n", ["type U = A | B;"]),
    (
        "typescript",
        "export class R<T> extends B {\n  n = 1;\n  constructor(a: number) { super(); }\n  push(x: T): void {}\n}\n",
        ["export class R<T> extends B\n  n = 1\n  constructor(a: number)\n  push(x: T): void"],
    ),
    ("javascript", "class A {\n  f(x) { return x; }\n}\n", ["class A\n  f(x)"]),
    ("go", "type P struct { X int }\n\nfunc (p *P) F(a int) string {\n\treturn \"\"\n}\n",
     ["type P struct { X int }", "func (p *P) F(a int) string"]),
    ("rust", "pub struct P { x: i32 }\nimpl P {\n    pub fn new(x: i32) -> Self { P { x } }\n}\n",
     ["pub struct P { x: i32 }", "impl P\n    pub fn new(x: i32) -> Self"]),
    ("c", "static int *f(int a)\n{\n  return 0;\n}\n", ["static int *f(int a)"]),
    ("java", "class A extends B {\n  int x;\n  int f() { return x; }\n}\n", ["class A extends B\n  int x;\n  int f()"]),
    ("klingon", "def f():\n    pass\n", []),
]  # fmt: skip


@pytest.mark.parametrize(("language", "text", "expected"), CASES)
def test_signatures_have_no_bodies_and_no_docstrings(language: str, text: str, expected: list[str]) -> None:
    assert shown(text, language) == expected


IMPORTS = [
    ("python", "import os, a.b as c", "", [("os", "os"), ("c", "a.b")]),
    ("python", "from . import x as y, z", ".", [("y", "x"), ("z", "z")]),
    ("python", "from ..pkg.mod import (A, B)", "..pkg.mod", [("A", "A"), ("B", "B")]),
    ("python", "from a import *", "a", []),
    ("typescript", "import { A as B, C } from './mod';", "./mod", [("B", "A"), ("C", "C")]),
    ("typescript", "import D, * as E from '../x.js';", "../x.js", [("D", "D"), ("E", "E")]),
    ("typescript", "export { q } from './q';", "./q", [("q", "q")]),
    ("javascript", "const { a, fs } = require('./fs');", "./fs", [("fs", "fs")]),
    ("go", 'import "fmt"', "", [("fmt", "fmt"), ("import", "import")]),
]


@pytest.mark.parametrize(("language", "text", "module", "names"), IMPORTS)
def test_imports_say_what_they_bind(language: str, text: str, module: str, names: list[tuple[str, str]]) -> None:
    (found,) = outline_of(text + "\n", language).imports
    assert (found.module, list(found.names)) == (module, names)
    assert found.text == text


def test_a_long_signature_is_cut_and_a_broken_file_gives_what_it_has() -> None:
    arguments = ", ".join(f"argument_{number}" for number in range(200))
    (long,) = outline_of(f"def f({arguments}):\n    pass\n").definitions
    assert len(long.signature) <= SIGNATURE_CHARACTERS + len(" ...")
    assert [d.name for d in outline_of("def f():\n    pass\n\ndef g(:\n    x = (\n").definitions][:1] == ["f"]
