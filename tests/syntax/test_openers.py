from __future__ import annotations

import pytest

from spark_lsp.syntax import PLAIN, language_for, opens_block

OPENS = [
    ("python", "def f(a):"),
    ("python", "def f(a):  # adds one"),
    ("python", "    else:"),
    ("python", ") -> int:"),
    ("python", "x = foo("),
    ("python", "x = {"),
    ("python", "match x:"),
    ("python", 'if x == "#":'),
    ("yaml", "key:"),
    ("yaml", "run: |"),
    ("yaml", "-"),
    ("javascript", "function f() {"),
    ("javascript", "const f = (a) =>"),
    ("javascript", "  case 1:"),
    ("javascript", "if (a) { // why"),
    ("javascript", "if (a) { /* why */"),
    ("typescriptreact", "    <div className='a'>"),
    ("typescriptreact", "    <>"),
    ("go", "func f() error {"),
    ("go", "import ("),
    ("rust", "    Some(x) =>"),
    ("java", "Runnable r = () ->"),
    ("cpp", "public:"),
    ("ruby", "def f(a)"),
    ("ruby", "items.each do |x|"),
    ("ruby", "  else"),
    ("elixir", "def f(a) do"),
    ("elixir", "fn x ->"),
    ("lua", "if a then"),
    ("lua", "local function f(a, b)"),
    ("shellscript", "if [ -f a ]; then"),
    ("shellscript", "for i in 1 2; do"),
    ("shellscript", 'case "$1" in'),
    ("julia", "function f(x)"),
    ("haskell", "f x = case x of"),
    ("haskell", "main = do"),
    ("ocaml", "let f x ="),
    ("sql", "BEGIN"),
    ("pascal", "Begin"),
    ("html", '<div class="a">'),
    ("clojure", "(defn f [x]"),
    ("css", ".a {"),
    ("makefile", "all: a b"),
    ("cmake", "if(a)"),
    ("plaintext", "items ("),
]
DOES_NOT_OPEN = [
    ("python", "x = 1"),
    ("python", "# for example:"),
    ("python", "x = 1  # note:"),
    ("python", 'x = "a:'),
    ("python", "name:"),
    ("python", "x = y[1:"),
    ("python", "key = lambda x:"),
    ("python", ""),
    ("yaml", "key: value"),
    ("yaml", "# key:"),
    ("javascript", "foo();"),
    ("javascript", "// if (a) {"),
    ("javascript", 'x = "a {"'),
    ("javascript", "}"),
    ("typescriptreact", "    <Foo />"),
    ("typescriptreact", "    </div>"),
    ("typescriptreact", "let a: Array<string>"),
    ("rust", "let x = 1;"),
    ("c", "// struct a {"),
    ("ruby", "puts x if y"),
    ("ruby", "def f = 1; end"),
    ("ruby", "# do"),
    ("lua", "-- then"),
    ("lua", "x = f(a)"),
    ("shellscript", "echo todo"),
    ("julia", "f(x) = 1"),
    ("julia", "if a; b; end"),
    ("haskell", "a >= b"),
    ("html", "<br>"),
    ("html", "<p>a</p>"),
    ("html", "<!-- <div> -->"),
    ("clojure", "(f x)"),
    ("makefile", "X := 1"),
    ("plaintext", "for example:"),
]


@pytest.mark.parametrize(("language_id", "line"), OPENS)
def test_opens_a_block(language_id: str, line: str) -> None:
    assert opens_block(line, language_for(language_id, ""))


@pytest.mark.parametrize(("language_id", "line"), DOES_NOT_OPEN)
def test_opens_no_block(language_id: str, line: str) -> None:
    assert not opens_block(line, language_for(language_id, ""))


def test_the_last_line_with_text_decides() -> None:
    python = language_for("python", "")
    assert opens_block("x = 1\r\nif x:\r\n\r\n    ", python)
    assert not opens_block("if x:\n    y()\n", python)


def test_an_empty_text_opens_nothing() -> None:
    assert not opens_block("", PLAIN)
    assert not opens_block("\n  \n", PLAIN)
