"""Drafts of a second model: what they cost, what they follow, and that nothing they do changes the text."""

from __future__ import annotations

import logging
import math
import threading
from collections.abc import Sequence

import pytest

from spark_lsp.decoding.cost_model import CostModel
from spark_lsp.decoding.drafters import Draft, DraftChain, DraftContext, DraftModel, ModelDrafter, VocabularyMatch
from spark_lsp.decoding.engine import Row
from spark_lsp.documents.text import TextSnapshot
from spark_lsp.errors import CancelledError, DecodeError
from spark_lsp.pipeline import Completion, CompletionRequest, Pipeline
from spark_lsp.settings import CompletionSettings
from spark_lsp.syntax.languages import language_for
from tests.scripted_engine import WORDS, ScriptedEngine

TEXT = "def f(a):\n    return a + 1\n\n\ndef g(b):\n"
REST = "    print(f(b))\n    return 2 * b\n"
STEP = 0.1
"""Seconds of a draft model's step, a tenth of the target's."""


def target_cost() -> CostModel:
    return CostModel({1: 1.0, 2: 1.05, 4: 1.1, 8: 1.2, 16: 1.4, 32: 1.8}, 100.0)


def own_cost(step: float = STEP) -> CostModel:
    return CostModel({1: step, 2: 1.5 * step, 4: 2 * step, 8: 3 * step}, 10 / step)


class TimedEngine(ScriptedEngine):
    """A scripted draft model with a clock of its own: each decode takes `step` seconds for up to ten tokens."""

    def __init__(
        self, script: Sequence[str] = (), *, step: float = STEP, sure: float = 0.0, words: Sequence[str] = WORDS
    ) -> None:
        super().__init__(script, sequences=2, words=words)
        self.step, self.sure = step, sure
        self.now = 0.0
        self.decodes: list[int] = []
        self.failure: Exception | None = None

    def decode(self, sequence: int, position: int, tokens: Sequence[int], outputs: int):  # type: ignore[no-untyped-def]
        if self.failure is not None:
            raise self.failure
        self.now += self.step * math.ceil(len(tokens) / 10)
        self.decodes.append(len(tokens))
        return super().decode(sequence, position, tokens, outputs)

    def _row(self, cells: list[int]) -> Row:
        row = super()._row(cells)
        if self.sure:  # a second token as likely as this one leaves over
            row[0] = row.max() - math.log(self.sure / (1 - self.sure))
        return row


def drafter_of(
    engine: TimedEngine, target: ScriptedEngine | None = None, cost: CostModel | None = None
) -> ModelDrafter:
    match = VocabularyMatch(target or ScriptedEngine(), engine)
    return ModelDrafter(DraftModel(engine, match, cost or own_cost(engine.step)), target_cost, clock=lambda: engine.now)


def context(text: str, engine: ScriptedEngine | None = None) -> DraftContext:
    return DraftContext((), (), (), prompt=tuple((engine or ScriptedEngine()).tokenize(text)))


def read(drafter: ModelDrafter) -> None:
    while drafter.idle():
        pass


def text_of(draft: Draft | None, engine: ScriptedEngine | None = None) -> str:
    assert draft is not None
    return b"".join((engine or ScriptedEngine()).vocabulary.pieces[token] for token in draft.tokens).decode()


def test_it_writes_on_after_the_prompt_before_anything_was_appended() -> None:
    drafter = drafter_of(TimedEngine([TEXT + REST]))
    drafter.start(context(TEXT))
    read(drafter)
    draft = drafter.propose(5)
    assert text_of(draft) == "    print(f("
    assert draft is not None and draft.source == "model"
    assert len(draft.probabilities) == len(draft) == 5
    assert draft.seconds == pytest.approx(4 * STEP), "the first token was known since the prompt was read"


def test_only_what_is_new_is_decoded() -> None:
    engine = TimedEngine([TEXT + REST, TEXT + "    printed"])
    drafter = drafter_of(engine)
    drafter.start(context(TEXT))
    read(drafter)
    draft = drafter.propose(4)
    assert text_of(draft) == "    print(f"
    assert draft is not None
    engine.decodes.clear()
    drafter.append(draft.tokens[:2])
    drafter.append(ScriptedEngine().tokenize("e"))
    assert text_of(drafter.propose(1)) == "d"
    assert engine.decodes == [1], "the token that was not drafted"
    engine.decodes.clear()
    drafter.start(context(TEXT + "    "))
    drafter.propose(1)
    assert engine.decodes == [1], "the next keystroke"


def test_a_prompt_is_read_in_idle_time_only() -> None:
    engine = TimedEngine([TEXT + REST])
    drafter = drafter_of(engine)
    drafter.start(context("# a comment\n" * 20 + TEXT))
    assert drafter.propose(5) is None
    assert not engine.decodes
    read(drafter)
    assert drafter.propose(5) is not None


def test_it_goes_back_and_forth_between_two_prompts_without_reading_them_again() -> None:
    engine = TimedEngine([TEXT + REST])
    drafter = drafter_of(engine)
    prompts = [context("# one\n" * 20 + TEXT), context("# two\n" * 20 + TEXT)]
    for prompt in prompts:
        drafter.start(prompt)
        read(drafter)
    engine.decodes.clear()
    for prompt in prompts:
        drafter.start(prompt)
        assert drafter.propose(1) is not None
    assert sum(engine.decodes) <= 2


def test_its_costs_are_measured_in_idle_time_before_it_is_asked() -> None:
    engine = TimedEngine([TEXT + REST])
    kept: list[CostModel] = []
    match = VocabularyMatch(ScriptedEngine(), engine)
    drafter = ModelDrafter(DraftModel(engine, match, None, kept.append), target_cost, clock=lambda: engine.now)
    drafter.start(context(TEXT))
    assert drafter.propose(5) is None
    read(drafter)
    assert len(kept) == 1
    assert drafter.propose(5) is not None


@pytest.mark.parametrize(
    ("sure", "tokens"),
    [
        (0.0, 8),  # as many as may be
        (0.97, 8),
        # A token takes 0.1 steps of the target to make and 0.026 to verify; the fifth is reached in 0.6 ** 4 = 0.13 of
        # all cases, a sixth would be in less.
        (0.6, 5),
    ],
    ids=["certain", "sure", "doubtful"],
)
def test_it_stops_where_a_further_token_would_not_be_worth_its_step(sure: float, tokens: int) -> None:
    drafter = drafter_of(TimedEngine([TEXT + REST], sure=sure))
    drafter.start(context(TEXT))
    read(drafter)
    draft = drafter.propose(8)
    assert draft is not None and len(draft) == tokens


def test_where_it_would_end_there_is_no_token_and_the_time_is_said() -> None:
    drafter = drafter_of(TimedEngine(["x = 1"]))
    drafter.start(context("x = 1"))
    draft = drafter.propose(5)
    assert draft is not None and not draft
    assert draft.seconds == pytest.approx(STEP)


def test_a_model_as_slow_as_its_target_is_neither_asked_nor_read() -> None:
    engine = TimedEngine([TEXT + REST], step=1.0)
    drafter = drafter_of(engine)
    drafter.start(context(TEXT))
    read(drafter)
    assert drafter.propose(5) is None
    assert not engine.decodes


def test_a_prompt_longer_than_its_context_is_left_alone(caplog: pytest.LogCaptureFixture) -> None:
    engine = TimedEngine([TEXT + REST])
    drafter = drafter_of(engine)
    drafter.start(DraftContext((), (), (), prompt=(65,) * (engine.info.context_length + 1)))
    read(drafter)
    assert drafter.propose(5) is None
    drafter.start(context(TEXT))
    read(drafter)
    assert drafter.propose(5) is not None
    assert not caplog.records


def test_tokens_of_another_numbering_come_back_as_the_targets() -> None:
    engine = TimedEngine([TEXT + REST], words=["more", *WORDS[::-1]])
    drafter = drafter_of(engine)
    drafter.start(context(TEXT))
    read(drafter)
    assert text_of(drafter.propose(5)) == "    print(f("


def test_a_token_that_the_target_lacks_ends_the_draft() -> None:
    target = ScriptedEngine(words=WORDS[:2])
    engine = TimedEngine([TEXT + REST])
    drafter = drafter_of(engine, target)
    drafter.start(context(TEXT, target))
    read(drafter)
    assert text_of(drafter.propose(9), target) == "    ", "`print` is one token of the draft model only"


def test_an_interrupt_stops_it_and_it_goes_on_afterwards() -> None:
    engine = TimedEngine([TEXT + REST])
    drafter = drafter_of(engine)
    drafter.start(context(TEXT))
    engine.interrupt.set()
    with pytest.raises(CancelledError):
        read(drafter)
    engine.interrupt.clear()
    read(drafter)
    engine.interrupt.set()
    with pytest.raises(CancelledError):
        drafter.propose(5)
    engine.interrupt.clear()
    assert text_of(drafter.propose(5)) == "    print(f("


@pytest.mark.parametrize("failure", [DecodeError("broken"), RuntimeError("broken")])
def test_a_failure_is_logged_once_and_switches_it_off(failure: Exception, caplog: pytest.LogCaptureFixture) -> None:
    engine = TimedEngine([TEXT + REST])
    drafter = drafter_of(engine)
    drafter.start(context(TEXT))
    read(drafter)
    engine.failure = failure
    with caplog.at_level(logging.WARNING):
        assert drafter.propose(5) is None
        assert drafter.propose(5) is None
        assert not drafter.idle()
    engine.failure = None
    assert drafter.propose(5) is None
    assert [record.getMessage() for record in caplog.records] == [
        "The draft model failed and is not used any more: broken"
    ]


def steps_until_switched_off(engine: TimedEngine, written: str, most: int = 60) -> int:
    """Generate `written` one token after another, and return the steps after which the chain no longer asks."""
    chain = DraftChain([], target_cost(), last=drafter_of(engine))
    chain.start(context(TEXT))
    tokens = ScriptedEngine().tokenize(written)
    for number in range(most):
        draft = chain.propose(8)
        accepted = 0
        if draft is not None:
            while accepted < len(draft) and draft.tokens[accepted] == tokens[accepted]:
                accepted += 1
            chain.observe(draft, accepted)
        if "model" in chain.switched_off():
            return number
        chain.append(tokens[: accepted + 1])
        tokens = tokens[accepted + 1 :]
        if len(tokens) < 10:
            break
    return most


def test_a_model_that_is_often_wrong_is_switched_off() -> None:
    assert steps_until_switched_off(TimedEngine(["z" * 500]), "x = y\n" * 50) < 30


def test_a_model_that_is_right_stays() -> None:
    line = "x = y + 3\n"
    assert steps_until_switched_off(TimedEngine([TEXT + line * 50]), line * 50) == 60


def complete(pipeline: Pipeline, before: str = TEXT) -> Completion:
    return pipeline.complete(CompletionRequest("doc", TextSnapshot.of(before), len(before), language_for("python", "")))


def pipeline_with(target: ScriptedEngine, draft: ScriptedEngine | None) -> Pipeline:
    """A pipeline whose draft model takes no time worth mentioning and has read the prompt."""
    model = None
    if draft is not None:
        draft.interrupt = target.interrupt
        model = DraftModel(draft, VocabularyMatch(target, draft), own_cost())
    pipeline = Pipeline(target, CompletionSettings(), cost=target_cost(), draft=model)
    complete(pipeline)
    while pipeline.idle(lambda: False):
        pass
    return pipeline


@pytest.mark.parametrize(
    ("case", "script", "words", "accepts"),
    [
        ("the same model", TEXT + REST, WORDS, True),
        ("numbered differently", TEXT + REST, [*WORDS[::-1], "more"], True),
        ("a smaller vocabulary", TEXT + REST, WORDS[:6], True),
        ("another opinion", TEXT + REST.replace("f(b)", "g(a)").replace("2", "200"), WORDS, True),
        ("always wrong", TEXT + "zzzz" * 100, WORDS, False),
        ("nothing to say", "", WORDS, False),
    ],
)
def test_the_text_is_the_one_without_a_draft_model(case: str, script: str, words: Sequence[str], accepts: bool) -> None:
    plain = complete(pipeline_with(ScriptedEngine([TEXT + REST]), None))
    pipeline = pipeline_with(ScriptedEngine([TEXT + REST]), ScriptedEngine([script], sequences=2, words=words))
    for _ in range(3):
        pipeline._documents.clear()  # else the last suggestion itself is the draft
        drafted = complete(pipeline)
        assert drafted.text == plain.text
        assert drafted.generation is not None and plain.generation is not None
        assert drafted.generation.tokens == plain.generation.tokens
    assert (pipeline.chain.counts()["model"].accepted > 0) == accepts


def test_cancelling_a_completion_stops_the_draft_model() -> None:
    target, draft = ScriptedEngine([TEXT + REST]), ScriptedEngine([TEXT + REST], sequences=2)
    pipeline = pipeline_with(target, draft)
    pipeline._documents.clear()
    text = complete(pipeline).text
    pipeline._documents.clear()
    draft.seconds_per_token = 60.0
    timer = threading.Timer(0.1, target.interrupt.set)
    timer.start()
    with pytest.raises(CancelledError):
        complete(pipeline)
    timer.join()
    target.interrupt.clear()
    draft.seconds_per_token = 0.0
    assert complete(pipeline).text == text


def test_a_failing_draft_model_does_not_break_a_completion(caplog: pytest.LogCaptureFixture) -> None:
    target, draft = ScriptedEngine([TEXT + REST]), TimedEngine([TEXT + REST])
    pipeline = pipeline_with(target, draft)
    pipeline._documents.clear()
    draft.failure = DecodeError("gone")
    with caplog.at_level(logging.WARNING):
        assert complete(pipeline).text == complete(pipeline).text != ""
    assert len(caplog.records) == 1


def test_closing_a_pipeline_closes_both_models() -> None:
    target, draft = ScriptedEngine(), ScriptedEngine(sequences=2)
    Pipeline(target, CompletionSettings(), draft=DraftModel(draft, VocabularyMatch(target, draft))).close()
    assert target.closed and draft.closed
