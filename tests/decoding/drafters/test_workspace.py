"""Texts of the workspace: each is learned once, in pieces, in bounded memory."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from spark_lsp.decoding.drafters.draft import DraftContext
from spark_lsp.decoding.drafters.ngrams import PENDING_CHARACTERS, PIECE_CHARACTERS, WORKSPACE_TOKENS
from spark_lsp.decoding.drafters.workspace import HELD_CHARACTERS, HELD_TEXTS, TEXT_CHARACTERS, WorkspaceTexts


def characters(text: str) -> list[int]:
    return [ord(character) for character in text]


def lines(count: int, word: str = "name") -> str:
    return "".join(f"{word}_{number} = {number}\n" for number in range(count))


def after(texts: WorkspaceTexts, typed: str, limit: int = 8) -> str | None:
    texts.drafter.start(DraftContext((), tuple(characters(typed)), ()))
    draft = texts.drafter.propose(limit)
    return None if draft is None else "".join(map(chr, draft.tokens))


def learned(*named: tuple[str, str]) -> WorkspaceTexts:
    texts = WorkspaceTexts(characters)
    for name, text in named:
        texts.read(name, text)
    while texts.work():
        pass
    return texts


def test_a_text_is_a_source_once_it_was_its_turn() -> None:
    texts = WorkspaceTexts(characters)
    assert texts.read("a", "result = compute(first)\n")
    assert (texts.pending, after(texts, "result = ")) == (24, None)
    assert not texts.work()
    assert (texts.pending, after(texts, "result = ")) == (0, "compute(")
    draft = texts.drafter.propose(4)
    assert draft is not None and draft.source == "workspace"


def test_without_a_text_there_is_no_index_and_no_work() -> None:
    texts = WorkspaceTexts(characters)
    assert not texts.work()
    assert not texts.read("empty", " \n\n")
    assert texts.drafter.index.bytes < 1_000
    texts.read("a", "x = 1\n")
    assert WORKSPACE_TOKENS * 30 < texts.drafter.index.bytes < WORKSPACE_TOKENS * 50


@pytest.mark.parametrize(
    ("case", "name", "text", "again"),
    [
        ("the same", "a", lines(40), False),
        ("the same with other line ends", "a", lines(40).replace("\n", "\r\n"), False),
        ("a copy under another name", "b", lines(40), False),
        ("one line more", "a", lines(41), False),
        ("a tenth is new", "a", lines(36) + lines(4, "other"), False),
        ("the order changed", "a", "".join(reversed(lines(40).splitlines(keepends=True))), False),
        ("a part was deleted", "a", lines(20), False),
        ("half is new", "a", lines(20) + lines(20, "other"), True),
        ("all is new", "a", lines(40, "other"), True),
        ("another file that is much the same", "b", lines(41), True),
    ],
    ids=lambda value: value if isinstance(value, str) and " " in value and "\n" not in value else "",
)
def test_a_text_is_learned_again_only_if_it_changed_substantially(case: str, name: str, text: str, again: bool) -> None:
    texts = learned(("a", lines(40)))
    assert texts.read(name, text) is again
    assert (texts.pending > 0) is again
    assert texts.texts == 1 + again


def test_many_small_changes_add_up() -> None:
    texts = learned(("a", lines(40)))
    taken = [texts.read("a", lines(40) + lines(more, "other")) for more in range(1, 20)]
    assert taken.count(True) == 1


def test_line_ends_are_learned_as_line_feeds() -> None:
    assert after(learned(("a", "first = 1\r\nsecond = 2\r\n")), "first = 1", 20) == "\nsecond = 2\n"


def test_of_a_huge_text_the_beginning_is_learned() -> None:
    sizes: list[int] = []

    def tokenize(text: str) -> Sequence[int]:
        sizes.append(len(text))
        return []

    texts = WorkspaceTexts(tokenize)
    texts.read("a", "x" * (8 * TEXT_CHARACTERS))
    while texts.work():
        pass
    assert sum(sizes) == TEXT_CHARACTERS
    assert max(sizes) <= PIECE_CHARACTERS


def test_what_waits_and_what_is_remembered_is_bounded() -> None:
    texts = WorkspaceTexts(lambda text: [])
    for number in range(40):
        texts.read(f"large{number}", f"{number}\n" + "x" * TEXT_CHARACTERS)
        assert texts.pending <= PENDING_CHARACTERS
        assert sum(known.characters for known in texts._known.values()) <= HELD_CHARACTERS
    for number in range(2 * HELD_TEXTS):
        texts.read(f"tiny{number}", f"{number}\n")
    assert len(texts._known) <= HELD_TEXTS


def test_what_the_index_has_forgotten_may_be_learned_again() -> None:
    texts = learned(("a", lines(40)))
    for number in range(HELD_CHARACTERS // TEXT_CHARACTERS + 1):
        texts.read(f"b{number}", lines(TEXT_CHARACTERS // 10, f"n{number}"))
    assert texts.read("a", lines(40))


def test_a_piece_that_cannot_be_tokenised_costs_that_piece_only() -> None:
    def tokenize(text: str) -> Sequence[int]:
        if "bad" in text:
            raise ValueError(text)
        return characters(text)

    texts = WorkspaceTexts(tokenize)
    texts.read("a", "bad\n")
    texts.read("b", "result = compute(first)\n")
    with pytest.raises(ValueError, match="bad"):
        texts.work()
    assert not texts.work()
    assert after(texts, "result = ") == "compute("


def test_half_a_surrogate_pair_is_a_text_like_any_other() -> None:
    texts = WorkspaceTexts(characters)
    assert texts.read("a", "x = '\ud83d'\n")
    assert not texts.work()


def test_turned_off_it_forgets_everything_and_takes_nothing_in() -> None:
    texts = learned(("a", "result = compute(first)\n"))
    texts.read("b", "y = 2\n")
    texts.enable(False)
    assert (after(texts, "result = "), texts.pending, texts.work()) == (None, 0, False)
    assert texts.drafter.index.bytes < 1_000
    assert not texts.read("c", "z = 3\n")
    texts.enable(True)
    assert texts.read("a", "result = compute(first)\n")
