"""Type-through: what is typed of a suggestion is taken off it, and anything else is a miss."""

from __future__ import annotations

import pytest

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
