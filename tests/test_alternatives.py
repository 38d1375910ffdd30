"""What the user may choose from beside the first text: different, in order, and without a trace in the first one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from spark_lsp.completion import CompletionRequest, Reason
from spark_lsp.decoding.cost_model import default_cost_model
from spark_lsp.documents.text import TextSnapshot
from spark_lsp.errors import CancelledError
from spark_lsp.pipeline import Pipeline
from spark_lsp.settings import CompletionSettings
from spark_lsp.syntax.languages import language_for
from tests.scripted_engine import ScriptedEngine

PYTHON = language_for("python", "")
SETTINGS = CompletionSettings(candidates=3, candidates_ms=60_000, deadline_ms=60_000)
FIRST = ["value = first(1)"]
SECOND = ["value = other(2)", "value = None", "value = 97531"]


def pipeline_of(engine: ScriptedEngine, settings: CompletionSettings = SETTINGS) -> Pipeline:
    return Pipeline(engine, settings, cost=default_cost_model())


def request(text: str, below: str = "") -> CompletionRequest:
    return CompletionRequest("doc", TextSnapshot.of(text + below), len(text), PYTHON, invoked=True)


def others(pipeline: Pipeline, place: CompletionRequest) -> tuple[str, ...]:
    first = pipeline.complete(place)
    found = pipeline.alternatives.complete(replace(place, beside=(first.text,)), lambda: False)
    assert found.reason is Reason.OTHERS
    return found.others


def test_the_next_best_beginnings_are_written_to_their_ends() -> None:
    assert others(pipeline_of(ScriptedEngine(FIRST, second=SECOND)), request("value = ")) == ("other(2)", "None")


@pytest.mark.parametrize(("candidates", "wanted"), [(1, 0), (2, 1), (4, 3), (9, 3)])
def test_the_setting_says_how_many_there_are_with_the_first(candidates: int, wanted: int) -> None:
    pipeline = pipeline_of(ScriptedEngine(FIRST, second=SECOND), replace(SETTINGS, candidates=candidates))
    assert len(others(pipeline, request("value = "))) == wanted


def test_without_time_there_are_none() -> None:
    pipeline = pipeline_of(ScriptedEngine(FIRST, second=SECOND), replace(SETTINGS, candidates_ms=0))
    assert others(pipeline, request("value = ")) == ()


def test_an_engine_without_a_sequence_to_spare_gives_none() -> None:
    assert others(pipeline_of(ScriptedEngine(FIRST, second=SECOND, sequences=3)), request("value = ")) == ()


def test_inside_a_word_they_go_on_from_what_is_typed() -> None:
    engine = ScriptedEngine(["self.width = 1"], second=["self.wish(2)", "self.window"])
    assert others(pipeline_of(engine), request("self.wi")) == ("sh(2)", "ndow")


@pytest.mark.parametrize(
    ("second", "wanted"),
    [
        (["value =  first(1)", "value = last"], ("last",)),
        (["value = f irst(1)", "value = last"], ("last",)),
        (["value = ", "value = last"], ("last",)),
        (["value = # end", "value = last"], ("# end", "last")),
    ],
    ids=["white space before", "white space inside", "nothing", "a comment is a text"],
)
def test_what_is_the_same_or_nothing_is_left_out(second: list[str], wanted: tuple[str, ...]) -> None:
    assert others(pipeline_of(ScriptedEngine(FIRST, second=second)), request("value = ")) == wanted


def test_they_go_through_the_rules_like_any_text() -> None:
    engine = ScriptedEngine(["f(first)"], second=["f(other)\nmore"])
    assert others(pipeline_of(engine), request("f(", ")\n")) == ("other",)


def test_guessed_ones_are_withheld() -> None:
    logits = dict.fromkeys("zyx", -2.0)
    engine = ScriptedEngine(FIRST, second=["value = zyxzyx", "value = None"], logits=logits)
    assert others(pipeline_of(engine), request("value = ")) == ("None",)


def test_the_cells_of_the_first_text_stay_and_nothing_is_left_of_the_others() -> None:
    engine = ScriptedEngine(FIRST, second=SECOND)
    pipeline = pipeline_of(engine)
    place = request("# what stands above it\nvalue = ")
    first = pipeline.complete(place)
    before = [list(cells) for cells in engine.cells]
    computed = pipeline.cache.prompt_tokens
    pipeline.alternatives.complete(replace(place, beside=(first.text,)), lambda: False)
    assert engine.cells == before
    assert pipeline.cache.prompt_tokens - computed <= 2, "the prompt is not computed again"


def test_a_cancelled_one_leaves_nothing_behind() -> None:
    engine = ScriptedEngine(FIRST, second=SECOND)
    pipeline = pipeline_of(engine)
    first = pipeline.complete(request("value = "))
    before, asked = [list(cells) for cells in engine.cells], iter([False] * 8)
    with pytest.raises(CancelledError):
        pipeline.alternatives.complete(replace(request("value = "), beside=(first.text,)), lambda: next(asked, True))
    assert engine.cells == before


def test_a_full_context_gives_what_there_was_room_for() -> None:
    engine = ScriptedEngine(FIRST, second=SECOND, context_length=64)
    text = "# a comment that fills the context\n" + "value = "
    place = request(text)
    settings = replace(SETTINGS, max_tokens=12)
    pipeline = pipeline_of(engine, settings)
    assert pipeline.complete(place).text == "first(1)"
    found = pipeline.alternatives.complete(replace(place, beside=("first(1)",)), lambda: False)
    assert found.others == ()
