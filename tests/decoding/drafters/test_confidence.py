"""How the estimates follow what is observed."""

from __future__ import annotations

import pytest

from spark_lsp.decoding.drafters.confidence import (
    DECAY,
    DOCUMENT_PRIOR,
    MATCH_EDGES,
    MOST_TOKENS,
    OTHER_TEXT_PRIOR,
    PRIOR_WEIGHT,
    REWRITTEN_PRIOR,
    BetaCounter,
    Confidence,
    Prior,
)
from spark_lsp.decoding.drafters.draft import Draft

PRIORS = {"document": DOCUMENT_PRIOR, "other text": OTHER_TEXT_PRIOR, "rewritten": REWRITTEN_PRIOR}


def draft(length: int, match_length: int, support: int = 1) -> Draft:
    return Draft((1,) * length, (0.5,) * length, "test", match_length, support)


def test_a_counter_begins_with_its_prior_and_adds_what_it_sees() -> None:
    counter = BetaCounter(0.4)
    assert counter.mean == 0.4
    counter.observe(True)
    assert counter.mean == pytest.approx((0.4 * PRIOR_WEIGHT + 1) / (PRIOR_WEIGHT + 1))
    counter.observe(False)
    assert counter.mean == pytest.approx((0.4 * PRIOR_WEIGHT + DECAY) / (PRIOR_WEIGHT + DECAY + 1))


def test_old_behaviour_fades() -> None:
    counter = BetaCounter(0.5)
    for _ in range(1000):
        counter.observe(True)
    long_good = counter.mean
    for _ in range(60):
        counter.observe(False)
    assert long_good > 0.85
    assert counter.mean < 0.4, "sixty misses outweigh a thousand hits before them"


def test_an_estimate_never_becomes_certain() -> None:
    counter = BetaCounter(0.5)
    for _ in range(10_000):
        counter.observe(False)
    assert 0.05 < counter.mean < 0.2


@pytest.mark.parametrize("name", PRIORS)
def test_priors_rise_with_match_length_and_depth(name: str) -> None:
    prior = PRIORS[name]
    for row in [*prior.first, *prior.later, *zip(*prior.later, strict=True)]:
        assert all(0 < mean < 1 for mean in row)
        assert list(row) == sorted(row)
    confidence = Confidence(prior)
    assert confidence.estimate(2, 1, 5)[1:] == tuple([prior.later[0][0]] * 2 + [prior.later[0][1]] * 2)


def test_estimates_have_one_number_for_each_token_for_every_match_length() -> None:
    confidence = Confidence(DOCUMENT_PRIOR)
    for match_length in (0, 1, 2, 5, 16, 10_000):
        for count in (0, 1, 2, 8, 31, MOST_TOKENS):
            assert len(confidence.estimate(match_length, 1, count)) == count


def test_only_what_was_seen_is_counted() -> None:
    confidence = Confidence(DOCUMENT_PRIOR)
    before = confidence.estimate(5, 1, 20)
    confidence.observe(draft(20, 5), 4)
    after = confidence.estimate(5, 1, 20)
    assert after[0] > before[0], "the first token was right"
    assert after[1] > before[1], "so were the next two"
    assert after[3] < before[3], "of the fourth and fifth one was wrong"
    assert after[7:] == before[7:], "what follows a miss is unknown"


def test_a_draft_that_was_right_altogether_has_no_miss() -> None:
    confidence = Confidence(DOCUMENT_PRIOR)
    before = confidence.estimate(5, 1, 3)
    confidence.observe(draft(3, 5), 3)
    assert all(new > old for new, old in zip(confidence.estimate(5, 1, 3), before, strict=True))


def test_match_lengths_and_supports_learn_apart() -> None:
    confidence = Confidence(DOCUMENT_PRIOR)
    others = [(length, 1) for length in MATCH_EDGES if length != 4] + [(4, 0), (4, 2)]
    before = [confidence.estimate(length, support, 1) for length, support in others]
    confidence.observe(draft(1, 4), 0)
    assert [confidence.estimate(length, support, 1) for length, support in others] == before
    assert confidence.estimate(4, 1, 1) < (DOCUMENT_PRIOR.first[1][2],)


def test_a_prior_of_another_shape_is_refused() -> None:
    with pytest.raises(ValueError, match="first tokens"):
        Confidence(Prior(first=((0.5,),), later=DOCUMENT_PRIOR.later))
    with pytest.raises(ValueError, match="later tokens"):
        Confidence(Prior(first=DOCUMENT_PRIOR.first, later=((0.5,),)))
