"""What the real model invents of a class that it cannot see is replaced by what the class has."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from spark_lsp.completion import CompletionRequest
from spark_lsp.decoding.cost_model import default_cost_model
from spark_lsp.decoding.llama import LlamaEngine
from spark_lsp.documents.text import TextSnapshot
from spark_lsp.pipeline import Pipeline
from spark_lsp.server.interpreters import interpreter_of
from spark_lsp.server.module_reader import ModuleReader
from spark_lsp.settings import CompletionSettings
from spark_lsp.syntax.languages import language_for

pytestmark = pytest.mark.model

SHAPES = "class Circle:\n    def __init__(self, r):\n        self.r = r\n\n    def get_perimeter(self): ...\n"
MAIN = 'from shapes import Circle\n\ncircle = Circle(3)\nprint("perimeter", circle.'


def test_an_invented_method_is_replaced_by_one_that_exists(model_path: Path, tmp_path: Path) -> None:
    (tmp_path / "shapes.py").write_text(SHAPES)
    settings = CompletionSettings(snapshots=False, max_tokens=16)
    pipeline = Pipeline(LlamaEngine.load(model_path), settings, cost=default_cost_model())
    python = language_for("python", "")
    request = CompletionRequest("main", TextSnapshot.of(MAIN + "\n"), len(MAIN), python, patient=True)
    try:
        pipeline.configure(dataclasses.replace(settings, names=False))
        assert pipeline.complete(request).text.startswith("perimeter")
        pipeline.configure(settings)
        assert pipeline.complete(request).text.startswith("perimeter"), "nothing is known of the module yet"
        library = ModuleReader().library(tmp_path / "main.py", MAIN, [tmp_path], interpreter_of([tmp_path]))
        pipeline.names.use("main", library)
        completion = pipeline.complete(request)
    finally:
        pipeline.close()
    assert completion.text.startswith("get_perimeter()")
    assert completion.generation is not None
    assert (completion.generation.replaced_names, completion.generation.unknown_names) == (1, ())
