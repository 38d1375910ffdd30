"""Type-through: what is typed of a suggestion is taken off it, and anything else is a miss."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spark_lsp.cache import CachedCompletion, CompletionCache

BEFORE, AFTER = "a = 1\nb = ", "\nc = 3\n"


@pytest.fixture
def cache() -> CompletionCache:
    cache = CompletionCache()
    cache.put("doc", BEFORE + AFTER, len(BEFORE), "func(x)\n    y")
    return cache


def ask(
    cache: CompletionCache, typed: str, before: str = BEFORE, after: str = AFTER, *, invoked: bool = False
) -> CachedCompletion | None:
    return cache.get("doc", before + typed + after, len(before + typed), invoked=invoked)


def test_the_same_place_gives_the_same_text(cache: CompletionCache) -> None:
    assert ask(cache, "") == CachedCompletion("func(x)\n    y", 0)


@pytest.mark.parametrize(("typed", "rest"), [("f", "unc(x)\n    y"), ("func(x)", "\n    y"), ("func(x)\n  ", "  y")])
def test_typing_into_it_gives_the_rest(cache: CompletionCache, typed: str, rest: str) -> None:
    found = ask(cache, typed)
    assert found is not None
    assert (found.text, found.typed) == (rest, len(typed))


def test_enter_typed_as_cr_lf_counts_as_enter(cache: CompletionCache) -> None:
    found = ask(cache, "func(x)\r\n    ")
    assert found is not None
    assert found.text == "y"


@pytest.mark.parametrize("typed", ["g", "func(y", "func(x)\n    y"])
def test_anything_else_and_the_whole_of_it_are_misses(cache: CompletionCache, typed: str) -> None:
    assert ask(cache, typed) is None


def test_another_text_around_is_a_miss(cache: CompletionCache) -> None:
    assert ask(cache, "", before="a = 2\nb = ") is None
    assert ask(cache, "", after="\nc = 4\n") is None
    assert ask(cache, "", after=AFTER + "more") is None
    assert cache.get("other", BEFORE + AFTER, len(BEFORE)) is None


def test_a_cursor_before_the_place_is_a_miss(cache: CompletionCache) -> None:
    assert cache.get("doc", BEFORE + AFTER, 2) is None


def test_the_newest_of_several_that_fit_wins(cache: CompletionCache) -> None:
    cache.put("doc", BEFORE + "f" + AFTER, len(BEFORE) + 1, "oo()")
    found = ask(cache, "fo")
    assert found is not None
    assert found.text == "o()"
    # Typing on into the older one still finds it.
    other = ask(cache, "fu")
    assert other is not None
    assert other.text == "nc(x)\n    y"


def test_it_is_bounded_and_forgets_closed_documents() -> None:
    cache = CompletionCache(capacity=3)
    for offset in range(5):
        cache.put("doc", "xxxxxxxx", offset, "y")
    assert len(cache) == 3
    cache.forget("doc")
    assert len(cache) == 0


def test_what_is_withheld_is_there_for_who_asks_by_hand() -> None:
    cache = CompletionCache()
    cache.put("doc", BEFORE + AFTER, len(BEFORE), "", "func(x)")
    assert ask(cache, "") == CachedCompletion("", 0)
    assert ask(cache, "f") is None
    assert ask(cache, "", invoked=True) == CachedCompletion("func(x)", 0)
    assert ask(cache, "fu", invoked=True) == CachedCompletion("nc(x)", 2)


def test_a_text_of_which_a_part_is_withheld_has_an_end_for_each() -> None:
    cache = CompletionCache()
    cache.put("doc", BEFORE + AFTER, len(BEFORE), "func(x)", "func(x)\n    y")
    assert ask(cache, "func") == CachedCompletion("(x)", 4)
    assert ask(cache, "func", invoked=True) == CachedCompletion("(x)\n    y", 4)
    assert ask(cache, "func(x)") is None


def test_a_text_that_was_shown_by_hand_stays_while_it_is_typed(cache: CompletionCache) -> None:
    cache.put("doc", BEFORE + AFTER, len(BEFORE), "", "func(x)")
    cache.put("doc", BEFORE + AFTER, len(BEFORE), "func(x)", "func(x)")
    assert ask(cache, "fun") == CachedCompletion("c(x)", 3)


def test_a_withheld_text_does_not_hide_one_that_is_being_typed(cache: CompletionCache) -> None:
    cache.put("doc", BEFORE + "fun" + AFTER, len(BEFORE) + 3, "", "ny")
    assert ask(cache, "fun") == CachedCompletion("c(x)\n    y", 3)


LINES = "".join(f"line_{number} = {number}\n" for number in range(60))


@pytest.mark.parametrize(
    ("above", "below", "hit"),
    [
        ("import os\n" + LINES, LINES, True),
        (LINES[len("line_0 = 0\n") :], LINES, True),
        (LINES, LINES + "more\n", True),
        (LINES + "new\n", LINES, False),
        (LINES.replace("line_50", "renamed"), LINES, False),
        (LINES, "new\n" + LINES, False),
        (LINES, LINES.replace("line_4", "renamed"), False),
        (LINES.replace("line_9 ", "renamed "), LINES.replace("line_40", "renamed"), True),
        (LINES.replace("\n", "\r\n"), LINES.replace("\n", "\r\n"), True),
    ],
    ids=["import", "gone", "end", "line above", "near above", "line below", "near below", "elsewhere", "CR LF"],
)
def test_only_edits_near_the_cursor_make_it_a_miss(above: str, below: str, hit: bool) -> None:
    cache = CompletionCache()
    cache.put("doc", LINES + "b = \n" + LINES, len(LINES) + 4, "func(x)")
    found = cache.get("doc", above + "b = fu\n" + below, len(above) + 6)
    assert found == (CachedCompletion("nc(x)", 2) if hit else None)


def test_the_first_line_of_a_document_is_not_another_line_like_it() -> None:
    cache = CompletionCache()
    cache.put("doc", "b = ", 4, "func(x)")
    assert cache.get("doc", "a\nb = ", 6) is None
    assert cache.get("doc", "b = \n", 4) is None


ADDED = [
    ("an opened bracket", "func(x)", "func(", ")", "x"),
    ("a bracket in a bracket", "f(g(x))", "f(g(", "))", "x"),
    ("the bracket that closes the line is not the one that was opened", "f(x), g(y)", "f(", ")", "x), g(y"),
    ("a bracket and the lines below it", "func(x)\n    y", "func(", ")", "x"),
    ("a bracket over several lines", "f(\n    x,\n)", "f(", ")", "\n    x,\n"),
    ("Enter between braces", "f {\n    x\n}", "f {\n    ", "\n}", "x"),
    ("a quote", "f('x')", "f('", "')", "x"),
    ("a bracket that the suggestion does not close", "f(x, y", "f(", ")", None),
    ("a bracket that closes something else", "f[x]", "f[", ")", None),
    ("nothing left but the bracket", "f()", "f(", ")", None),
    ("code", "f(x)", "f(", "x)", None),
]


@pytest.mark.parametrize(("name", "suggestion", "typed", "added", "rest"), ADDED, ids=[case[0] for case in ADDED])
def test_closers_that_the_editor_put_behind_the_cursor(
    name: str, suggestion: str, typed: str, added: str, rest: str | None
) -> None:
    cache = CompletionCache()
    cache.put("doc", BEFORE + AFTER, len(BEFORE), suggestion)
    found = ask(cache, typed, after=added + AFTER)
    assert (found.text if found is not None else None) == rest


@pytest.mark.parametrize(
    ("typed", "rest"),
    [
        ("a\n", "\n    b\n    c"),
        ("a\n    ", "\n    b\n    c"),
        ("a\n    \n    ", "b\n    c"),
        ("a\n\n    b\n        ", None),
        ("a\n\n    b\n", "    c"),
        ("a\n\t\n  ", "  b\n    c"),
    ],
)
def test_indentation_that_the_editor_adds_after_enter(typed: str, rest: str | None) -> None:
    cache = CompletionCache()
    cache.put("doc", BEFORE + AFTER, len(BEFORE), "a\n\n    b\n    c")
    found = ask(cache, typed)
    assert (found.text if found is not None else None) == rest


CODE = st.text(alphabet="ab (){}\n", max_size=24)


def without_blanks(text: str) -> list[str]:
    return [line if line.strip() else "" for line in text.split("\n")]


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_a_hit_makes_the_document_hold_the_suggestion_or_its_first_line(data: st.DataObject) -> None:
    around = data.draw(st.sampled_from(["", LINES]))
    before, after = around + data.draw(CODE), data.draw(CODE) + around
    suggestion = data.draw(CODE)
    cache = CompletionCache()
    cache.put("doc", before + after, len(before), suggestion)
    count = data.draw(st.integers(0, len(suggestion)))
    typed = suggestion[:count] + data.draw(st.sampled_from(["", "", "a", "\n", "    "]))
    added = data.draw(st.sampled_from(["", "", ")", "}", "\n}", "))"]))
    moved = data.draw(st.sampled_from(["", "", "import a\n"])) + before
    found = cache.get("doc", moved + typed + added + after, len(moved + typed))
    if found is None or not found.text:
        return
    shown = without_blanks(moved + typed + found.text + added + after)
    wholes = {suggestion, suggestion.partition("\n")[0]} if added else {suggestion}
    assert any(shown == without_blanks(moved + whole + after) for whole in wholes)


@settings(max_examples=100, deadline=None)
@given(CODE, CODE, st.text(alphabet="ab(\n", min_size=1, max_size=24))
def test_typing_the_whole_suggestion_and_taking_it_back_is_a_hit_at_each_key(
    before: str, after: str, suggestion: str
) -> None:
    before, after = LINES + before, after + LINES
    cache = CompletionCache()
    cache.put("doc", before + after, len(before), suggestion)
    for count in [*range(len(suggestion)), *range(len(suggestion) - 1, -1, -1)]:
        found = cache.get("doc", before + suggestion[:count] + after, len(before) + count)
        assert found == CachedCompletion(suggestion[count:], count)
