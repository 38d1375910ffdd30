"""Drafts from the text that stood at the cursor before."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spark_lsp.decoding.drafters.draft import DraftContext
from spark_lsp.decoding.drafters.previous import MAX_TOKENS, MIN_EVIDENCE, SEARCHED, PreviousDrafter

OLD = tuple(range(10, 30))


def after(output: list[int], old: tuple[int, ...] = OLD, limit: int = 3) -> tuple[int, ...] | None:
    drafter = PreviousDrafter()
    drafter.start(DraftContext((), (), (), previous=old))
    drafter.append(output)
    draft = drafter.propose(limit)
    return None if draft is None else draft.tokens


@pytest.mark.parametrize(
    ("case", "output", "expected"),
    [
        ("nothing written", [], (10, 11, 12)),
        ("as it was", [10, 11], (12, 13, 14)),
        ("one token replaced", [10, 1, 12, 13], (14, 15, 16)),
        ("one token replaced by three", [10, 1, 2, 3, 12, 13], (14, 15, 16)),
        ("tokens inserted", [10, 11, 1, 2, 12, 13], (14, 15, 16)),
        ("tokens dropped", [10, 11, 16, 17], (18, 19, 20)),
        ("a passage written twice", [10, 11, 12, 13, 10, 11], (12, 13, 14)),
        ("replaced at once", [1, 11, 12], (13, 14, 15)),
        ("departed", [10, 1], None),
        ("one token that agrees is not enough", [10, 1, 14], None),
        ("all written", list(OLD), None),
        ("beyond its end", [*OLD, 1, 2], None),
    ],
)
def test_the_rest_of_the_old_text_is_proposed(case: str, output: list[int], expected: tuple[int, ...] | None) -> None:
    assert after(output) == expected


def test_without_an_old_text_nothing_is_proposed() -> None:
    assert after([], old=()) is None
    assert after([1, 2, 3], old=()) is None


def test_most_tokens_that_agree_win_and_then_the_nearest_place() -> None:
    old = (1, 2, 3, 4, 9, 5, 6, 70, 9, 5, 6, 71, 8, 9, 5, 6, 72)
    assert after([1, 2, 0, 5, 6], old, 1) == (70,)
    assert after([1, 2, 0, 8, 9, 5, 6], old, 1) == (72,)
    behind_and_ahead = (5, 6, 70, 1, 2, 3, 4, 5, 6, 71)
    assert after([5, 6, 70, 1, 2, 0, 5, 6], behind_and_ahead, 1) == (71,)


def test_the_search_is_bounded() -> None:
    far = tuple(range(100, 100 + 2 * SEARCHED))
    assert after([100, 1, far[SEARCHED - 5], far[SEARCHED - 4]], far) is not None
    assert after([100, 1, far[SEARCHED + 50], far[SEARCHED + 51]], far) is None
    drafter = PreviousDrafter()
    drafter.start(DraftContext((), (), (), previous=tuple(range(3 * MAX_TOKENS))))
    assert len(drafter._old) == MAX_TOKENS


@settings(max_examples=150, deadline=None)
@given(st.lists(st.integers(100, 999), min_size=30, max_size=60, unique=True), st.data())
def test_after_any_edit_it_drafts_again_as_soon_as_two_tokens_are_as_before(
    old: list[int], data: st.DataObject
) -> None:
    begin = data.draw(st.integers(0, 20))
    end = data.draw(st.integers(begin, 24))
    written = data.draw(st.lists(st.integers(0, 99), max_size=20))
    new = old[:begin] + written + old[end:]
    drafter = PreviousDrafter()
    drafter.start(DraftContext((), (), (), previous=tuple(old)))
    for index, token in enumerate(new):
        draft = drafter.propose(5)
        rejoined = index >= begin + len(written) + MIN_EVIDENCE
        if index < begin or rejoined:
            expected = (old if index < begin else new)[index : index + 5]
            assert draft is not None and draft.tokens == tuple(expected)
        drafter.append([token])


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(0, 3), max_size=40), st.lists(st.integers(0, 3), max_size=40), st.integers(1, 8))
def test_a_draft_is_always_a_passage_of_the_old_text_after_tokens_that_agree(
    old: list[int], output: list[int], limit: int
) -> None:
    drafter = PreviousDrafter()
    drafter.start(DraftContext((), (), (), previous=tuple(old)))
    for count, token in enumerate(output, start=1):
        drafter.append([token])
        draft = drafter.propose(limit)
        if draft is None or draft.match_length > count:  # still at the place where it began
            continue
        assert 1 <= len(draft) <= limit
        evidence = output[count - MIN_EVIDENCE : count]
        assert any(
            old[place - MIN_EVIDENCE : place] == evidence and tuple(old[place : place + limit]) == draft.tokens
            for place in range(MIN_EVIDENCE, len(old))
        )
