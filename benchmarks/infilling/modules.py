"""Lets the pipeline know the modules that a task imports, as the server does for an open document."""

from __future__ import annotations

import sys
from pathlib import Path

from benchmarks.infilling.tasks import Task
from spark_lsp.pipeline import Pipeline
from spark_lsp.server.interpreters import environment, interpreter_of
from spark_lsp.server.module_reader import ModuleReader
from spark_lsp.syntax.languages import language_for

_READER = ModuleReader()


def index_modules(pipeline: Pipeline, task: Task) -> None:
    """Index what the task's document imports from the environment of this process and the standard library."""
    if language_for(task.language, task.path).name == "python":
        interpreter = environment(Path(sys.prefix)) or interpreter_of([])
        pipeline.names.use(task.path, _READER.library(None, task.before + task.after, [], interpreter))
