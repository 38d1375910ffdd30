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


def ask(cache: CompletionCache, typed: str, before: str = BEFORE, after: str = AFTER) -> CachedCompletion | None:
    return cache.get("doc", before + typed + after, len(before + typed))


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
