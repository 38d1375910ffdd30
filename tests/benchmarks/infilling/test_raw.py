from __future__ import annotations

import pytest

from benchmarks.infilling.raw import MOST_TOKENS, RawModel, cut_text, finished
from benchmarks.infilling.tasks import Cut
from spark_lsp.decoding.kv_cache import KVCache
from spark_lsp.syntax.languages import language_for
from tests.benchmarks.infilling.examples import task
from tests.scripted_engine import ScriptedEngine

CUTS = [
    ("the line with its indentation", Cut.FIRST_LINE, "python", "\n\n    x = 1\n    y", "    x = 1"),
    ("a line that goes on with a bracket", Cut.FIRST_LINE, "python", "f(\n    1)", "f("),
    ("the rest of a line", Cut.LINE_END, "python", "bc)\ny", "bc)"),
    ("an empty rest", Cut.LINE_END, "python", "\ny", ""),
    ("a call", Cut.CALL, "cpp", "f(a, g(b)) + h(c)", "f(a, g(b))"),
    ("the end of a call that was open before", Cut.CALL, "cpp", "a), b)", "a)"),
    ("no call", Cut.CALL, "cpp", "a + b", "a + b"),
    ("a condition", Cut.CONDITION, "java", "i < (n)) { x(); }", "i < (n)"),
    ("a condition in Python", Cut.CONDITION, "python", "x > 0:\n    y", "x > 0:"),
    ("everything", Cut.NONE, "python", "a\nb\n\nc\n", "a\nb\n\nc\n"),
]


@pytest.mark.parametrize(("name", "cut", "language", "text", "expected"), CUTS, ids=[case[0] for case in CUTS])
def test_what_the_harness_keeps(name: str, cut: Cut, language: str, text: str, expected: str) -> None:
    of = language_for(language, "")
    assert cut_text(task("█", "", cut, language=language), text, of) == expected


@pytest.mark.parametrize(("name", "cut", "language", "text", "expected"), CUTS, ids=[case[0] for case in CUTS])
def test_no_token_that_would_change_the_result_is_left_out(
    name: str, cut: Cut, language: str, text: str, expected: str
) -> None:
    of = language_for(language, "")
    length = next((size for size in range(len(text)) if finished(cut, text[:size], of)), len(text))
    assert cut_text(task("█", "", cut, language=language), text[:length], of) == expected


def test_lines_are_dropped_until_the_file_parses() -> None:
    place = task("if (a) {\n  █\n}\n", "f();", Cut.PARSABLE, language="java")
    assert cut_text(place, "f();\n}\nvoid g() {", language_for("java", "")) == "f();\n}\nvoid g() {"
    assert cut_text(place, "f();\n} }", language_for("java", "")) == "f();"


def test_a_line_end_that_is_there_or_not_makes_no_difference_to_whole_lines() -> None:
    place = task("def f():\n█\n    return x\n", "    x = 1", whole_lines=True)
    python = language_for("python", "")
    assert cut_text(place, "    x = 1\n", python) == cut_text(place, "    x = 1", python) == "    x = 1"


def raw(place: object, *script: str, **engine: object) -> object:
    scripted = ScriptedEngine(script, **engine)  # type: ignore[arg-type]
    return RawModel(scripted, KVCache(scripted)).complete(place)  # type: ignore[arg-type]


def test_the_raw_model_sees_prefix_and_published_suffix_and_writes_to_its_end() -> None:
    place = task("a = 1\n█\nreturn_ = a\n", "b = 2", whole_lines=True)
    found = raw(place, "a = 1\nreturn_ = a\nb = 2\nc = 3\n")
    assert found.text == "b = 2\nc = 3"  # type: ignore[attr-defined]
    assert found.prompt_tokens == 3 + len("a = 1\n") + len(ScriptedEngine().tokenize("return_ = a\n"))  # type: ignore[attr-defined]
    assert not found.shortened  # type: ignore[attr-defined]


def test_only_tokens_that_reach_into_the_text_have_a_probability() -> None:
    found = raw(task("x = █\n", "yz", Cut.LINE_END), "x = \nyz", "y\nmore")
    assert found.text == "yz"  # type: ignore[attr-defined]
    assert len(found.probabilities) == 2  # type: ignore[attr-defined]
    assert all(0 < value <= 1 for value in found.probabilities)  # type: ignore[attr-defined]


def test_a_model_that_does_not_end_is_ended() -> None:
    found = raw(task("x█", ""), "x" + "ab" * 1000)
    assert found.tokens == MOST_TOKENS  # type: ignore[attr-defined]


def test_of_a_file_that_is_too_long_what_is_near_the_cursor_stays() -> None:
    place = task("#" * 900 + "x = █" + "\n#" * 900, "1", Cut.LINE_END)
    found = raw(place, context_length=600)
    assert found.shortened  # type: ignore[attr-defined]
    assert found.prompt_tokens <= 600 - MOST_TOKENS  # type: ignore[attr-defined]
