"""The chain: which draft is sent, what is learned from it, and when a source is left alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spark_lsp.decoding.cost_model import CostModel, default_cost_model
from spark_lsp.decoding.drafters import (
    DocumentDrafter,
    Draft,
    DraftChain,
    DraftContext,
    NgramDrafter,
    NgramIndex,
    PreviousDrafter,
    SourceCounts,
)
from spark_lsp.decoding.drafters.boundary import BOUNDARY_TOKENS, MIN_BOUNDARY_TOKENS
from spark_lsp.decoding.drafters.chain import PROBE_STEPS, UNSENT_TOKENS

NOWHERE = DraftContext((), (), ())
CHEAP = CostModel({1: 1.0, 2: 1.01, 4: 1.02, 8: 1.03, 32: 1.04}, 100.0)


class Fixed:
    """Always proposes the same, as sure of it as it says."""

    def __init__(self, name: str, tokens: Sequence[int], confidence: float) -> None:
        self.name = name
        self.tokens = tuple(tokens)
        self.confidence = confidence
        self.asked = 0
        self.observed: list[tuple[int, int]] = []
        self.appended: list[int] = []

    def start(self, context: DraftContext) -> None:
        self.appended.clear()

    def append(self, tokens: Sequence[int]) -> None:
        self.appended += tokens

    def propose(self, limit: int, pending: int = 1) -> Draft | None:
        self.asked += 1
        tokens = self.tokens[:limit]
        return Draft(tokens, (self.confidence,) * len(tokens), self.name, 9) if tokens else None

    def observe(self, draft: Draft, accepted: int) -> None:
        self.observed.append((len(draft), accepted))


def step(chain: DraftChain, written: Sequence[int], limit: int = 31) -> Draft | None:
    """One step of an engine whose model goes on with `written`."""
    draft = chain.propose(limit)
    accepted = 0
    if draft is not None:
        while accepted < len(draft) and draft.tokens[accepted] == written[accepted]:
            accepted += 1
        chain.observe(draft, accepted)
    chain.append(written[: accepted + 1])
    return draft


def test_the_draft_that_promises_most_is_sent() -> None:
    sure, doubtful, short = Fixed("sure", [1] * 20, 0.95), Fixed("doubtful", [2] * 20, 0.6), Fixed("short", [3], 1.0)
    chain = DraftChain([doubtful, short, sure], default_cost_model())
    draft = chain.propose(31)
    assert draft is not None and draft.source == "sure"


def test_the_draft_is_cut_to_the_length_that_pays() -> None:
    chain = DraftChain([Fixed("a", [1] * 31, 0.8)], default_cost_model())
    draft = chain.propose(31)
    assert draft is not None and len(draft) == 3
    draft = chain.propose(2)
    assert draft is None, "two tokens pay at no width"


def test_nothing_is_sent_when_nothing_pays() -> None:
    assert DraftChain([Fixed("a", [1] * 31, 0.4)], default_cost_model()).propose(31) is None
    assert DraftChain([Fixed("a", [], 1.0)], default_cost_model()).propose(31) is None
    assert DraftChain([], default_cost_model()).propose(31) is None


def test_counts_are_kept_by_source() -> None:
    chain = DraftChain([Fixed("good", [1] * 7, 0.99), Fixed("idle", [], 0.0)], CHEAP)
    chain.start(NOWHERE)
    step(chain, [1] * 8)
    step(chain, [1, 1, 5])
    assert chain.counts() == {"good": SourceCounts(drafts=2, drafted=14, accepted=9), "idle": SourceCounts()}


def test_every_source_sees_everything_that_is_written() -> None:
    sources = [Fixed("a", [1] * 7, 0.99), Fixed("b", [2] * 7, 0.5)]
    chain = DraftChain(sources, CHEAP)
    chain.start(NOWHERE)
    step(chain, [1, 1, 5])
    step(chain, [7])
    assert [source.appended for source in sources] == [[1, 1, 5, 7]] * 2


def test_a_draft_that_was_not_sent_teaches_as_well() -> None:
    cases: list[tuple[list[int], tuple[int, int]]] = [
        ([5], (20, 0)),  # wrong at once
        ([1, 1, 5], (20, 2)),  # right for two tokens, over three steps
        ([1] * UNSENT_TOKENS, (UNSENT_TOKENS, UNSENT_TOKENS)),  # right as far as it is compared
    ]
    for written, observed in cases:
        source = Fixed("doubtful", [1] * 20, 0.01)
        chain = DraftChain([source], default_cost_model())
        chain.start(NOWHERE)
        for token in written:
            assert step(chain, [token]) is None
        assert source.observed == [observed]


def test_a_draft_that_was_sent_is_counted_once() -> None:
    source = Fixed("a", [1] * 7, 0.99)
    chain = DraftChain([source], CHEAP)
    chain.start(NOWHERE)
    step(chain, [1] * 8)
    step(chain, [1, 1, 5])
    assert source.observed == [(7, 7), (7, 2)]


def test_a_source_whose_drafts_fail_is_switched_off_and_tried_again_later() -> None:
    liar, honest = Fixed("liar", [1] * 31, 0.99), Fixed("honest", [2] * 31, 0.9)
    chain = DraftChain([liar, honest], default_cost_model())
    chain.start(NOWHERE)
    steps = 0
    while "liar" not in chain.switched_off():
        step(chain, [2] * 32)
        steps += 1
        assert steps < 10
    asked = liar.asked
    for _ in range(PROBE_STEPS - 1):
        draft = step(chain, [2] * 32)
        assert draft is not None and draft.source == "honest"
    assert liar.asked == asked
    draft = step(chain, [2] * 32)
    assert draft is not None and draft.source == "liar", "the probe"
    assert "liar" in chain.switched_off(), "one failure is enough now"
    assert liar.asked == asked + 1


def test_a_source_that_got_better_comes_back() -> None:
    source = Fixed("moody", [1] * 31, 0.99)
    chain = DraftChain([source], default_cost_model())
    chain.start(NOWHERE)
    while "moody" not in chain.switched_off():
        step(chain, [2] * 32)
    for _ in range(PROBE_STEPS - 1):
        assert step(chain, [1] * 32) is None
    for _ in range(5):
        assert step(chain, [1] * 32) is not None
    assert not chain.switched_off()


def test_a_source_that_failed_for_long_comes_back_after_one_good_draft() -> None:
    source = Fixed("moody", [1] * 31, 0.99)
    chain = DraftChain([source], default_cost_model())
    chain.start(NOWHERE)
    for _ in range(10 * PROBE_STEPS):
        step(chain, [2] * 32)
    assert chain.counts()["moody"].drafts < 20
    while step(chain, [1] * 32) is None:
        pass
    assert not chain.switched_off()


def test_a_failure_after_many_gains_does_not_switch_off() -> None:
    chain = DraftChain([Fixed("good", [1] * 31, 0.99)], default_cost_model())
    chain.start(NOWHERE)
    for _ in range(20):
        step(chain, [1] * 32)
    step(chain, [2] * 32)
    assert not chain.switched_off()


def test_beside_a_prompt_the_rows_of_the_draft_are_weighed_alone() -> None:
    chain = DraftChain([Fixed("a", [1] * 31, 0.9)], default_cost_model())
    alone, beside = chain.propose(31), chain.propose(31, pending=8)
    assert alone is not None and len(alone) + 1 in default_cost_model().widths
    assert beside is not None and len(beside) + 8 in default_cost_model().widths


class Timed(Fixed):
    """Takes `seconds` for each draft, whether it finds tokens or not."""

    seconds = 0.5

    def propose(self, limit: int, pending: int = 1) -> Draft | None:
        draft = super().propose(limit) or Draft((), (), self.name, 0)
        return replace(draft, seconds=self.seconds)


def test_a_draft_that_takes_time_is_made_only_where_no_other_pays() -> None:
    copied, model = Fixed("copied", [1] * 31, 0.9), Timed("model", [2] * 31, 0.9)
    chain = DraftChain([copied], CHEAP, last=model)
    draft = chain.propose(31)
    assert draft is not None and draft.source == "copied"
    assert model.asked == 0
    copied.confidence = 0.001
    draft = chain.propose(31)
    assert draft is not None and draft.source == "model"
    assert draft.seconds == model.seconds


def test_a_draft_that_takes_time_is_told_everything() -> None:
    model = Timed("model", [1] * 7, 0.99)
    chain = DraftChain([], CHEAP, last=model)
    chain.start(NOWHERE)
    step(chain, [1, 1, 5])
    assert (model.observed, model.appended) == ([(7, 2)], [1, 1, 5])
    assert chain.counts() == {"model": SourceCounts(drafts=1, drafted=7, accepted=2)}


@pytest.mark.parametrize(
    ("case", "seconds", "tokens", "confidence", "written", "off"),
    [
        ("its drafts save more than they take", 0.5, 3, 0.9, [1] * 4, False),
        ("they save less", 3.5, 3, 0.9, [1] * 4, True),
        ("they are never sent, which loses the time", 0.5, 3, 0.001, [1] * 4, True),
        ("they are never sent, but take none", 0.0, 3, 0.001, [1] * 4, False),
        ("it has nothing to say, which takes time too", 0.5, 0, 0.9, [1] * 4, True),
    ],
)
def test_time_counts_against_a_source(
    case: str, seconds: float, tokens: int, confidence: float, written: list[int], off: bool
) -> None:
    model = Timed("model", [1] * tokens, confidence)
    model.seconds = seconds
    chain = DraftChain([], CHEAP, last=model)
    chain.start(NOWHERE)
    for _ in range(60):
        step(chain, written)
    assert ("model" in chain.switched_off()) == off


def test_a_draft_that_takes_time_ends_where_the_text_below_begins() -> None:
    model = Timed("model", [1, 2, 7, 8, 9], 0.99)
    chain = DraftChain([], CHEAP, last=model)
    chain.start(DraftContext((), (), (7, 8, 9), end_token=END))
    draft = chain.propose(31)
    assert draft is not None and draft.tokens == (1, 2, END)
    model.tokens = (7, 8, 9)
    chain.start(DraftContext((), (), (7, 8, 9)))
    assert chain.propose(31) is None


def test_two_sources_of_the_same_name_are_refused() -> None:
    with pytest.raises(ValueError, match="same name"):
        DraftChain([Fixed("a", [], 0.0)], CHEAP, last=Fixed("a", [], 0.0))
    with pytest.raises(ValueError, match="same name"):
        DraftChain([Fixed("a", [], 0.0), Fixed("a", [], 0.0)], CHEAP)


def runs_past(text: tuple[int, ...], mark: tuple[int, ...]) -> bool:
    return any(text[at : at + len(mark)] == mark for at in range(len(text) - len(mark) + 1))


PART = st.lists(st.integers(0, 3), max_size=20).map(tuple)
END = 9


@settings(max_examples=200, deadline=None)
@given(PART, PART, PART, PART, PART, st.sampled_from([None, END]))
def test_no_draft_of_any_source_runs_past_the_text_after_the_cursor(
    above: tuple[int, ...],
    tail: tuple[int, ...],
    below: tuple[int, ...],
    previous: tuple[int, ...],
    output: tuple[int, ...],
    end_token: int | None,
) -> None:
    index = NgramIndex(256)
    index.learn(above + tail + below)
    mark = below[:BOUNDARY_TOKENS]
    for source in (PreviousDrafter(), DocumentDrafter(), NgramDrafter("accepted", index)):
        chain = DraftChain([source], CHEAP)
        chain.start(DraftContext(above, tail, below, previous, end_token))
        for count, token in enumerate(output):
            draft = chain.propose(8)
            if draft is not None:
                assert 1 <= len(draft) <= 8
                # The mark may begin in the output.
                text = output[max(0, count - len(mark) + 1) : count] + draft.tokens
                assert len(mark) < MIN_BOUNDARY_TOKENS or not runs_past(text, mark)
                assert END not in draft.tokens[:-1]
            chain.append([token])


def test_the_end_is_proposed_where_a_copied_passage_reaches_the_text_below() -> None:
    above = (1, 2, 3, 4, 50, 51, 52, 53)
    chain = DraftChain([DocumentDrafter()], CHEAP)
    chain.start(DraftContext(above, (0, 1, 2), (50, 51, 52), end_token=END))
    draft = chain.propose(31)
    assert draft is not None and draft.tokens == (3, 4, END)
