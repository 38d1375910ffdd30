"""Drafts copied from the open document."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spark_lsp.decoding.drafters import document
from spark_lsp.decoding.drafters.document import MIN_MATCH, DocumentDrafter
from spark_lsp.decoding.drafters.draft import DraftContext
from spark_lsp.decoding.drafters.suffix_automaton import SuffixAutomaton

PARTS = st.lists(st.integers(0, 4), max_size=25).map(tuple)


def drafter_at(above: list[int], tail: list[int], below: list[int]) -> DocumentDrafter:
    drafter = DocumentDrafter()
    drafter.start(DraftContext(tuple(above), tuple(tail), tuple(below)))
    return drafter


def tokens(drafter: DocumentDrafter, limit: int = 4) -> tuple[int, ...] | None:
    draft = drafter.propose(limit)
    return None if draft is None else draft.tokens


def test_it_continues_what_stands_above() -> None:
    assert tokens(drafter_at([1, 2, 3, 4, 5, 6], [1, 2], [])) == (3, 4, 5, 6)


def test_a_single_token_in_common_is_no_match() -> None:
    assert MIN_MATCH == 2
    assert tokens(drafter_at([1, 2, 3], [9, 2], [])) is None


def test_the_longest_match_wins_and_then_the_latest() -> None:
    assert tokens(drafter_at([0, 1, 2, 5, 9, 1, 2, 6], [0, 1, 2], []), 1) == (5,)
    assert tokens(drafter_at([1, 2, 5, 9, 1, 2, 6, 8], [1, 2], []), 1) == (6,)


def test_it_finds_what_it_wrote_itself() -> None:
    drafter = drafter_at([9], [8], [])
    drafter.append([1, 2, 3, 1, 2])
    assert tokens(drafter, 1) == (3,)


def test_a_period_goes_on() -> None:
    assert tokens(drafter_at([], [0, 1, 2, 1, 2, 1, 2], []), 7) == (1, 2, 1, 2, 1, 2, 1)


def test_it_continues_what_stands_below_only_with_a_longer_match() -> None:
    assert tokens(drafter_at([1, 2, 5, 6], [0, 1, 2], [0, 1, 2, 7, 8]), 2) == (7, 8)
    assert tokens(drafter_at([1, 2, 5, 6], [9, 1, 2], [1, 2, 7, 8]), 2) == (5, 6)


def test_below_the_place_nearest_to_the_cursor_wins() -> None:
    assert tokens(drafter_at([], [1, 2], [5, 1, 2, 3, 1, 2, 4]), 1) == (3,)


def test_nothing_is_copied_across_the_cursor() -> None:
    # 3 | 4 is a neighbourhood of the cursor, not of the text.
    drafter = drafter_at([], [1, 3], [4, 5])
    drafter.append([9, 1, 3])
    assert tokens(drafter, 1) == (9,)


def test_places_that_disagree_have_no_support() -> None:
    cases = {(1, 2, 3): 1, (1, 2, 3, 1, 2, 3): 2, (1, 2, 3, 1, 2, 4): 0, (1, 2, 3) * 5: 2}
    for above, support in cases.items():
        draft = drafter_at([0, *above, 0], [9, 1, 2], []).propose(4)
        assert draft is not None
        assert draft.support == support, above


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(PARTS, PARTS, PARTS, st.lists(st.integers(0, 4), max_size=6)), min_size=2, max_size=4))
def test_a_drafter_that_was_used_before_proposes_what_a_new_one_does(
    generations: list[tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...], list[int]]],
) -> None:
    used = DocumentDrafter()
    for above, tail, below, output in generations:
        context = DraftContext(above, tail, below)
        new = DocumentDrafter()
        for drafter in (used, new):
            drafter.start(context)
            drafter.append(output)
        assert used.propose(6) == new.propose(6)


def test_what_stays_of_the_document_is_not_indexed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = random.Random(3)
    text = [generator.randint(0, 50) for _ in range(2000)]
    drafter = drafter_at(text[:1500], text[1500:], [1, 2, 3])
    drafter.append(list(range(100)))
    appended: list[int] = []
    original = SuffixAutomaton.append

    def append(self: SuffixAutomaton, token: int) -> None:
        appended.append(token)
        original(self, token)

    monkeypatch.setattr(SuffixAutomaton, "append", append)
    drafter.start(DraftContext(tuple(text[:1500]), (*text[1500:-1], 77, 78), (1, 2, 3)))
    assert appended == [77, 78]


def test_the_index_is_bounded_and_a_growing_document_is_still_only_extended(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = random.Random(4)
    text = tuple(generator.randint(0, 500) for _ in range(3 * document.MAX_TOKENS))
    drafter = DocumentDrafter()
    drafter.start(DraftContext(text[:-8], (), text))
    built = drafter._text
    drafter.start(DraftContext(text[:-4], (), text))
    assert drafter._text is built
    for begin in range(0, 4000, 50):
        drafter.append([generator.randint(0, 500) for _ in range(50)])
        assert len(drafter._text.tokens) <= document.MAX_TOKENS, begin
    assert len(drafter._below.tokens) <= document.MAX_TOKENS
