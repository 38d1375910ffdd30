"""Which tokens the lines of a shown text are made of."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, chain

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spark_lsp.gate.alignment import Scored, doubted, goes_on_below, line_probabilities
from spark_lsp.gate.thresholds import UNKNOWN_NAME


def written(*tokens: str, healed: int = 0) -> Scored:
    """Tokens whose probabilities are 0.1, 0.2, ...; the first `healed` only spell typed text."""
    text = "".join(tokens)
    probabilities = [round(0.1 * (number + 1), 1) for number in range(healed + len(tokens))]
    return Scored(text, probabilities, [0] * healed + list(accumulate(map(len, tokens))))


@pytest.mark.parametrize(
    ("text", "tokens", "lines"),
    [
        ("a = b", ("a", " =", " b"), [(0.1, 0.2, 0.3)]),
        ("a\nb", ("a", "\n", "b"), [(0.1,), (0.2, 0.3)]),
        ("if a:\n    b", ("if", " a", ":\n", "    ", "b"), [(0.1, 0.2, 0.3), (0.4, 0.5)]),
        ("\n    a", ("\n", "    ", "a"), [(), (0.1, 0.2, 0.3)]),
        ("a\n\nb", ("a", "\n\n", "b"), [(0.1,), (), (0.2, 0.3)]),
    ],
)
def test_a_line_end_belongs_to_the_line_that_it_begins(
    text: str, tokens: Sequence[str], lines: list[tuple[float, ...]]
) -> None:
    assert line_probabilities(text, written(*tokens)) == tuple(lines)


@pytest.mark.parametrize(
    ("text", "tokens", "lines"),
    [
        ("f(a", ("f", "(", "a", ")", "\n"), [(0.1, 0.2, 0.3)]),
        ("f(a", ("f", "(", "a)", ".b"), [(0.1, 0.2, 0.3)]),
        ("x = 1", ("```", "python", "\n", "x", " =", " 1", "\n", "```"), [(0.3, 0.4, 0.5, 0.6)]),
        ("\tx\n\ty", ("    x", "\n", "    y"), [(0.1,), (0.2, 0.3)]),
        ("a\nb", ("a  ", "\n", "<|x|>", "b"), [(0.1,), (0.2, 0.4)]),
    ],
    ids=["cut", "cut inside a token", "fence", "other indentation", "something inside taken out"],
)
def test_what_post_processing_took_away_does_not_count(
    text: str, tokens: Sequence[str], lines: list[tuple[float, ...]]
) -> None:
    assert line_probabilities(text, written(*tokens)) == tuple(lines)


def test_tokens_that_only_spell_typed_text_do_not_count() -> None:
    assert line_probabilities("dth", written("dth", healed=2)) == ((0.3,),)


@pytest.mark.parametrize(
    ("text", "tokens", "whole"),
    [("a\nb", ("a\nb",), False), ("a\nb", ("a\nb\n",), True), ("a\nb", ("a\nbc",), False), ("a", ("a\nb",), True)],
)
def test_a_line_is_whole_when_the_model_has_ended_it(text: str, tokens: Sequence[str], whole: bool) -> None:
    assert goes_on_below(text, written(*tokens)) is whole


TOKENS = st.lists(st.sampled_from(["a", "b = ", "\n", "\n    ", "c\n", " ", "()"]), min_size=1, max_size=20)


@given(TOKENS, st.integers(0, 60))
@settings(max_examples=100)
def test_a_leading_part_has_the_tokens_that_reach_into_what_is_visible_of_it(tokens: list[str], size: int) -> None:
    all_of_it = written(*tokens)
    text = all_of_it.text[:size].rstrip()
    starts = (0, *all_of_it.ends)
    visible = [p for p, start in zip(all_of_it.probabilities, starts, strict=False) if start < len(text)]
    assert list(chain.from_iterable(line_probabilities(text, all_of_it))) == visible


@pytest.mark.parametrize("name", [5, 4])
def test_the_token_that_begins_a_name_which_does_not_exist_counts_little(name: int) -> None:
    sure = Scored("json.loda(x)", (0.9, 0.8, 0.7, 0.05), (4, 7, 9, 12))
    assert doubted(sure, [name]).probabilities == (0.9, UNKNOWN_NAME, 0.7, 0.05)
    assert doubted(sure, [9]).probabilities == sure.probabilities, "never more than the model gave it"


def test_a_typed_name_that_does_not_exist_is_a_doubt_about_what_completes_it() -> None:
    healed = Scored("da(x)", (1.0, 0.8, 0.7), (0, 2, 5))
    assert doubted(healed, [-2]).probabilities == (1.0, UNKNOWN_NAME, 0.7)
