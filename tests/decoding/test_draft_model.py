"""A draft model on real weights: which one is taken, and that the text stays what it was."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from spark_lsp.decoding.cost_model import CostModel
from spark_lsp.decoding.drafters import DRAFT_SEQUENCES, DraftModel, VocabularyMatch
from spark_lsp.decoding.llama import LlamaEngine
from spark_lsp.documents.text import TextSnapshot
from spark_lsp.errors import CancelledError
from spark_lsp.loading import local_loader
from spark_lsp.pipeline import Completion, CompletionRequest, Pipeline
from spark_lsp.settings import CompletionSettings, ModelSettings, Settings
from spark_lsp.syntax.languages import language_for

pytestmark = pytest.mark.model

BEFORE = "import os\n\n\ndef python_files(root):\n    "


def slow_target() -> CostModel:
    """Costs of a target that takes ten seconds for a step, so that any draft model is quick.

    No wider step pays than one of three tokens: wider ones of these weights round otherwise, and a near tie in the text
    could fall the other way, which is no matter of the draft model.
    """
    return CostModel({1: 10.0, 2: 10.1, 3: 10.2, 4: 1000.0}, 100.0)


@pytest.fixture(scope="module")
def target(model_path: Path) -> Iterator[LlamaEngine]:
    engine = LlamaEngine.load(model_path, context_tokens=1024)
    yield engine
    engine.close()


@pytest.fixture(scope="module")
def draft(model_path: Path, target: LlamaEngine) -> Iterator[LlamaEngine]:
    engine = LlamaEngine.load(model_path, context_tokens=512, sequences=DRAFT_SEQUENCES, interrupt=target.interrupt)
    yield engine
    engine.close()


def complete(pipeline: Pipeline) -> Completion:
    request = CompletionRequest("a", TextSnapshot.of(BEFORE), len(BEFORE), language_for("python", ""))
    return pipeline.complete(request)


def test_a_model_as_its_own_draft_writes_the_same_text_in_fewer_steps(target: LlamaEngine, draft: LlamaEngine) -> None:
    completion = CompletionSettings(max_tokens=16)
    plain = complete(Pipeline(target, completion, cost=slow_target())).generation
    model = DraftModel(draft, VocabularyMatch(target, draft), CostModel({1: 0.1, 8: 0.4}, 90.0))
    pipeline = Pipeline(target, completion, cost=slow_target(), draft=model)
    complete(pipeline)
    drafted = complete(pipeline).generation  # of a prompt that is known: no draft rides with it
    assert plain is not None and drafted is not None
    assert drafted.tokens == plain.tokens
    assert drafted.steps < plain.steps
    assert pipeline.chain.counts()["model"].accepted >= len(plain.tokens) // 3


def test_one_interrupt_stops_both(target: LlamaEngine, draft: LlamaEngine) -> None:
    for set_by, stopped in [(target, draft), (draft, target)]:
        set_by.interrupt.set()
        with pytest.raises(CancelledError):
            stopped.decode(0, stopped.length(0), [1], 1)
        set_by.interrupt.clear()
        stopped.truncate(0, 0)
        stopped.decode(0, 0, [1], 1)
        stopped.truncate(0, 0)


def test_a_model_of_another_family_is_left_out_with_a_sentence(
    model_path: Path, other_model_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    settings = Settings(model=ModelSettings(str(model_path), context_tokens=1024, draft=str(other_model_path)))
    with caplog.at_level(logging.WARNING):
        pipeline = local_loader(settings, lambda fraction: None).load(lambda: False)
    try:
        assert "model" not in pipeline.chain.counts()
        assert pipeline.notice.startswith("Going on without a draft model: "), "the server shows it to the user"
    finally:
        pipeline.close()
    [message] = [record.getMessage() for record in caplog.records]
    assert message.startswith("Going on without a draft model: ")
    assert "it has another vocabulary, of which only 80% is the same" in message
    assert message.endswith("or leave the setting `model.draft` empty.")


def test_a_draft_model_that_cannot_be_loaded_is_left_out(
    model_path: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF")
    settings = Settings(model=ModelSettings(str(model_path), context_tokens=1024, draft=str(broken)))
    with caplog.at_level(logging.WARNING):
        pipeline = local_loader(settings, lambda fraction: None).load(lambda: False)
    pipeline.close()
    assert any(record.getMessage().startswith("Going on without a draft model: ") for record in caplog.records)


def test_a_draft_model_of_the_same_family_is_used(model_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    settings = Settings(model=ModelSettings(str(model_path), context_tokens=1024, draft=str(model_path)))
    with caplog.at_level(logging.WARNING):
        pipeline = local_loader(settings, lambda fraction: None).load(lambda: False)
    try:
        assert "model" in pipeline.chain.counts()
    finally:
        pipeline.close()
    assert not caplog.records
