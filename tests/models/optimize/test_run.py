"""A whole run on a tiny model file, its interruption and its failures. The engine is a scripted one."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path

import pytest
from filelock import FileLock

from spark_lsp.decoding.engine import Engine
from spark_lsp.errors import ModelError, ModelLoadError
from spark_lsp.models.disk import NotEnoughRoomError
from spark_lsp.models.optimize import bench, importance, isolated, requantize, run
from spark_lsp.models.optimize.events import Activity
from spark_lsp.models.optimize.gguf_source import open_source
from spark_lsp.models.optimize.recipes import Recipe
from spark_lsp.models.optimize.session import Amount, Options, Result, run_session
from spark_lsp.models.optimize.speed import Speed
from spark_lsp.models.optimize.variants import kept_variant
from spark_lsp.models.optimize.work_folder import work_path
from spark_lsp.models.progress import Notice
from tests.scripted_engine import ScriptedEngine

from .tiny_model import TEXT, write_tiny_model

RECIPES = (
    Recipe("cut", vocabulary=290),
    Recipe("cut+body", vocabulary=290, body="Q4_0"),
    Recipe("too short", vocabulary=100_000),
)
OPTIONS = Options(Amount(tasks=90, texts=1, rounds=1), max_loss=20.0)
"""The engine completes nothing, so nothing is lost; 90 tasks show that to about five points."""
SPEEDS = {"cut": 1.2, "cut+body": 1.6}


class NamedEngine(ScriptedEngine):
    """Knows nothing but which file it stands for."""

    def __init__(self, path: Path) -> None:
        super().__init__(words=())
        self.path = path

    def tokenize(self, text: str) -> list[int]:
        return list(text.encode())


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A tiny model and a little code; speeds are given, and children run in this process."""
    code = tmp_path / "code"
    code.mkdir()
    for number in range(30):
        (code / f"module_{number}.py").write_text(TEXT * 3 + f"VALUE = {number}\n")
    monkeypatch.setattr("sysconfig.get_path", lambda name: str(code))
    monkeypatch.setattr(isolated, "resident_bytes", lambda path, *_: path.stat().st_size)
    for module in (requantize, importance):
        monkeypatch.setattr(module, "run_job", lambda job: isolated._JOBS[job["kind"]](job))

    def speeds(engines: list[NamedEngine], text: str, rounds: int) -> list[Speed]:
        gains = [1.0, SPEEDS[engines[1].path.stem]]
        return [Speed(100 * gain, dict.fromkeys((1, 4, 16), 0.1 / gain)) for gain in gains]

    monkeypatch.setattr(bench, "compare", speeds)
    return write_tiny_model(tmp_path / "tiny.gguf")


class Watch:
    """A report that remembers, and presses Ctrl-C at a given activity."""

    def __init__(self, stop_at: tuple[str, str, int] | None = None) -> None:
        self.seen: list[Activity] = []
        self.notices: list[str] = []
        self.stop_at = stop_at

    def __call__(self, event: Activity | Notice) -> None:
        if isinstance(event, Notice):
            self.notices.append(event.sentence)
            return
        self.seen.append(event)
        if self.stop_at == (event.recipe, event.work, event.done):
            raise KeyboardInterrupt

    def works(self, recipe: str) -> list[str]:
        return [event.work for event in self.seen if event.recipe == recipe]


def optimized(model: Path, watch: Watch, options: Options = OPTIONS) -> Result:
    return run_session(model, options, watch, known=RECIPES, load=NamedEngine)


def test_the_fastest_variant_is_kept_and_everything_else_goes(model: Path) -> None:
    watch = Watch()
    result = optimized(model, watch)
    variant = kept_variant(model)
    assert variant is not None
    assert variant == result.outcome.variant
    manifest = variant.manifest
    assert (manifest.recipe, manifest.loss, manifest.tasks) == ("cut+body", 0.0, result.outcome.measured[1].loss.tasks)
    assert manifest.gains == pytest.approx({"prompt": 1.6, "1": 1.6, "4": 1.6, "16": 1.6})
    assert manifest.loss_high < OPTIONS.max_loss
    assert {"Q4_0", "Q8_0"} <= {tensor.type for tensor in open_source(variant.path).traits.tensors}
    assert [path.name for path in work_path(model).glob("*.gguf")] == []
    cut = next(m for m in result.outcome.measured if m.recipe == "cut")
    assert cut.agreement == 100.0
    assert result.skipped == {"too short": "the vocabulary has only 330 tokens"}
    assert any("too short is skipped" in notice for notice in watch.notices)


def test_keep_all_leaves_every_variant(model: Path) -> None:
    optimized(model, Watch(), dataclasses.replace(OPTIONS, keep_all=True))
    assert [path.name for path in work_path(model).glob("*.gguf")] == ["cut.gguf"]
    assert kept_variant(model) is not None


def test_nothing_is_kept_when_the_sample_cannot_show_the_bound(model: Path) -> None:
    result = optimized(model, Watch(), dataclasses.replace(OPTIONS, max_loss=0.5))
    assert result.outcome.variant is None
    assert kept_variant(model) is None
    assert not any(m.complete for m in result.outcome.measured), "no time is spent on what cannot be shown"


@pytest.mark.parametrize(
    ("stop_at", "not_again"),
    [
        (("cut+body", "building", 0), [("original", "infilling"), ("cut", "infilling"), ("cut", "building")]),
        (("cut+body", "infilling", 10), [("cut+body", "memory"), ("cut+body", "next tokens"), ("cut", "building")]),
    ],
    ids=["before a variant", "in the middle of one"],
)
def test_an_interrupted_run_goes_on_where_it_stopped(
    model: Path, stop_at: tuple[str, str, int], not_again: list[tuple[str, str]], tmp_path: Path
) -> None:
    interrupted = Watch(stop_at)
    with pytest.raises(KeyboardInterrupt):
        optimized(model, interrupted)
    assert kept_variant(model) is None
    watch = Watch()
    result = optimized(model, watch)
    assert any("earlier run" in notice for notice in watch.notices)
    for recipe, work in not_again:
        assert work not in [e.work for e in watch.seen if e.recipe == recipe and e.done == 0]
    whole = optimized(write_tiny_model(tmp_path / "again.gguf"), Watch())
    assert result.outcome.measured == whole.outcome.measured


def test_a_larger_sample_adds_to_the_smaller_one(model: Path) -> None:
    optimized(model, Watch())
    watch = Watch()
    result = optimized(model, watch, dataclasses.replace(OPTIONS, amount=Amount(tasks=120, texts=1, rounds=1)))
    assert min(e.done for e in watch.seen if e.work == "infilling") >= 20
    assert result.outcome.variant is not None
    assert result.outcome.variant.manifest.tasks > 100


def test_a_variant_that_does_not_load_costs_only_itself(model: Path) -> None:
    def load(path: Path) -> Engine:
        if path.name == "cut+body.gguf":
            raise ModelLoadError("llama.cpp could not load it.")
        return NamedEngine(path)

    result = run_session(model, OPTIONS, Watch(), known=RECIPES, load=load)
    assert result.outcome.failed == {"cut+body": "llama.cpp could not load it."}
    assert result.outcome.variant is not None
    assert result.outcome.variant.manifest.recipe == "cut"
    assert optimized(model, Watch()).outcome.failed == {}


def test_the_room_is_counted_before_anything_is_written(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def none(folder: Path, needed: int) -> None:
        assert needed > 100_000
        raise NotEnoughRoomError(28, "2.0 GB are needed and 1.0 GB are free")

    monkeypatch.setattr(run, "require_room", none)
    with pytest.raises(ModelError, match=r"not enough room.*2 variants: 2\.0 GB are needed"):
        optimized(model, Watch())
    assert list(work_path(model).glob("*.gguf")) == []


def test_a_disk_that_fills_up_is_one_sentence(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("spark_lsp.models.optimize.build.write_trimmed", full)
    with pytest.raises(ModelError, match=r"is full.*what is finished is kept"):
        optimized(model, Watch())


@pytest.fixture
def another_process(model: Path) -> Iterator[None]:
    work_path(model).mkdir()
    with FileLock(work_path(model) / ".lock"):
        yield


@pytest.mark.usefixtures("another_process")
def test_two_runs_on_one_model_exclude_each_other(model: Path) -> None:
    with pytest.raises(ModelError, match="Another process"):
        optimized(model, Watch())


def test_a_model_without_any_recipe_says_why(model: Path) -> None:
    other = write_tiny_model(model.with_name("sentencepiece.gguf"), kind="llama")
    with pytest.raises(ModelError, match="not byte-pair"):
        run_session(other, OPTIONS, Watch(), known=RECIPES[:1])
