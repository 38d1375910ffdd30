"""Drafts end where the text after the cursor begins."""

from __future__ import annotations

import pytest

from spark_lsp.decoding.drafters.boundary import SuffixBoundary
from spark_lsp.decoding.drafters.draft import Draft, DraftContext

BELOW = (7, 8, 9, 10)
END = 99


def cut(
    tokens: list[int],
    *,
    output: tuple[int, ...] = (),
    end: int | None = END,
    below: tuple[int, ...] = BELOW,
    limit: int = 8,
) -> tuple[int, ...] | None:
    boundary = SuffixBoundary(DraftContext((), (), below, end_token=end))
    boundary.append(output)
    confidences = tuple(0.9 - 0.1 * index for index in range(len(tokens)))
    draft = boundary.cut(Draft(tuple(tokens), confidences, "test", 5, 2), limit)
    if draft is None:
        return None
    assert len(draft) <= limit
    assert draft.confidences == confidences[: len(draft)]
    assert (draft.source, draft.match_length, draft.support) == ("test", 5, 2)
    return draft.tokens


@pytest.mark.parametrize(
    ("case", "tokens", "expected"),
    [
        ("elsewhere", [1, 2, 3], (1, 2, 3)),
        ("reached", [1, 2, 7, 8, 9, 10, 11], (1, 2, END)),
        ("at once", [7, 8, 9], (END,)),
        ("two tokens are chance", [1, 7, 8, 2, 3], (1, 7, 8, 2, 3)),
        ("the first of two", [1, 7, 8, 9, 7, 8, 9], (1, END)),
        ("after a false start", [7, 7, 8, 9], (7, END)),
    ],
)
def test_the_end_is_proposed_where_the_text_below_begins(
    case: str, tokens: list[int], expected: tuple[int, ...]
) -> None:
    assert cut(tokens) == expected


def test_without_an_end_token_the_draft_stops_there() -> None:
    assert cut([1, 2, 7, 8, 9], end=None) == (1, 2)
    assert cut([7, 8, 9], end=None) is None


def test_the_text_below_may_begin_in_what_was_written() -> None:
    assert cut([8, 9, 10, 11], output=(1, 7)) == (END,)
    assert cut([10, 11], output=(1, 7, 8, 9)) == (END,)
    assert cut([9, 1], output=(7, 8), end=None) is None


def test_the_limit_counts_the_end_token() -> None:
    assert cut([1, 2, 3, 7, 8, 9], limit=3) == (1, 2, 3)
    assert cut([1, 2, 7, 8, 9], limit=3) == (1, 2, END)


def test_a_short_rest_of_the_document_needs_two_tokens() -> None:
    assert cut([1, 7, 8, 2], below=(7, 8)) == (1, END)
    assert cut([1, 7, 2], below=(7,)) == (1, 7, 2)
    assert cut([1, 7, 2], below=()) == (1, 7, 2)
