from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace

import pytest
import tree_sitter
from hypothesis import given, settings
from hypothesis import strategies as st

from spark_lsp.syntax import PLAIN, DocumentParser, Language, SyntaxTree, grammars, language_for, parse, parser, reparse

PYTHON = language_for("python", "")
SOURCES = {
    "python": "@d\nclass A:\n    def f(self, a):\n        '''d'''\n        if a:\n            return f'x {a}'\n\nx\n",
    "typescript": "export class A {\n  f(a: string) {\n    return `a ${a}`;\n  }\n}\nconst g = (x) => [x];\n",
    "go": 'package a\n\nfunc f(a int) error {\n\tif a > 1 {\n\t\treturn nil\n\t}\n\treturn x("é")\n}\n',
    "rust": "impl S {\n    fn f<'a>(&'a self) -> u8 {\n        match self.x { 1 => 2, _ => '😀' as u8 }\n    }\n}\n",
    "html": '<div class="a">\n  <p>ä<br/></p>\n  <!-- c -->\n</div>\n',
    "json": '{"a": [1, {"b": "é😀"}], "c": null}\n',
}
PIECES = [
    "a", " ", "\n", "\r\n", "\t", "(", ")", "{", "}", "[", "]", '"', "'", "`", ":", ";", ",", "#", "//", "é", "😀",
    "e\u0301", "\u2028", "\ud800", "    x = 1\n", "if a:\n", "f(x);\n", "/* c */",
]  # fmt: skip


@st.composite
def editing_sessions(draw: st.DrawFn) -> tuple[Language, list[str]]:
    """A language and the texts of a document while somebody edits it."""
    name = draw(st.sampled_from(sorted(SOURCES)))
    text = SOURCES[name]
    if draw(st.booleans()):
        text = text.replace("\n", "\r\n")
    texts = [text]
    for _ in range(draw(st.integers(1, 8))):
        start = draw(st.integers(0, len(text)))
        end = min(start + draw(st.sampled_from([0, 0, 0, 1, 2, 12])), len(text))
        text = text[:start] + draw(st.sampled_from(["", *PIECES])) + text[end:]
        texts.append(text)
    return language_for(name, ""), texts


def structure(tree: SyntaxTree) -> str:
    assert tree.root is not None
    return str(tree.root)


def outline(tree: SyntaxTree) -> list[tuple[str, int, int, tuple[int, int]]]:
    """Kind and place of every node of a tree."""
    assert tree.root is not None
    found, waiting = [], [tree.root]
    while waiting:
        node = waiting.pop()
        found.append((node.type, node.start_byte, node.end_byte, (node.start_point.row, node.start_point.column)))
        waiting.extend(node.children)
    return found


@settings(max_examples=150, deadline=None)
@given(editing_sessions())
def test_reparsing_gives_the_tree_of_a_full_parse(session: tuple[Language, list[str]]) -> None:
    language, texts = session
    tree = parse(texts[0], language)
    for text in texts[1:]:
        tree = reparse(tree, text)
        whole = parse(text, language)
        assert tree.text == text
        assert tree.root is not None
        assert whole.root is not None
        assert tree.root.has_error == whole.root.has_error
        # In broken text tree-sitter may choose another of several repairs when it takes over parts of the old tree.
        if not whole.root.has_error:
            assert outline(tree) == outline(whole)


@settings(max_examples=60, deadline=None)
@given(editing_sessions())
def test_undoing_every_edit_gives_the_first_tree_again(session: tuple[Language, list[str]]) -> None:
    language, texts = session
    first = parse(texts[0], language)
    tree = first
    for text in itertools.chain(texts[1:], reversed(texts[:-1])):
        tree = reparse(tree, text)
    assert outline(tree) == outline(first)


@settings(max_examples=60, deadline=None)
@given(editing_sessions())
def test_reparsing_leaves_its_base_as_it_was(session: tuple[Language, list[str]]) -> None:
    language, texts = session
    base = parse(texts[0], language)
    before = outline(base)
    for text in texts[1:]:
        reparse(base, text)
    assert outline(base) == before


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("x = 1\n", "", id="everything deleted"),
        pytest.param("", "x = 1\n", id="from nothing"),
        pytest.param("x = 'aaa'\n", "x = 'aaaa'\n", id="one of a run"),
        pytest.param("x = 'é'\n", "x = 'è'\n", id="code points that share their first byte"),
        pytest.param("x = '😀'\n", "x = '🙀'\n", id="code points that share their first and last byte"),
        pytest.param("a = 1\nb = 2\n", "a = 1\r\nb = 2\r\n", id="other line ends"),
        pytest.param("a = 1\n", "def f():\n    return '''\n'''\n", id="nothing in common"),
    ],
)
def test_reparsing_finds_the_span_that_changed(before: str, after: str) -> None:
    assert outline(reparse(parse(before, PYTHON), after)) == outline(parse(after, PYTHON))


def test_a_tentative_text_can_be_tried_without_losing_the_document() -> None:
    base = parse("def f(a):\n    \n\nx = 1\n", PYTHON)
    tried = reparse(base, "def f(a):\n    return a + 1\n\nx = 1\n")
    assert "return_statement" in structure(tried)
    assert "return_statement" not in structure(base)


@pytest.mark.parametrize("place", [5, 20])
def test_what_follows_a_block_that_grows_is_taken_over(place: int) -> None:
    methods = [f"    def f_{number}(self):\n        return {number}\n\n" for number in range(40)]
    before = f"class A:\n{''.join(methods[:place])}    def g(self):\n        a = 1"
    after = f"\n\n{''.join(methods[place:])}"
    tree = reparse(parse(before + after, PYTHON), f"{before} + 1{after}")  # lays out the lists of a fresh tree anew
    before += " + 1\n        b = 2"
    tree = reparse(tree, before + after)
    for line in ("# more", "if b:\n            c = 1", "return a"):
        before += f"\n        {line}"
        known = _nodes(tree)
        tree = reparse(tree, before + after)
        assert len(known & _nodes(tree)) > 0.8 * len(known)


def _nodes(tree: SyntaxTree) -> set[int]:
    """Where the nodes are in memory: a part that was taken over is where it was."""
    assert tree.root is not None
    found, waiting = set(), [tree.root]
    while waiting:
        node = waiting.pop()
        found.add(node.id)
        waiting += node.children
    return found


def test_the_same_text_gives_the_same_tree_object() -> None:
    base = parse("x = 1\n", PYTHON)
    assert reparse(base, "x = 1\n") is base


def test_lone_surrogates_are_parsed_and_keep_the_offsets() -> None:
    text = "x = '\ud83d'\ny = '\ude00'\n"
    tree = parse(text, PYTHON)
    assert tree.root is not None
    spans = [tree.span_of(node) for node in tree.root.named_children]
    assert [text[span.start : span.end] for span in spans] == ["x = '\ud83d'", "y = '\ude00'"]


def test_spans_are_code_points() -> None:
    text = "a = '😀é'\nb = 2\n"
    tree = parse(text, PYTHON)
    assert tree.root is not None
    assert [text[span.start : span.end] for span in map(tree.span_of, tree.root.children)] == ["a = '😀é'", "b = 2"]


class TestWhenThereIsNothingToParse:
    def test_a_document_without_a_grammar_has_an_empty_tree(self) -> None:
        assert parse("text", PLAIN) == SyntaxTree("text", PLAIN)
        assert reparse(parse("text", PLAIN), "texts").text == "texts"

    def test_a_grammar_missing_from_the_bundle_gives_an_empty_tree(self, caplog: pytest.LogCaptureFixture) -> None:
        missing = replace(PLAIN, name="klingon", grammar="klingon")
        assert parse("nuqneH", missing).root is None
        assert parse("Qapla'", missing).root is None
        assert [record.getMessage() for record in caplog.records if "klingon" in record.getMessage()][1:] == []

    def test_a_text_over_the_limit_gives_an_empty_tree(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(parser, "MAX_LENGTH", 5)
        assert parse("x = 1\n", PYTHON).root is None
        assert parse("x = 1", PYTHON).root is not None

    def test_a_document_that_grows_over_the_limit_and_shrinks_again_is_parsed_again(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(parser, "MAX_LENGTH", 5)
        document = DocumentParser(PYTHON)
        assert [document.tree(text).root is None for text in ("x = 1", "x = 11", "x = 1")] == [False, True, False]

    def test_an_empty_base_is_parsed_anew(self, monkeypatch: pytest.MonkeyPatch) -> None:
        empty = SyntaxTree("x = 1", PYTHON)
        assert structure(reparse(empty, "y = 2\n")) == structure(parse("y = 2\n", PYTHON))

    def test_an_empty_text_has_a_root(self) -> None:
        assert structure(parse("", PYTHON)) == "(module)"


class SlowToStart:
    """A parser that pauses a few times in a parse from nothing, and starts over when it is given another text."""

    PAUSES = 5

    def __init__(self, language: tree_sitter.Language) -> None:
        self._parser = tree_sitter.Parser(language)
        self._text = b""
        self._pauses = 0

    def parse(self, text: bytes, old: tree_sitter.Tree | None = None) -> tree_sitter.Tree:
        if old is not None:
            return self._parser.parse(text, old)
        if text != self._text:
            self._text, self._pauses = text, self.PAUSES
        if self._pauses:
            self._pauses -= 1
            raise ValueError
        return self._parser.parse(text)


class TestDocumentParser:
    @pytest.fixture
    def long_text(self) -> str:
        return "def f(a):\n    return [a, (a, 'x'), {a: 1}]\n\n\n" * 800

    @pytest.fixture(autouse=True)
    def short_slices(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
        """Slices so short that every parse of the long text is interrupted, on any machine."""
        monkeypatch.setattr(grammars, "SLICE_S", 0.0001)
        yield

    def test_without_a_budget_it_gives_the_whole_tree(self, long_text: str) -> None:
        document = DocumentParser(PYTHON)
        assert outline(document.tree(long_text)) == outline(parse(long_text, PYTHON))

    def test_a_spent_budget_gives_an_empty_tree_and_the_next_call_goes_on(self, long_text: str) -> None:
        document = DocumentParser(PYTHON)
        calls = 1
        while (tree := document.tree(long_text, budget_s=0.0)).root is None:
            assert tree == SyntaxTree(long_text, PYTHON)
            calls += 1
        assert calls > 2
        assert outline(tree) == outline(parse(long_text, PYTHON))

    def test_typing_does_not_keep_the_first_parse_from_finishing(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(parser, "pausing_parser", SlowToStart)
        document = DocumentParser(PYTHON)
        texts = ["x = 1\n" + "y" * typed for typed in range(SlowToStart.PAUSES + 1)]
        trees = [document.tree(text, budget_s=0.0) for text in texts]
        assert [tree.text for tree in trees] == texts
        assert [tree.root is not None for tree in trees] == [False] * SlowToStart.PAUSES + [True]
        assert outline(trees[-1]) == outline(parse(texts[-1], PYTHON))

    def test_each_tree_belongs_to_the_text_asked_for(self, long_text: str) -> None:
        document = DocumentParser(PYTHON)
        document.tree(long_text)
        for text in (long_text + "x = 1\n", "y = 2\n", long_text):
            tree = document.tree(text)
            assert tree.text == text
            assert outline(tree) == outline(parse(text, PYTHON))

    def test_after_close_it_parses_anew(self) -> None:
        document = DocumentParser(PYTHON)
        document.tree("x = 1\n")
        document.close()
        assert structure(document.tree("y = 2\n")) == structure(parse("y = 2\n", PYTHON))

    def test_a_text_on_which_the_parser_loses_itself_is_given_up_for_good(
        self, long_text: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        document = DocumentParser(PYTHON)
        monkeypatch.setattr(parser, "PATIENCE_S", 0.0005)
        assert document.tree(long_text).root is None
        monkeypatch.setattr(parser, "PATIENCE_S", 60.0)
        assert document.tree(long_text + "x").root is None
        document.close()
        assert document.tree(long_text).root is not None


def test_deeply_nested_text_is_parsed_and_let_go_without_recursion() -> None:
    text = "[" * 10_000 + "]" * 10_000
    tree = parse(text, language_for("json", ""))
    assert tree.root is not None
    assert not tree.root.has_error
    tree = reparse(tree, text[:10_000] + "1" + text[10_000:])
    assert tree.root is not None
    assert not tree.root.has_error
