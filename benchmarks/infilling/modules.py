"""Lets the pipeline know the modules that a task imports, as the server does for an open document."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.infilling.tasks import Task
from spark_lsp.pipeline import Pipeline
from spark_lsp.server.interpreters import environment, interpreter_of
from spark_lsp.server.module_reader import ModuleReader
from spark_lsp.syntax.languages import language_for

_READER = ModuleReader()


def index_modules(pipeline: Pipeline, task: Task) -> None:
    """Index what the document imports from the other files, the environment of this process, the standard library.

    The other files are those of a workspace, and its own package is not looked for in the environment: there the
    document has no hole.
    """
    if language_for(task.language, task.path).name != "python":
        return
    interpreter = environment(Path(sys.prefix)) or interpreter_of([])
    text = task.before + task.after
    if not task.others:
        pipeline.names.use(task.path, _READER.library(None, text, [], interpreter))
        return
    own = frozenset(Path(path).parts[0] for path in (task.path, *(other.path for other in task.others)))
    with TemporaryDirectory() as name:
        workspace = Path(name).resolve()
        for other in task.others:
            file = workspace / other.path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(other.text.encode())
        interpreter = dataclasses.replace(interpreter, hidden=own)
        library = _READER.library(workspace / task.path, text, [workspace], interpreter)
    pipeline.names.use(task.path, library)
