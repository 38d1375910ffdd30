"""The automaton answers as a search through the whole text does."""

from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from spark_lsp.decoding.drafters.suffix_automaton import JOURNAL_TOKENS, RECENCY_STEPS, SuffixAutomaton

TEXTS = st.one_of(
    st.lists(st.integers(0, 1), max_size=RECENCY_STEPS - 4),
    st.lists(st.integers(0, 3), max_size=RECENCY_STEPS - 4),
    st.builds(lambda piece, times: (piece * times)[:60], st.lists(st.integers(0, 5), min_size=1), st.integers(1, 20)),
)


def places(text: list[int], wanted: list[int]) -> list[int]:
    """Where the text goes on after an occurrence of `wanted` that is not its end."""
    size = len(wanted)
    return [end for end in range(size, len(text)) if text[end - size : end] == wanted]


def longest_suffix(text: list[int]) -> tuple[int, list[int]]:
    for size in range(len(text) - 1, 0, -1):
        found = places(text, text[-size:])
        if found:
            return size, found
    return 0, []


def check(automaton: SuffixAutomaton, text: list[int]) -> None:
    assert automaton.tokens == text
    length, found = longest_suffix(text)
    assert automaton.match.length == length
    if length >= 2:
        assert automaton.match.position == found[-1]
        following = {text[place] for place in found}
        assert automaton.match.support == (len(found) if len(following) == 1 else 0)


@settings(max_examples=150, deadline=None)
@given(TEXTS)
def test_the_match_is_the_longest_suffix_that_ended_before_and_its_latest_place(text: list[int]) -> None:
    automaton = SuffixAutomaton()
    for count, token in enumerate(text, start=1):
        automaton.append(token)
        check(automaton, text[:count])


@settings(max_examples=150, deadline=None)
@given(TEXTS, st.data())
def test_tokens_taken_back_leave_no_trace(text: list[int], data: st.DataObject) -> None:
    automaton = SuffixAutomaton(text)
    held = list(text)
    for _ in range(3):
        length = data.draw(st.integers(0, len(held)))
        assert automaton.cut(length)
        del held[length:]
        check(automaton, held)
        for token in data.draw(st.lists(st.integers(0, 3), max_size=10)):
            held.append(token)
            automaton.append(token)
            if len(held) < RECENCY_STEPS:
                check(automaton, held)
    assert automaton.cut(0)
    assert (automaton._next, automaton._link, automaton._length, automaton._count) == ([{}], [-1], [0], [1])


def test_more_than_the_journal_holds_cannot_be_taken_back() -> None:
    text = list(range(JOURNAL_TOKENS + 10))
    automaton = SuffixAutomaton(text)
    assert not automaton.cut(9)
    assert automaton.tokens == text
    assert automaton.cut(10)
    assert automaton.tokens == text[:10]


@settings(max_examples=100, deadline=None)
@given(TEXTS, st.lists(st.integers(0, 3), max_size=20))
def test_a_reader_finds_the_longest_suffix_it_read_and_its_first_place(text: list[int], read: list[int]) -> None:
    automaton = SuffixAutomaton(text, recent=False)
    state = length = 0
    for count, token in enumerate(read, start=1):
        state, length = automaton.step(token, state, length)
        seen = read[:count]
        sizes = [n for n in range(1, count + 1) if any(text[e - n : e] == seen[-n:] for e in range(n, len(text) + 1))]
        assert length == max(sizes, default=0)
        if length:
            first = next(e for e in range(length, len(text) + 1) if text[e - length : e] == seen[-length:])
            assert automaton.match_of(state, length).position == first


def test_a_long_repetition_costs_no_more_than_other_text() -> None:
    automaton = SuffixAutomaton([1, 2, 3] * 1000)
    assert automaton.match.length == 2997
    assert max(len(undo.places) for undo in automaton._journal) <= RECENCY_STEPS


def test_there_are_at_most_two_states_for_each_token() -> None:
    generator = random.Random(1)
    automaton = SuffixAutomaton(generator.randint(0, 3) for _ in range(2000))
    assert len(automaton._length) <= 2 * 2000
