"""The decode loop on a scripted engine."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from spark_lsp.decoding.drafters.draft import Draft, DraftContext
from spark_lsp.decoding.generate import Generation, GenerationLimits, generate
from spark_lsp.decoding.healing import PieceTable
from spark_lsp.decoding.kv_cache import KVCache
from spark_lsp.decoding.stopping import Extent, StopReason, StopRule
from spark_lsp.errors import CancelledError, DecodeError
from spark_lsp.prompt.fim import Prompt
from spark_lsp.prompt.templates import Template
from tests.scripted_engine import ScriptedEngine

OPEN_END = StopRule(Extent.BLOCK, indentation=-1)


def prompt_for(engine: ScriptedEngine, typed: str, heal: int = 1) -> Prompt:
    tokens = engine.tokenize(typed)
    kept, removed = tokens[: len(tokens) - heal], tokens[len(tokens) - heal :]
    pieces = engine.vocabulary.pieces
    stop = engine.vocabulary.end_of_generation
    return Prompt(tuple(kept), b"".join(pieces[t] for t in removed), tuple(removed), stop, Template.PSM)


def run(engine: ScriptedEngine, typed: str, heal: int = 1, **changes: Any) -> Generation:
    arguments: dict[str, Any] = {"rule": OPEN_END, "limits": GenerationLimits(100), "max_draft": 32} | changes
    return generate(
        arguments.pop("cache", None) or KVCache(engine),
        "document",
        prompt_for(engine, typed, heal),
        PieceTable(engine.vocabulary.pieces),
        engine.vocabulary.pieces,
        context_length=engine.info.context_length,
        **arguments,
    )


def test_it_continues_to_the_end_of_generation() -> None:
    result = run(ScriptedEngine(["x = 1 + 2"]), "x = ")
    assert (result.text, result.stop) == ("1 + 2", StopReason.END)


def test_a_cursor_inside_a_token_is_healed_to_the_token_the_model_knows() -> None:
    engine = ScriptedEngine(["self.assertEqual(a, b)"])
    result = run(engine, "self.assertEq", heal=1)
    assert result.text == "ual(a, b)"
    # The model was asked for "Equal" as one piece; typed alone, "q" and "ual" are its pieces.
    assert run(engine, "self.assertE").text == "qual(a, b)"


def test_without_healing_the_prompt_ends_with_the_typed_token() -> None:
    result = run(ScriptedEngine(["return 1"]), "retur", heal=0)
    assert result.text == "n 1"
    assert result.prompt_tokens == 5


def test_healing_costs_no_step_when_the_model_agrees_with_the_typed_token() -> None:
    engine = ScriptedEngine(["abc"])
    assert run(engine, "ab", heal=1).steps == run(engine, "ab", heal=0).steps


def test_every_token_has_a_probability_and_an_end_in_the_text() -> None:
    result = run(ScriptedEngine(["x = 12"]), "x = ")
    assert len(result.tokens) == len(result.probabilities) == len(result.ends)
    assert all(0 < p <= 1 for p in result.probabilities)
    assert result.ends == (0, 1, 2)


def test_a_character_spread_over_tokens_is_shown_when_it_is_complete() -> None:
    seen: list[str] = []
    result = run(ScriptedEngine(["s = '€😀'"]), "s = '", on_text=lambda text, *_: seen.append(text))
    assert result.text == "€😀'"
    assert seen[0] == "€"
    assert all("�" not in text for text in seen)


def test_bytes_that_are_no_text_end_the_generation() -> None:
    engine = ScriptedEngine(["x = ab"])
    original = engine._continuation
    engine._continuation = lambda seen: b"\xff\xff" if seen.endswith(b"a") else original(seen)  # type: ignore[method-assign]
    result = run(engine, "x = ")
    assert (result.text, result.stop) == ("a", StopReason.INVALID)


def test_the_token_limit_holds_within_an_accepted_draft() -> None:
    engine = ScriptedEngine(["x = 123456789"])
    result = run(engine, "x = ", limits=GenerationLimits(5), drafter=Oracle(engine, "x = 123456789"))
    assert result.stop is StopReason.TOKENS
    assert len(result.tokens) == 5


def test_the_deadline_ends_it_with_what_there_is() -> None:
    times = iter(range(1000))
    result = run(
        ScriptedEngine(["x = 123456789"]), "x = ", limits=GenerationLimits(100, deadline=8), clock=lambda: next(times)
    )
    assert result.stop is StopReason.DEADLINE
    assert 0 < len(result.text) < 9


def test_cancelling_raises_and_leaves_a_cache_that_continues() -> None:
    engine = ScriptedEngine(["x = 123456789"])
    cache = KVCache(engine)
    asked = iter([False] * 4 + [True] * 100)
    with pytest.raises(CancelledError):
        run(engine, "x = ", cache=cache, cancelled=lambda: next(asked))
    again = run(engine, "x = 12", cache=cache)
    assert again.text == "3456789"
    assert again.prompt_tokens <= 1


def test_typing_what_was_generated_needs_at_most_one_prompt_token() -> None:
    engine = ScriptedEngine(["x = 123456789"])
    cache = KVCache(engine)
    run(engine, "x = ", cache=cache)
    for typed in ("x = 1", "x = 12", "x = 123"):
        assert run(engine, typed, cache=cache).prompt_tokens <= 1


def test_a_full_context_ends_it() -> None:
    result = run(ScriptedEngine(["abcdefghijklmnopqrstuvwxyz"], context_length=20), "ab", limits=GenerationLimits(500))
    assert result.stop is StopReason.CONTEXT


class Oracle:
    """Always right, once the typed text is spelled."""

    name = "oracle"

    def __init__(self, engine: ScriptedEngine, text: str) -> None:
        self.tokens = engine.tokenize(text)
        self.done = 0

    def start(self, context: DraftContext) -> None:
        self.done = len(context.prompt)

    def append(self, tokens: Sequence[int]) -> None:
        self.done += len(tokens)

    def propose(self, limit: int, pending: int = 1) -> Draft | None:
        tokens = tuple(self.tokens[self.done : self.done + limit])
        return Draft(tokens, (1.0,) * len(tokens), self.name, 0) if tokens else None

    def observe(self, draft: Draft, accepted: int) -> None:
        assert 0 <= accepted <= len(draft)


class Adversary(Oracle):
    """Proposes anything."""

    name = "adversary"

    def __init__(self, seed: int, tokens: Sequence[int]) -> None:
        self.random = random.Random(seed)
        self.tokens = list(tokens)
        self.done = 0

    def propose(self, limit: int, pending: int = 1) -> Draft | None:
        tokens = tuple(self.random.choice(self.tokens) for _ in range(self.random.randint(0, limit)))
        return Draft(tokens, (0.5,) * len(tokens), self.name, 0) if tokens else None


@pytest.mark.parametrize("seed", range(10))
def test_a_drafter_that_proposes_anything_changes_nothing_in_the_text(seed: int) -> None:
    text = "def f(a):\n    return a + a + a + f(a)\n"
    engine = ScriptedEngine([text])
    plain = run(engine, "def f(")
    drafted = run(engine, "def f(", drafter=Adversary(seed, engine.tokenize(text)))
    assert drafted.text == plain.text
    assert drafted.tokens == plain.tokens


class Undecided(ScriptedEngine):
    """In rows of several, a second token is as good as tied with the first, and on top of it in every other row."""

    wide = False

    def decode(self, sequence: int, position: int, tokens: Sequence[int], outputs: int) -> Any:
        self.wide = outputs > 1
        return super().decode(sequence, position, tokens, outputs)

    def _row(self, cells: list[int]) -> Any:
        row = super()._row(cells)
        first = int(row.argmax())
        row[(first + 1) % 256] = row[first] + (0.05 if self.wide and len(cells) % 2 else -0.05)
        return row


@pytest.mark.parametrize("seed", range(5))
def test_nearly_tied_rows_of_several_are_decoded_again_alone(seed: int) -> None:
    text = "x = abc + def + ghi"
    plain = run(Undecided([text]), "x = ", heal=0)
    assert plain.text == "abc + def + ghi"
    engine = Undecided([text])
    assert run(engine, "x = ", heal=0, drafter=Oracle(engine, text)).text == plain.text
    assert run(engine, "x = ", heal=0, drafter=Adversary(seed, engine.tokenize(text))).text == plain.text


def test_a_draft_goes_on_behind_a_place_that_was_decided_alone() -> None:
    text = "x = abc + def + ghi"
    engine = Undecided([text])
    result = run(engine, "x = ", heal=0, drafter=Oracle(engine, text))
    assert result.text == "abc + def + ghi"
    assert result.accepted == result.drafted, "no row behind a near tie was lost"


def test_where_wide_decodes_are_exact_no_place_is_decoded_twice() -> None:
    text = "x = abc + def + ghi"
    exact = type("Exact", (Undecided,), {"decode": ScriptedEngine.decode})
    steps = []
    for width in (1, 32):
        engine = exact([text])
        result = run(engine, "x = ", heal=0, drafter=Oracle(engine, text), exact_width=width)
        assert result.text == "abc + def + ghi"
        steps.append(result.steps)
    assert steps[1] < 3 < steps[0]


def test_without_a_sequence_to_spare_a_near_tie_is_decided_in_place() -> None:
    text = "x = abc + def + ghi"
    engine = Undecided([text], sequences=1)
    result = run(engine, "x = ", heal=0, drafter=Oracle(engine, text))
    assert result.text == "abc + def + ghi"


def test_a_near_tie_in_a_full_context_is_decided_in_place() -> None:
    text = "x = abc + def + ghi + jkl"
    # Shared cells count twice in the scripted engine: there is never room for the scratch sequence.
    engine = Undecided([text], context_length=30)
    result = run(engine, "x = ", heal=0, drafter=Oracle(engine, text))
    assert result.text == "abc + def + ghi + jkl"
    assert engine.cells[-1] == []


class Candidates(ScriptedEngine):
    """Rows name only the most probable token, as those sampled in the graph; the last sequence gives whole ones."""

    gives_whole_rows = True

    def decode(self, sequence: int, position: int, tokens: Sequence[int], outputs: int) -> Any:
        self.whole = self.gives_whole_rows and sequence == self.info.sequences - 1
        return super().decode(sequence, position, tokens, outputs)

    def _row(self, cells: list[int]) -> Any:
        row = super()._row(cells)
        return row if self.whole else np.where(row == row.max(), row, -np.inf).astype(np.float32)


def test_where_a_row_leaves_out_what_is_allowed_the_place_is_decoded_for_a_whole_one() -> None:
    text = "self.assertEqual(a, b)"
    engine = Candidates([text])
    # "E" and "q" were typed; the most probable token "Equal" is not allowed behind another letter.
    assert run(engine, "self.assertEq", heal=1).text == run(ScriptedEngine([text]), "self.assertEq", heal=1).text
    assert run(engine, "self.assertEq", heal=2).text == "ual(a, b)"


def test_rows_that_never_say_what_is_allowed_are_an_error() -> None:
    engine = Candidates(["xyz"])
    engine.gives_whole_rows = False
    with pytest.raises(DecodeError, match="spells the typed text"):
        run(engine, "xq", heal=1)


def test_the_first_draft_rides_with_the_end_of_the_prompt() -> None:
    text = "x = 123456789"
    engine = ScriptedEngine([text])
    result = run(engine, "x = ", heal=0, drafter=Oracle(engine, text))
    assert result.text == "123456789"
    assert (result.steps, result.accepted) == (1, 9)


def test_the_first_draft_follows_the_typed_tokens_that_are_healed() -> None:
    text = "total = 123456789"
    engine = ScriptedEngine([text])
    result = run(engine, "tot", heal=2, drafter=Oracle(engine, text))
    assert result.text == "al = 123456789"
    assert (result.steps, result.accepted) == (1, 14)


def test_a_first_draft_behind_typed_tokens_that_the_model_spells_otherwise_is_not_counted() -> None:
    text = "self.assertEqual(a, b)"
    engine = ScriptedEngine([text])
    drafter = Adversary(1, engine.tokenize(text))
    starts: list[DraftContext] = []
    drafter.start = starts.append  # type: ignore[method-assign]
    result = run(engine, "self.assertEq", heal=2, drafter=drafter)
    assert result.text == "ual(a, b)"
    assert len(starts) == 2, "the drafter starts over, since it was told of other tokens"


def test_a_drafter_that_is_right_saves_steps() -> None:
    text = "x = 123456789"
    engine = ScriptedEngine([text])
    plain, drafted = run(engine, "x = "), run(engine, "x = ", drafter=Oracle(engine, text))
    assert drafted.text == plain.text
    assert drafted.steps < plain.steps
    assert drafted.accepted == drafted.drafted > 0
