"""Drafts from other texts, in fixed memory."""

from __future__ import annotations

import random
import sys
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spark_lsp.decoding.drafters.draft import Draft, DraftContext
from spark_lsp.decoding.drafters.ngrams import (
    COMPARED,
    LONGEST,
    MOST_VOTES,
    PENDING_CHARACTERS,
    PIECE_CHARACTERS,
    WORKSPACE_TOKENS,
    NgramDrafter,
    NgramIndex,
    TextBacklog,
    next_hashes,
)


def index_of(*texts: list[int], capacity: int = 256) -> NgramIndex:
    index = NgramIndex(capacity)
    for text in texts:
        index.learn(text)
    return index


def after(index: NgramIndex, tokens: list[int], limit: int = 4) -> Draft | None:
    drafter = NgramDrafter("accepted", index)
    drafter.start(DraftContext((), tuple(tokens[:2]), ()))
    drafter.append(tokens[2:])
    return drafter.propose(limit)


def tokens_after(index: NgramIndex, tokens: list[int], limit: int = 4) -> tuple[int, ...] | None:
    draft = after(index, tokens, limit)
    return None if draft is None else draft.tokens


def test_it_continues_as_a_learned_text_did_up_to_its_end() -> None:
    index = index_of([1, 2, 3, 4, 5], [6, 7])
    assert tokens_after(index, [1, 2], 2) == (3, 4)
    assert tokens_after(index, [9, 9, 2, 3]) == (4, 5)
    assert tokens_after(index, [4, 5]) is None
    assert tokens_after(index, [9, 3]) is None


def test_the_longest_match_wins() -> None:
    index = index_of([7, 1, 2, 3, 50], [8, 1, 2, 3, 60], [9, 2, 3, 70])
    assert tokens_after(index, [7, 1, 2, 3]) == (50,)
    assert tokens_after(index, [8, 1, 2, 3]) == (60,)
    draft = after(index, [7, 1, 2, 3])
    assert draft is not None and draft.match_length == 4


def test_matches_longer_than_the_longest_n_gram_are_told_apart_by_their_length() -> None:
    text = list(range(100, 130))
    draft = after(index_of(text), text[: LONGEST + 4])
    assert draft is not None
    assert (draft.match_length, draft.tokens[0]) == (LONGEST + 4, text[LONGEST + 4])
    draft = after(index_of(text), text[:25])
    assert draft is not None and draft.match_length == COMPARED


def test_a_frequent_continuation_stays_and_an_outdated_one_goes() -> None:
    index = index_of(*[[1, 2, 3]] * 3, [1, 2, 4])
    assert tokens_after(index, [1, 2]) == (3,)
    for _ in range(MOST_VOTES):
        index.learn([1, 2, 4])
    assert tokens_after(index, [1, 2]) == (4,)


@pytest.mark.parametrize(
    ("case", "texts", "support"),
    [
        ("seen once", [[1, 2, 3]], 1),
        ("seen twice", [[1, 2, 3], [1, 2, 3]], 2),
        ("places disagree", [[1, 2, 3], [1, 2, 4]], 0),
        ("two against one", [[1, 2, 3], [1, 2, 3], [1, 2, 4]], 1),
    ],
)
def test_support_tells_whether_places_agree(case: str, texts: list[list[int]], support: int) -> None:
    draft = after(index_of(*texts), [1, 2])
    assert draft is not None and draft.support == support


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.lists(st.integers(0, 5), max_size=40), min_size=1, max_size=6),
    st.lists(st.integers(0, 5), min_size=2, max_size=12),
)
def test_every_draft_followed_its_match_in_some_text_even_after_the_ring_went_round(
    texts: list[list[int]], recent: list[int]
) -> None:
    index = index_of(*texts, capacity=32)
    draft = after(index, recent, 5)
    if draft is None:
        return
    passage = recent[-draft.match_length :] + list(draft.tokens)
    assert len(passage) == draft.match_length + len(draft)
    assert any(text[at : at + len(passage)] == passage for text in texts for at in range(len(text)))


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(0, 10**5), min_size=3, max_size=200, unique=True), st.data())
def test_in_a_text_without_repetition_any_two_tokens_find_their_place(text: list[int], data: st.DataObject) -> None:
    at = data.draw(st.integers(2, len(text) - 1))
    index = index_of(text, capacity=65_536)
    found = tokens_after(index, text[at - 2 : at], 5)
    later = {slot_of(pair) for pair in pairwise(text[at - 1 : -1])}
    # A later pair takes the slot of an earlier one: that costs a draft, and never gives a wrong one.
    assert found == tuple(text[at : at + 5]) or (found is None and slot_of(text[at - 2 : at]) in later)


def slot_of(pair: Sequence[int]) -> int:
    """Return where two tokens are looked up in an index of 65,536 tokens."""
    hashes = [0] * LONGEST
    for token in pair:
        hashes = next_hashes(hashes, token)
    return hashes[1] & 65_535


def test_the_memory_does_not_grow_with_what_is_learned() -> None:
    index = NgramIndex(1024)
    before = index.bytes
    for text in range(50):
        index.learn([(text * 7919 + number * 31) % 5000 for number in range(300)])
    assert index.bytes == before
    assert sum(map(sys.getsizeof, (index._ring, *index._places, *index._votes))) < 1.1 * before
    assert NgramIndex(WORKSPACE_TOKENS).bytes < 6_000_000


def test_the_oldest_text_goes_first_and_of_a_huge_one_the_end_stays() -> None:
    first = list(range(20))
    index = index_of(first, list(range(100, 1000)), capacity=1024)
    assert tokens_after(index, first[:10], 2) == (10, 11)
    index.learn(list(range(2000, 2150)))
    assert tokens_after(index, first[:10]) is None
    assert tokens_after(index, list(range(2100, 2110)), 2) == (2110, 2111)
    index.learn(list(range(5000, 9000)))
    assert tokens_after(index, list(range(8980, 8990)), 2) == (8990, 8991)
    assert tokens_after(index, list(range(5000, 5010))) is None


def test_the_newest_text_is_found_however_full_the_index_is() -> None:
    generator = random.Random(5)
    index = index_of(*[generator.sample(range(150_000), 120)] * 2)
    for _ in range(30):
        text = generator.sample(range(150_000), 3)
        index.learn(text)
        assert tokens_after(index, text[:2]) == (text[2],)


def test_texts_stay_apart_after_the_ring_went_round() -> None:
    texts = [[10 * number + digit for digit in range(6)] for number in range(40)]
    index = index_of(*texts, capacity=32)
    for text in texts[-3:]:
        assert tokens_after(index, text[:3], 8) == tuple(text[3:])


def test_texts_are_tokenised_in_pieces_and_only_when_asked() -> None:
    asked: list[str] = []

    def tokenize(text: str) -> list[int]:
        asked.append(text)
        return [ord(character) for character in text]

    index = NgramIndex(1 << 15)
    backlog = TextBacklog(index, tokenize)
    line = "value = compute(value)\n"
    backlog.add(line * 500)
    backlog.add("tiny\n")
    assert not asked
    while backlog.work():
        pass
    assert "".join(asked) == line * 500 + "tiny\n"
    assert all(piece.endswith("\n") and len(piece) <= PIECE_CHARACTERS for piece in asked)
    assert len(backlog) == 0 and not backlog.work()
    assert tokens_after(index, [ord(c) for c in "tin"], 1) == (ord("y"),)


def test_a_line_longer_than_a_piece_is_cut() -> None:
    pieces: list[str] = []
    backlog = TextBacklog(NgramIndex(16), lambda text: pieces.append(text) or [])  # type: ignore[func-returns-value]
    backlog.add("x" * (2 * PIECE_CHARACTERS + 5))
    while backlog.work():
        pass
    assert [len(piece) for piece in pieces] == [PIECE_CHARACTERS, PIECE_CHARACTERS, 5]


def test_the_backlog_is_bounded_and_drops_the_oldest() -> None:
    backlog = TextBacklog(NgramIndex(16), lambda text: [])
    for _ in range(5):
        backlog.add("y" * (PENDING_CHARACTERS // 2))
    assert len(backlog) <= PENDING_CHARACTERS
    backlog.add("z" * (2 * PENDING_CHARACTERS))
    assert len(backlog) == PENDING_CHARACTERS
