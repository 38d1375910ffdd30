"""What is computed in advance is what would be answered, and nothing shows that it was computed."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spark_lsp.ahead import accepted
from spark_lsp.decoding.cost_model import default_cost_model
from spark_lsp.documents.text import TextSnapshot
from spark_lsp.errors import CancelledError
from spark_lsp.pipeline import Completion, CompletionRequest, Pipeline
from spark_lsp.settings import CompletionSettings
from spark_lsp.syntax.languages import language_for
from tests.scripted_engine import ReadingEngine, ScriptedEngine

PYTHON = language_for("python", "")
SCRIPT = ["name_7 = 7\nname_8 = 8\nname_9 = 9", "word(first)\nword(second)\nword(third)", "    return 1\n"]
SETTINGS = CompletionSettings(max_tokens=8, prefix_tokens=64, suffix_tokens=16, gate=False)
BODY = "value = 1\nother = compute(value)\nvalue = 2\nlast = 3\n"


@pytest.fixture(autouse=True)
def _time_to_parse(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine one of two pipelines might get a tree where the other gets none, and write something else."""
    monkeypatch.setattr("spark_lsp.pipeline.FIRST_PARSE_SECONDS", 60.0)
    monkeypatch.setattr("spark_lsp.background.PLAN_PARSE_SECONDS", 60.0)
    monkeypatch.setattr("spark_lsp.foresight.PLAN_PARSE_SECONDS", 60.0)


def request(text: str, cursor: int | None = None, document: str = "doc") -> CompletionRequest:
    return CompletionRequest(document, TextSnapshot.of(text), len(text) if cursor is None else cursor, PYTHON)


def settle(pipeline: Pipeline) -> None:
    while pipeline.idle(lambda: False):
        pass


def state(pipeline: Pipeline, engine: ScriptedEngine) -> dict[str, Any]:
    """Everything that a later request depends on."""
    return {
        "cells": [list(cells) for cells in engine.cells],
        "owners": list(pipeline.cache._owners.items()),
        "known": {sequence: (row.length, row.kept.tobytes()) for sequence, row in pipeline.cache._known.items()},
        "documents": {
            name: [
                (document.windows[:], document.slot, document.last, document.written, document.frozen),
                (document._used[:], document._small[:], document._planned, document._text, document._removed),
                document.parser._last.text if document.parser._last is not None else None,
            ]
            for name, document in pipeline._documents.items()
        },
        "drafts": (pipeline.chain.counts(), pipeline.chain._step),
        "costs": pipeline.cost.to_json(),
    }


def foresee(pipeline: Pipeline, wanted: CompletionRequest) -> Completion | None:
    return pipeline.foresight.foresee(wanted, lambda: False)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_the_real_requests_get_the_same_text_and_compute_as_much_with_and_without_it(data: st.DataObject) -> None:
    engines = [ReadingEngine(SCRIPT, context_length=1500, sequences=5) for _ in range(2)]
    pipelines = [Pipeline(engine, SETTINGS, cost=default_cost_model()) for engine in engines]
    texts = {name: "".join(f"name_{n} = {n}\n" for n in range(data.draw(st.integers(0, 40)))) for name in "ab"}
    for _ in range(data.draw(st.integers(1, 6), label="steps")):
        name = data.draw(st.sampled_from("ab"), label="document")
        typed = data.draw(st.sampled_from(["word(", "\n", "name_7", "x"]), label="typed")
        texts[name] += typed
        place = request(texts[name], document=name)
        with_it, without = (pipeline.complete(place) for pipeline in pipelines)
        assert with_it.generation is not None and without.generation is not None
        assert with_it.text == without.text
        assert with_it.generation.prompt_tokens == without.generation.prompt_tokens
        for pipeline in pipelines:
            settle(pipeline)
        before = state(pipelines[0], engines[0])
        if data.draw(st.booleans(), label="interrupted"):
            engines[0].interrupt_after(data.draw(st.integers(0, 6)), data.draw(st.integers(0, 8)))
        next_place = accepted(place, with_it.text or "word(first)")
        with contextlib.suppress(CancelledError):
            completion = foresee(pipelines[0], next_place)
            if completion is not None and data.draw(st.booleans(), label="twice"):
                foresee(pipelines[0], accepted(next_place, completion.text))
        engines[0].interrupt_after(None)
        assert state(pipelines[0], engines[0]) == before
        if data.draw(st.booleans(), label="accept"):
            texts[name] = next_place.snapshot.text


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 40), st.sampled_from(["word(", "name_7 = ", ""]), st.booleans())
def test_it_is_what_is_answered_once_the_suggestion_was_accepted(lines: int, typed: str, drafting: bool) -> None:
    engine = ReadingEngine(SCRIPT, context_length=2000, sequences=5)
    options = CompletionSettings(max_tokens=8, prefix_tokens=64, suffix_tokens=16, gate=False, drafting=drafting)
    pipeline = Pipeline(engine, options, cost=default_cost_model())
    place = request("".join(f"name_{n} = {n}\n" for n in range(lines)) + typed)
    first = pipeline.complete(place)
    settle(pipeline)
    following = accepted(place, first.text)
    foreseen = foresee(pipeline, following)
    assert foreseen is not None
    real = pipeline.complete(following)
    assert (real.text, real.if_invoked, real.reason) == (foreseen.text, foreseen.if_invoked, foreseen.reason)


def test_accepting_one_line_after_the_other_was_foreseen() -> None:
    pipeline = Pipeline(ScriptedEngine([BODY]), CompletionSettings(), cost=default_cost_model())
    place = request("value = ")
    text = pipeline.complete(place).text
    settle(pipeline)
    written = [text]
    for _ in range(3):
        place = accepted(place, text)
        completion = foresee(pipeline, place)
        assert completion is not None
        text = completion.text
        written.append(text)
    assert "value = " + "".join(written) == BODY.rstrip()


@pytest.mark.parametrize(
    ("name", "lines", "sequences", "settled"),
    [
        ("idle time has not chosen the window yet", 200, 5, False),
        ("the engine has no sequence to spare", 3, 4, True),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_it_is_not_known_where(name: str, lines: int, sequences: int, settled: bool) -> None:
    engine = ScriptedEngine([BODY], sequences=sequences)
    pipeline = Pipeline(engine, CompletionSettings(), cost=default_cost_model())
    place = request("a = 1\n" * lines + "value = ")
    text = pipeline.complete(place).text
    if settled:
        settle(pipeline)
    assert foresee(pipeline, accepted(place, text)) is None


def test_a_place_that_begins_a_new_window_is_left_to_the_request() -> None:
    pipeline = Pipeline(ScriptedEngine([BODY]), CompletionSettings(), cost=default_cost_model())
    text = "a = 1\n" * 300
    pipeline.complete(request(text))
    settle(pipeline)
    assert foresee(pipeline, request(text, len(text) // 2)) is None
    assert foresee(pipeline, request(text, document="unknown")) is None


def test_where_there_is_no_room_it_gives_up_and_nobody_is_evicted() -> None:
    engine = ScriptedEngine([BODY], context_length=600)
    pipeline = Pipeline(engine, CompletionSettings(prefix_tokens=32, suffix_tokens=0), cost=default_cost_model())
    place = request("value = ")
    text = pipeline.complete(place).text
    pipeline.complete(request("b = 2\n" * 50 + "value = ", document="other"))
    pipeline.complete(place)
    settle(pipeline)
    held = sum(map(len, engine.cells))
    engine.info = type(engine.info)("scripted", held + 4, 256, 33, 5, True, saves=True)
    before = state(pipeline, engine)
    assert foresee(pipeline, accepted(place, text)) is None
    assert state(pipeline, engine) == before
