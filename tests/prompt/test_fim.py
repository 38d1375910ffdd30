"""The order of the parts, and what is taken off for healing."""

from __future__ import annotations

import pytest

from spark_lsp.context.window import CompletionContext
from spark_lsp.prompt.fim import Prompt, PromptBuilder
from spark_lsp.prompt.special_tokens import SpecialTokens
from spark_lsp.prompt.templates import Template, assemble
from tests.scripted_engine import ScriptedEngine


def context(above: str, tail: str, below: str) -> CompletionContext:
    cursor = len(above) + len(tail)
    return CompletionContext(
        above, tail, below, 0, len(above), cursor, cursor + len(below), above, below, cursor + len(below)
    )


def build(
    engine: ScriptedEngine, above: str, tail: str, below: str, *, layout: str = "anchored", heal: int = 1
) -> Prompt:
    builder = PromptBuilder(engine.vocabulary, engine.tokenize, layout=layout, heal_tokens=heal)
    return builder.build(context(above, tail, below))


def spell(engine: ScriptedEngine, prompt: Prompt) -> str:
    names = {token: name for name, token in engine.vocabulary.special.items()}
    return "".join(names.get(t) or engine.vocabulary.pieces[t].decode() for t in prompt.tokens)


def test_the_tail_stands_at_the_end_and_loses_its_last_token_to_healing() -> None:
    engine = ScriptedEngine()
    prompt = build(engine, "above\n", "x = self", "\nbelow")
    assert spell(engine, prompt) == "<|fim_prefix|>above\n<|fim_suffix|>\nbelow<|fim_middle|>x ="
    assert prompt.heal == b" self"


@pytest.mark.parametrize(
    ("tail", "heal", "removed"),
    [
        ("x = self", 4, " self"),
        ("x.wid", 4, ".wid"),
        ("x.wid", 1, "d"),
        ("x.wid", 0, ""),
        ("calc_tot", 9, "_tot"),
        ("f(a, ", 4, " "),
        ("x = 12", 4, "2"),
        ("if x:\n    ", 4, "    "),
        ("s = 'né", 9, "'né"),
        ("", 4, ""),
    ],
)
def test_the_last_word_is_healed_or_the_last_token_where_there_is_none(tail: str, heal: int, removed: str) -> None:
    assert build(ScriptedEngine(), "", tail, "", heal=heal).heal.decode() == removed


def test_a_keystroke_changes_only_the_end_of_the_prompt() -> None:
    engine = ScriptedEngine()
    before = build(engine, "above\n", "x = ab", "\nbelow").tokens
    after = build(engine, "above\n", "x = abc", "\nbelow").tokens
    assert after[: len(before)] == before
    assert len(after) == len(before) + 1


def test_the_plain_order_puts_everything_before_the_cursor_first_and_heals_nothing() -> None:
    engine = ScriptedEngine()
    prompt = build(engine, "above\n", "x = a", "\nbelow", layout="plain")
    assert spell(engine, prompt) == "<|fim_prefix|>above\nx = a<|fim_suffix|>\nbelow<|fim_middle|>"
    assert prompt.heal == b""


def test_a_model_without_fim_tokens_sees_the_text_before_the_cursor() -> None:
    engine = ScriptedEngine(fim=False)
    prompt = build(engine, "above\n", "x = a", "\nbelow")
    assert spell(engine, prompt) == "above\nx = "
    assert prompt.template is Template.LEFT_TO_RIGHT


def test_an_empty_document_still_gives_something_to_evaluate() -> None:
    assert build(ScriptedEngine(fim=False), "", "", "").tokens


def test_suffix_prefix_middle_is_append_only_as_well() -> None:
    tokens = SpecialTokens(1, 2, 3, bos=0, stop=frozenset())
    assert assemble(Template.SPM, tokens, [10], [20], [30]) == [0, 2, 20, 1, 10, 3, 30]


def test_control_tokens_in_the_buffer_are_plain_text() -> None:
    engine = ScriptedEngine()
    prompt = build(engine, "<|fim_middle|>", "a", "")
    assert prompt.tokens.count(engine.vocabulary.special["<|fim_middle|>"]) == 1
