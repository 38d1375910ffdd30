"""From a recipe to a file that llama.cpp loads."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from spark_lsp.decoding.llama import LlamaEngine
from spark_lsp.errors import EngineError
from spark_lsp.models.optimize import isolated, requantize
from spark_lsp.models.optimize.build import Ingredients, build, discard_drafts
from spark_lsp.models.optimize.gguf_source import open_source
from spark_lsp.models.optimize.recipes import Recipe

from .tiny_model import TEXT, write_tiny_model

CUT = Recipe("cut", vocabulary=290)
BODY = Recipe("cut+body", vocabulary=290, body="Q4_0")
ALL = Recipe("cut+all", vocabulary=290, body="Q4_0", head="IQ4_NL")
RECIPES = (CUT, BODY, ALL)


@pytest.fixture(autouse=True)
def _in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requantize, "run_job", lambda job: isolated._JOBS[job["kind"]](job))


@pytest.fixture
def ingredients(tmp_path: Path) -> Ingredients:
    model = write_tiny_model(tmp_path / "tiny.gguf")
    return Ingredients(model, open_source(model).traits)


def types_of(file: Path) -> dict[str, str]:
    return {tensor.name: tensor.type for tensor in open_source(file).traits.tensors if len(tensor.shape) > 1}


def test_exactly_the_tensors_of_the_recipe_have_new_types(ingredients: Ingredients, tmp_path: Path) -> None:
    built = build(BODY, ingredients, tmp_path, RECIPES)
    for name, kind in types_of(built).items():
        assert kind == ("Q4_0" if name.startswith("blk.") else "Q8_0")
    before = {tensor.name: tensor.data for tensor in open_source(tmp_path / "cut.gguf").reader.tensors}
    for tensor in open_source(built).reader.tensors:
        if not tensor.name.startswith("blk.") or tensor.name.endswith(("bias", "norm.weight")):
            assert np.array_equal(tensor.data, before[tensor.name])


def test_a_variant_loads_and_is_close_to_the_original(ingredients: Ingredients, tmp_path: Path) -> None:
    rows = []
    for path in (ingredients.original, build(Recipe("body", body="IQ4_NL"), ingredients, tmp_path, ())):
        engine = LlamaEngine.load(path, context_tokens=512, sequences=1, threads=1)
        tokens = engine.tokenize(TEXT)[:30]
        rows.append(engine.decode(0, 0, tokens, 1).row(0).copy())
        engine.close()
    assert 0.9 < np.corrcoef(*rows)[0, 1] < 1.0


def test_a_recipe_that_only_adds_the_head_starts_from_the_finished_body(
    ingredients: Ingredients, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    direct = build(ALL, ingredients, tmp_path, ()).read_bytes()
    (tmp_path / "cut+all.gguf").unlink()
    build(BODY, ingredients, tmp_path, RECIPES)
    jobs: list[str] = []
    run = requantize.run_job
    monkeypatch.setattr(requantize, "run_job", lambda job: (jobs.append(Path(job["source"]).name), run(job))[1])
    assert build(ALL, ingredients, tmp_path, RECIPES).read_bytes() == direct
    assert jobs == ["cut+body.gguf"]


def test_new_types_are_made_from_the_better_file_and_the_rest_is_as_the_publisher_chose(tmp_path: Path) -> None:
    model = write_tiny_model(tmp_path / "tiny.gguf", weights="Q5_0")
    better = write_tiny_model(tmp_path / "better.gguf", weights="F32")
    both = Ingredients(model, open_source(model).traits, better, open_source(better).traits)
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    direct = build(BODY, both, tmp_path / "a", ())
    assert {kind for name, kind in types_of(direct).items() if name.startswith("blk.")} == {"Q4_0"}
    assert types_of(direct)["token_embd.weight"] == "Q5_0"
    twice = build(BODY, Ingredients(model, both.traits), tmp_path / "b", ())
    assert direct.read_bytes() != twice.read_bytes()


def test_a_finished_variant_is_not_made_again(ingredients: Ingredients, tmp_path: Path) -> None:
    (tmp_path / "cut.gguf").write_bytes(b"finished")
    assert build(CUT, ingredients, tmp_path, RECIPES).read_bytes() == b"finished"


def test_what_fails_or_was_interrupted_leaves_no_file_under_the_final_name(
    ingredients: Ingredients, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(job: dict[str, str]) -> None:
        Path(job["target"]).write_bytes(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr(requantize, "run_job", broken)
    with pytest.raises(KeyboardInterrupt):
        build(BODY, ingredients, tmp_path, RECIPES)
    (tmp_path / "killed.gguf.partial").write_bytes(b"half")
    discard_drafts(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cut.gguf", "tiny.gguf"]


class TestIsolated:
    def test_a_job_runs_in_a_process_of_its_own(self, ingredients: Ingredients) -> None:
        resident = isolated.resident_bytes(ingredients.original, 512, 1)
        assert resident > 10_000_000

    def test_its_failure_is_one_sentence(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        answer = json.dumps({"error": "llama.cpp refused it.", "next_step": "Look again."})
        command = [sys.executable, "-c", f"print('noise'); print({answer!r})"]
        run = subprocess.run
        monkeypatch.setattr(subprocess, "run", lambda _, **options: run(command, **options))
        with pytest.raises(EngineError, match=r"^llama\.cpp refused it\. Look again\.$"):
            isolated.run_job({"kind": "probe"})

    def test_a_native_abort_is_an_error_of_that_job(self, monkeypatch: pytest.MonkeyPatch) -> None:
        command = [sys.executable, "-c", "import os; os.abort()"]
        run = subprocess.run
        monkeypatch.setattr(subprocess, "run", lambda _, **options: run(command, **options))
        with pytest.raises(EngineError, match="broke off"):
            isolated.run_job({"kind": "probe"})
