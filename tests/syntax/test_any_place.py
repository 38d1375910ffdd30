"""What holds for every place of every document, finished or not."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from spark_lsp.syntax import (
    LANGUAGES,
    Language,
    enclosing_block,
    enclosing_definition,
    errors_in,
    language_for,
    parse,
    scope_kind,
    statement_at,
)

from .cases import all_cases

PIECES = [
    "a",
    " ",
    "\n",
    "\r\n",
    "(",
    ")",
    "{",
    "}",
    "[",
    '"',
    "'",
    "`",
    ":",
    ";",
    "#",
    "//",
    "/*",
    "é",
    "😀",
    "\ud800",
]
languages = st.sampled_from(LANGUAGES)
noise = st.lists(st.sampled_from([*PIECES, "def ", "class ", "if ", "    ", "end\n", "<p>", "--"]), max_size=40)


@st.composite
def broken_cases(draw: st.DrawFn) -> tuple[Language, str]:
    """A case with something typed into it or taken out of it."""
    case = draw(st.sampled_from(all_cases()))
    start = draw(st.integers(0, len(case.text)))
    end = start + draw(st.sampled_from([0, 0, 1, 5]))
    return language_for(case.language_id, ""), case.text[:start] + draw(st.sampled_from(PIECES)) + case.text[end:]


documents = broken_cases() | st.tuples(languages, noise.map("".join))


@settings(max_examples=200, deadline=None)
@given(documents, st.data())
def test_what_encloses_a_place_holds_it(document: tuple[Language, str], data: st.DataObject) -> None:
    language, text = document
    tree = parse(text, language)
    offset = data.draw(st.integers(-1, len(text) + 1))
    place = min(max(offset, 0), len(text))
    block, definition = enclosing_block(tree, offset), enclosing_definition(tree, offset)
    for span in (block, definition, statement_at(tree, offset)):
        assert span is None or 0 <= span.start <= place <= span.end <= len(text)
    if definition is not None:
        assert block is not None
        assert definition.start <= block.start
    scope_kind(tree, offset)


@settings(max_examples=100, deadline=None)
@given(documents, st.data())
def test_errors_of_the_whole_are_found_in_its_parts(document: tuple[Language, str], data: st.DataObject) -> None:
    language, text = document
    tree = parse(text, language)
    middle = data.draw(st.integers(0, len(text)))
    whole = errors_in(tree, 0, len(text))
    parts = errors_in(tree, 0, middle), errors_in(tree, middle, len(text))
    assert max(parts) <= whole <= sum(parts)
    assert (whole > 0) == (tree.root is not None and tree.root.has_error)


def test_a_range_without_errors_in_a_document_with_some() -> None:
    text = "def f():\n    return 1\n\nx = = 2\n"
    tree = parse(text, language_for("python", ""))
    assert errors_in(tree, 0, text.index("x")) == 0
    assert errors_in(tree, text.index("x"), len(text)) == 1


def test_a_missing_token_is_an_error_where_it_is_missing() -> None:
    text = "function f() {\n  g();\n"
    tree = parse(text, language_for("javascript", ""))
    end = text.index(";") + 1
    assert errors_in(tree, end, end) == 1
    assert errors_in(tree, 0, end - 1) == 0


def test_questions_about_deeply_nested_text_are_answered_without_recursion() -> None:
    depth = 10_000
    text = "def f():\n    x = " + "[" * depth + "1" + "]" * depth + "\n"
    tree = parse(text, language_for("python", ""))
    offset = text.index("1")
    definition = enclosing_definition(tree, offset)
    assert definition is not None
    assert definition.start == 0
    assert enclosing_block(tree, offset) == definition
    assert statement_at(tree, offset) is not None
    assert scope_kind(tree, offset).value == "code"
    broken = parse(text.replace("]", ""), language_for("python", ""))
    assert errors_in(broken, 0, len(text)) > 0
    assert enclosing_definition(broken, offset) is not None


def test_a_method_is_the_block_where_an_error_hides_its_body() -> None:
    text = "class A:\n    def f(self):\n        return 1\n\n    @property\n    @cached\n    def g(self):\n"
    text += "        return h(1,\n a                ("
    tree = parse(text, language_for("python", "a.py"))
    found = enclosing_block(tree, text.index("g(self)"))
    assert found == enclosing_definition(tree, text.index("g(self)"))
    assert found is not None and text[found.start :].startswith("    @property")
