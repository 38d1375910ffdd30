"""What is shown of a text, given how sure the model was of its lines; ``█`` is the cursor."""

from __future__ import annotations

import math
from itertools import accumulate, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spark_lsp.documents.text import TextSnapshot
from spark_lsp.gate import AUTOMATIC, INVOKED, Bars, Scored, confident, growing_text
from spark_lsp.gate.confidence import leading_lines, passes
from spark_lsp.gate.thresholds import first_score, least_score, mean_score, total_score
from spark_lsp.postprocess import Place, postprocess
from spark_lsp.syntax.languages import language_for
from spark_lsp.syntax.parser import parse

HALF = math.log(0.5)
BARS = Bars(text=HALF, line=HALF)
SURE, GUESSED = (0.9, 0.9), (0.1, 0.1)


def place(marked: str, language_id: str = "python", *, with_tree: bool = True) -> Place:
    text, language = marked.replace("█", ""), language_for(language_id, "")
    tree = parse(text, language) if with_tree else None
    return Place.at(TextSnapshot.of(text), marked.index("█"), language, tree)


def lines(text: str, *guessed: int) -> list[tuple[float, ...]]:
    """Sure ones, but for the lines of these numbers."""
    return [GUESSED if number in guessed else SURE for number in range(text.count("\n") + 1)]


@pytest.mark.parametrize("with_tree", [True, False], ids=["tree", "no tree"])
@pytest.mark.parametrize(
    ("language", "marked", "text", "guessed", "shown"),
    [
        ("python", "█\n", "a = 1\nb = 2\nc = 3", 2, "a = 1\nb = 2"),
        ("python", "█\n", "a = 1\nb = 2\nc = 3", 1, "a = 1"),
        ("python", "█\n", "a = 1\n\nb = 2", 2, "a = 1"),
        ("python", "def f():█\n", "\n    a = 1\n    return a", 2, "\n    a = 1"),
        ("python", "█\n", "a = 1\nfor x in y:\n    f(x)\n    g(x)", 3, "a = 1\nfor x in y:\n    f(x)"),
        ("python", "█\n", "a = 1\nfor x in y:\n    f(x)", 2, "a = 1"),
        ("python", "█\n", "for x in y:\n    f(x)", 1, ""),
        ("python", "for x in █\n", "y:\n    f(x)", 1, ""),
        ("python", "█\n", "a = 1\nb = f(\n    c,\n    d,\n)", 3, "a = 1"),
        ("python", "█\n", "def f(\n    a,\n):\n    return a", 3, ""),
        ("python", "█\n", 'a = 1\nb = """\nc\n"""', 2, "a = 1"),
        ("python", "x = [\n    █\n]\n", "1,\n    2,\n    3,", 2, "1,\n    2,"),
        ("typescript", "█\n", "a();\nif (b) {\n  c();\n}", 2, "a();"),
        ("typescript", "█\n", "a();\nif (b) {\n  c();\n  d();\n}", 3, "a();"),
        ("typescript", "function f() {█\n}\n", "\n  a();\n  b();", 2, "\n  a();"),
        ("go", "func f() {\n\t█\n}\n", "a := 1\n\tif a {\n\t\tg()\n\t}", 2, "a := 1"),
        ("rust", "fn f() {\n    █\n}\n", "let a = 1;\n    let b = S {\n        c,\n    };", 2, "let a = 1;"),
        ("c", "int f(void) {\n    █\n}\n", "a = 1;\n    /* why\n       so */\n    b = 2;", 2, "a = 1;"),
        ("klingon", "█\n", "a\nb\nc", 2, "a\nb"),
    ],
)
def test_a_text_ends_before_the_line_that_was_guessed_and_nothing_is_half_there(
    language: str, marked: str, text: str, guessed: int, shown: str, with_tree: bool
) -> None:
    assert confident(text, lines(text, guessed), place(marked, language, with_tree=with_tree), BARS) == shown


@pytest.mark.parametrize(
    ("language", "marked", "text", "guessed", "shown"),
    [
        ("python", "█\n", "a = 1\ntry:\n    b = 2\nexcept E:\n    c = 3", 3, "a = 1"),
        ("python", "try:█\n", "\n    a = 1\n    b = 2", 2, "\n    a = 1"),
        ("python", "█\nfinally:\n    c = 3\n", "try:\n    a = 1\n    b = 2", 2, "try:\n    a = 1"),
        ("python", "█\n", "a = 1\n@cache\ndef f():\n    return 1", 3, "a = 1"),
        ("ruby", "█\n", "a = 1\nif b\n  c\nend", 2, "a = 1"),
    ],
)
def test_the_grammar_knows_of_halves_that_no_bracket_shows(
    language: str, marked: str, text: str, guessed: int, shown: str
) -> None:
    assert confident(text, lines(text, guessed), place(marked, language), BARS) == shown


def test_a_header_stays_where_the_document_has_its_body() -> None:
    header = place("█\n    a = 1\n    b = 2\n")
    text = "c = 3\nif d:\n    e = 4"
    assert confident(text, lines(text, 2), header, BARS) == "c = 3\nif d:"


@pytest.mark.parametrize(
    ("probabilities", "shown"), [([SURE], "a = b"), ([GUESSED], ""), ([(0.9, 0.1)], ""), ([()], "a = b")]
)
def test_a_text_that_was_guessed_is_not_shown(probabilities: list[tuple[float, ...]], shown: str) -> None:
    assert confident("a = b", probabilities, place("█\n"), BARS) == shown


@pytest.mark.parametrize(
    ("first", "shown"),
    [((0.9, 0.9, 0.9, 0.9), True), ((0.9, 0.2, 0.9, 0.9), False), ((0.8, 0.8, 0.8, 0.8), False), ((0.8, 0.8), True)],
    ids=["sure", "a single guess", "many doubts", "few doubts"],
)
def test_a_text_is_shown_where_its_first_line_is_more_likely_right_than_the_bar(
    first: tuple[float, ...], shown: bool
) -> None:
    text = "a = b\nc = d"
    assert (confident(text, [first, SURE], place("█\n"), BARS) == text) is shown


def test_a_guessed_line_further_down_does_not_hide_the_text() -> None:
    text = "a = 1\nb = 2"
    assert passes(text, lines(text, 1), HALF)
    assert confident(text, lines(text, 1), place("█\n"), BARS) == "a = 1"


def test_blank_lines_ahead_belong_to_the_first_line() -> None:
    assert not passes("\na = 1", lines("\na = 1", 1), HALF)


def test_an_invoked_request_is_shown_what_an_automatic_one_is_and_more() -> None:
    assert INVOKED.text < AUTOMATIC.text < 0
    assert INVOKED.line < AUTOMATIC.line < 0


@pytest.mark.parametrize(
    ("probabilities", "mean", "total", "least", "first"),
    [((1.0, 1.0), 1, 1, 1, 1), ((0.5, 0.125), 0.25, 0.0625, 0.125, 0.5), ((1.0, 0.0), 1e-3, 1e-6, 1e-6, 1)],
)
def test_scores_are_logarithms_of_probabilities(
    probabilities: tuple[float, ...], mean: float, total: float, least: float, first: float
) -> None:
    scores = [score(probabilities) for score in (mean_score, total_score, least_score, first_score)]
    assert scores == pytest.approx([math.log(value) for value in (mean, total, least, first)])


PROBABILITY = st.floats(0.001, 1.0)
TEXT_AND_LINES = st.lists(
    st.tuples(st.sampled_from(["", "a = 1", "    b()", "if c:", "x = [", "]"]), st.lists(PROBABILITY, max_size=4)),
    min_size=1,
    max_size=8,
).map(lambda rows: ("\n".join(line for line, _ in rows), [values for _, values in rows]))


@given(TEXT_AND_LINES, st.floats(-7, 0), st.floats(-7, 0))
@settings(max_examples=100)
def test_leading_lines_are_leading_lines_and_fewer_of_them_for_a_higher_bar(
    drawn: tuple[str, list[list[float]]], one: float, other: float
) -> None:
    text, probabilities = drawn
    low, high = sorted((one, other))
    more, less = leading_lines(text, probabilities, low), leading_lines(text, probabilities, high)
    assert text.startswith(more)
    assert more.startswith(less)
    assert more.split("\n") == text.split("\n")[: more.count("\n") + 1]


@given(TEXT_AND_LINES, st.floats(-7, 0))
@settings(max_examples=100, deadline=None)
def test_what_is_shown_is_a_run_of_leading_lines_or_nothing(drawn: tuple[str, list[list[float]]], bar: float) -> None:
    here = place("def f():\n    █\n")
    text = postprocess(drawn[0], here)
    probabilities = drawn[1][: text.count("\n") + 1]
    shown = confident(text, probabilities, here, Bars(text=bar, line=bar))
    assert text.startswith(shown)


def growth(tokens: list[tuple[str, float]], bars: Bars | None) -> list[str]:
    """What is shown after each token."""
    growing, shown = place("█\n").while_growing(), []
    for count in range(1, len(tokens) + 1):
        texts, probabilities = zip(*tokens[:count], strict=True)
        text = "".join(texts)
        scored = Scored(text, probabilities, list(accumulate(map(len, texts))))
        shown.append(growing_text(postprocess(text, growing), scored, bars))
    return shown


def test_the_first_line_grows_by_tokens_and_the_others_by_lines() -> None:
    tokens = [("a", 0.9), (" =", 0.9), (" 1\n", 0.9), ("b", 0.9), (" = 2", 0.9), ("\n", 0.9), ("c", 0.9)]
    assert growth(tokens, BARS) == ["a", "a =", "a = 1", "a = 1", "a = 1", "a = 1\nb = 2", "a = 1\nb = 2"]
    assert growth(tokens, None) == growth(tokens, BARS)


def test_a_guessed_line_is_shown_at_no_time_and_nothing_below_it_either() -> None:
    tokens = [("a = 1\n", 0.9), ("b", 0.9), (" = 2", 0.01), ("\n", 0.9), ("c = 3\n", 0.9), ("d", 0.9)]
    assert growth(tokens, BARS) == ["a = 1"] * len(tokens)
    assert growth(tokens, None)[-1] == "a = 1\nb = 2\nc = 3"


def test_a_guessed_text_does_not_even_begin_to_show() -> None:
    assert growth([("a", 0.1), (" = 1", 0.5), ("\n", 0.9), ("b\n", 0.9)], BARS) == [""] * 4


@given(st.lists(st.tuples(st.sampled_from(["a", " = 1", "\n", "f(b)\n", "\nc"]), PROBABILITY), max_size=12))
@settings(max_examples=100, deadline=None)
def test_whole_lines_that_were_shown_stay_as_the_text_grows(tokens: list[tuple[str, float]]) -> None:
    shown = [text.rpartition("\n")[0] for text in growth([("x = y\n", 1.0), *tokens], BARS)]
    assert all(later.startswith(earlier) for earlier, later in pairwise(shown))
