"""Comment, string or code, in many languages; ``█`` is the cursor."""

from __future__ import annotations

import pytest

from spark_lsp.documents.text import TextSnapshot
from spark_lsp.gate import scope_at
from spark_lsp.postprocess import Place
from spark_lsp.syntax.languages import language_for
from spark_lsp.syntax.lexical import ScopeKind
from spark_lsp.syntax.parser import parse

CODE, COMMENT, STRING = ScopeKind.CODE, ScopeKind.COMMENT, ScopeKind.STRING

CASES = [
    ("python", "# a comm█\n", COMMENT),
    ("python", "x = 1  # note█", COMMENT),
    ("python", "# a comment\n█\n", CODE),
    ("python", "x = 'ab█'\n", STRING),
    ("python", "x = 'ab█\n", STRING),
    ("python", "x = 'ab'█\n", CODE),
    ("python", "x = f'a{b█}'\n", CODE),
    ("python", "x = f'a{b}c█'\n", STRING),
    ("python", 'x = """select█\n', STRING),
    ("python", 'f(\n    """select█\n    """,\n)\n', STRING),
    ("python", 'def f():\n    """Doc█\n\n    more."""\n', COMMENT),
    ("python", 'def f():\n    """Doc█\n', COMMENT),
    ("python", 'def f():\n    r"""Doc\n\n    a█\n    """\n', COMMENT),
    ("python", '"""Doc."""█\nimport a\n', CODE),
    ("typescript", "// a█\n", COMMENT),
    ("typescript", "// a\n█\n", CODE),
    ("typescript", "/* a\n * b█\n */\n", COMMENT),
    ("typescript", "/* a */█\n", CODE),
    ("typescript", "const a = `x ${b█} y`;\n", CODE),
    ("typescript", "const a = `x█`;\n", STRING),
    ("typescriptreact", "const a = <div>tex█t</div>;\n", CODE),
    ("go", "// a█\n", COMMENT),
    ("go", 'x := "a█"\n', STRING),
    ("rust", "/// doc█\nfn f() {}\n", COMMENT),
    ("rust", "/// doc\n█\nfn f() {}\n", CODE),
    ("rust", 'let x = "a█\n";\n', STRING),
    ("rust", "let x: &'a█ str = y;\n", CODE),
    ("rust", 'let x = r#"a█"#;\n', STRING),
    ("c", "/* a█", COMMENT),
    ("c", "int a; // b█\n", COMMENT),
    ("c", 'char *a = "b█";\n', STRING),
    ("cpp", 'auto s = R"(a█)";\n', STRING),
    ("java", "/** a█ */\nclass A {}\n", COMMENT),
    ("java", 'String s = """\n  a█\n  """;\n', STRING),
    ("csharp", "/// <summary>a█\nclass A {}\n", COMMENT),
    ("html", "<!-- a█ -->\n", COMMENT),
    ("html", "<p>it's a█</p>\n", CODE),
    ("yaml", "# a█\n", COMMENT),
    ("yaml", "# a\n█\n", CODE),
    ("yaml", 'a: "b█"\n', STRING),
    ("yaml", "a: don't█\n", CODE),
    ("shellscript", "# a█\n", COMMENT),
    ("shellscript", 'echo "a█"\n', STRING),
    ("shellscript", "echo $#█\n", CODE),
    ("sql", "-- a█\n", COMMENT),
    ("sql", "select 'a█'\n", STRING),
    ("lua", "--[[ a\n█ ]]\n", COMMENT),
    ("ruby", 'x = "a#{b█}"\n', CODE),
    ("json", '{"a█": 1}\n', STRING),
    ("json", '{"a": █}\n', CODE),
    ("julia", '"""\ndoc█\n"""\nf() = 1\n', COMMENT),
    ("markdown", "some `code█`\n", CODE),
    ("dockerfile", "# a█\n", COMMENT),
    ("klingon", "# a 'b█\n", CODE),
]
NEEDS_A_TREE = [
    ("html", '<p class="a█">x</p>\n', STRING),
    ("typescriptreact", 'const a = <div className="b█">t</div>;\n', STRING),
    ("shellscript", 'echo "$(ls █)"\n', CODE),
]


def place(language_id: str, marked: str, *, with_tree: bool) -> Place:
    text, language = marked.replace("█", ""), language_for(language_id, "")
    tree = parse(text, language) if with_tree else None
    return Place.at(TextSnapshot.of(text), marked.index("█"), language, tree)


@pytest.mark.parametrize(("language", "marked", "scope"), [*CASES, *NEEDS_A_TREE])
def test_the_tree_tells_where_the_cursor_stands(language: str, marked: str, scope: ScopeKind) -> None:
    assert scope_at(place(language, marked, with_tree=True)) is scope


@pytest.mark.parametrize(("language", "marked", "scope"), CASES)
def test_the_delimiters_tell_where_there_was_no_time_for_a_tree(language: str, marked: str, scope: ScopeKind) -> None:
    assert scope_at(place(language, marked, with_tree=False)) is scope
