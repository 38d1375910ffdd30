"""Which models may draft for which, and what a token of the one is in the other."""

from __future__ import annotations

import pytest

from spark_lsp.decoding.drafters import VocabularyMatch
from spark_lsp.errors import VocabularyMismatchError
from tests.scripted_engine import END, FIM, WORDS, ScriptedEngine

FOREIGN = [f"wort{number}" for number in range(40)]
OTHER_FOREIGN = [f"mot{number}" for number in range(40)]


def spelled(engine: ScriptedEngine, tokens: list[int]) -> list[str]:
    names = {token: name for name, token in engine.vocabulary.special.items()}
    return [names.get(token) or engine.vocabulary.pieces[token].decode("latin-1") for token in tokens]


def test_ids_may_differ() -> None:
    target, draft = ScriptedEngine(), ScriptedEngine(words=[*WORDS[::-1], "more"])
    match = VocabularyMatch(target, draft)
    special = target.vocabulary.special
    tokens = [special[FIM[0]], *target.tokenize("def f():\n    return 1"), special[FIM[2]], special[END]]
    ours = match.to_draft(tokens)
    assert ours != tokens
    assert spelled(draft, ours) == spelled(target, tokens)
    assert [match.to_target(token) for token in ours] == tokens


def test_what_the_draft_model_lacks_is_spelled() -> None:
    target, draft = ScriptedEngine(), ScriptedEngine(words=["self", "ret"])
    match = VocabularyMatch(target, draft)
    assert spelled(draft, match.to_draft(target.tokenize("return self"))) == ["ret", "u", "r", "n", " ", "self"]


def test_a_part_of_a_character_is_spelled_byte_by_byte() -> None:
    target, draft = ScriptedEngine(), ScriptedEngine()
    euro = "€".encode()
    pieces = list(target.vocabulary.pieces)
    pieces[pieces.index(b"self")] = euro[:2]
    target.vocabulary = type(target.vocabulary)(
        tuple(pieces), target.vocabulary.special, target.vocabulary.end_of_generation
    )
    match = VocabularyMatch(target, draft)
    assert match.to_draft([pieces.index(euro[:2])]) == [euro[0], euro[1]]


def test_what_the_target_lacks_is_no_token_of_it() -> None:
    target, draft = ScriptedEngine(words=["ret"]), ScriptedEngine(words=["self", "ret"])
    match = VocabularyMatch(target, draft)
    token = draft.tokenize("self")[0]
    assert match.to_target(token) is None


def test_a_control_token_that_no_prompt_needs_may_be_missing() -> None:
    target, draft = ScriptedEngine(), ScriptedEngine()
    target.vocabulary.special["<|repo_name|>"] = target.tokenize("self")[0]
    match = VocabularyMatch(target, draft)
    assert match.to_draft([target.vocabulary.special["<|repo_name|>"], 65]) == [65]


@pytest.mark.parametrize(
    ("case", "target", "draft", "words"),
    [
        ("other words", ScriptedEngine(words=FOREIGN), ScriptedEngine(words=OTHER_FOREIGN), "only 86% is the same"),
        ("no middle", ScriptedEngine(), ScriptedEngine(fim=False), f"it lacks {', '.join(FIM)}"),
    ],
)
def test_another_vocabulary_is_refused_with_a_sentence(
    case: str, target: ScriptedEngine, draft: ScriptedEngine, words: str
) -> None:
    with pytest.raises(VocabularyMismatchError) as raised:
        VocabularyMatch(target, draft)
    assert words in raised.value.sentence
    assert "model.draft" in raised.value.next_step


def test_a_target_without_a_middle_needs_none() -> None:
    VocabularyMatch(ScriptedEngine(fim=False), ScriptedEngine())
