"""Drafting changes the number of steps and never the text."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from spark_lsp.decoding.cost_model import CostModel, default_cost_model
from spark_lsp.decoding.drafters import (
    ACCEPTED_TOKENS,
    DocumentDrafter,
    Draft,
    DraftChain,
    DraftContext,
    NgramDrafter,
    NgramIndex,
    PreviousDrafter,
)
from spark_lsp.decoding.drafters.draft import Drafter
from spark_lsp.decoding.generate import Generation, GenerationLimits, generate
from spark_lsp.decoding.healing import PieceTable
from spark_lsp.decoding.kv_cache import KVCache
from spark_lsp.decoding.stopping import Extent, StopRule
from spark_lsp.prompt.fim import Prompt
from spark_lsp.prompt.templates import Template
from tests.scripted_engine import ScriptedEngine

TYPED = "def first(a):\n    total = a + 1\n    return total\n\n\ndef second(b):\n"
REST = "    total = b + 1\n    return total + first(b)\n"
CHEAP = CostModel({1: 1.0, 2: 1.01, 4: 1.02, 8: 1.03, 16: 1.035, 32: 1.04}, 100.0)


class Random:
    """Proposes anything and is sure of it."""

    name = "random"

    def __init__(self, seed: int, tokens: Sequence[int]) -> None:
        self.random = random.Random(seed)
        self.tokens = tokens

    def start(self, context: DraftContext) -> None:
        pass

    def append(self, tokens: Sequence[int]) -> None:
        pass

    def propose(self, limit: int, pending: int = 1) -> Draft | None:
        count = self.random.randint(1, limit)
        return Draft(tuple(self.random.choices(self.tokens, k=count)), (0.99,) * count, self.name, 2)

    def observe(self, draft: Draft, accepted: int) -> None:
        assert 0 <= accepted <= len(draft)


def run(engine: ScriptedEngine, chain: DraftChain | None, previous: Sequence[int] = ()) -> Generation:
    above, tail = engine.tokenize(TYPED[:20]), engine.tokenize(TYPED[20:])
    end = engine.vocabulary.end_of_generation
    # Written out by name, since a prompt also carries its parts.
    prompt = Prompt(
        tokens=(*above, *tail),
        heal=b"",
        heal_tokens=(),
        stop=end,
        template=Template.PSM,
        above=tuple(above),
        tail=tuple(tail),
        below=(),
    )
    return generate(
        KVCache(engine),
        "document",
        prompt,
        PieceTable(engine.vocabulary.pieces),
        engine.vocabulary.pieces,
        StopRule(Extent.BLOCK, indentation=-1),
        GenerationLimits(200),
        context_length=engine.info.context_length,
        max_draft=31,
        drafter=chain,
        previous=tuple(previous),
    )


def sources(engine: ScriptedEngine, accepted: str = "") -> list[Drafter]:
    index = NgramIndex(ACCEPTED_TOKENS)
    index.learn(engine.tokenize(accepted))
    return [PreviousDrafter(), DocumentDrafter(), NgramDrafter("accepted", index)]


@pytest.mark.parametrize(
    ("case", "previous", "accepted"),
    [
        ("the document alone", "", ""),
        ("the old text", REST, ""),
        ("an old text that differs", REST.replace("b + 1", "b * 200 - 1").replace("first", "last"), ""),
        ("a text accepted before", "", "    return total + first(b)\n"),
        ("everything misleads", "return 5\n" * 10, "    total = b - 7\n" * 5),
    ],
)
@pytest.mark.parametrize("cost", [default_cost_model(), CHEAP], ids=["dear rows", "cheap rows"])
def test_the_text_is_the_one_without_drafts(case: str, previous: str, accepted: str, cost: CostModel) -> None:
    engine = ScriptedEngine([TYPED + REST])
    plain = run(engine, None)
    chain = DraftChain(sources(engine, accepted), cost)
    drafted = run(engine, chain, engine.tokenize(previous))
    assert (drafted.text, drafted.tokens, drafted.stop) == (plain.text, plain.tokens, plain.stop)
    assert drafted.steps <= plain.steps
    counts = chain.counts().values()
    assert drafted.drafted == sum(source.drafted for source in counts)
    assert drafted.accepted == sum(source.accepted for source in counts)


def test_the_old_text_saves_most_steps() -> None:
    engine = ScriptedEngine([TYPED + REST])
    plain = run(engine, None)
    chain = DraftChain(sources(engine), CHEAP)
    drafted = run(engine, chain, engine.tokenize(REST))
    assert drafted.steps <= 1 + plain.steps // 8
    assert chain.counts()["previous"].accepted > 0


@pytest.mark.parametrize("seed", range(5))
def test_a_source_that_proposes_anything_changes_nothing_and_is_switched_off(seed: int) -> None:
    engine = ScriptedEngine([TYPED + REST])
    plain = run(engine, None)
    chain = DraftChain([Random(seed, engine.tokenize(REST)), *sources(engine)], default_cost_model())
    drafted = run(engine, chain)
    assert drafted.tokens == plain.tokens
    assert "random" in chain.switched_off()
    assert chain.counts()["random"].drafts < 12
