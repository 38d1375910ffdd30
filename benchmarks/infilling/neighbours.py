"""The one place that knows how the pipeline gets to see other files.

It is looked up at run time, so that a version of the program without that stage can be measured too.
"""

from __future__ import annotations

import dataclasses
import importlib
import importlib.util
from typing import Any

from benchmarks.infilling.tasks import Task
from spark_lsp import settings
from spark_lsp.documents.text import TextSnapshot
from spark_lsp.pipeline import Pipeline
from spark_lsp.syntax.languages import language_for

_STAGE = "spark_lsp.context.sources"
SEES_OTHER_FILES = importlib.util.find_spec(_STAGE) is not None
"""Whether this version can put text of other files into the prompt."""
NOT_A_PART = "exclusions"
"""The setting of the context that adds nothing to the prompt."""

Parts = tuple[str, ...] | None
"""Which parts of the context are on; None for the defaults."""


def known_parts() -> list[str]:
    """Return the parts of the context that can be on or off; empty where this version has none."""
    if not SEES_OTHER_FILES:
        return []
    return [field.name for field in dataclasses.fields(_settings(None)) if field.name != NOT_A_PART]


def open_beside(pipeline: Pipeline, task: Task, parts: Parts) -> None:
    """Show the pipeline the other files of a task as documents that are open and imported, with these parts on.

    What idle time would prepare of them is prepared.
    """
    if not SEES_OTHER_FILES:
        return
    _replace_sources(pipeline, parts)
    write(pipeline, task, task.before)
    sources: Any = pipeline.sources  # type: ignore[attr-defined]
    for other in task.others:
        sources.put(_source(task, other.path, other.text), other.path)
    sources.link(task.path, [other.path for other in task.others])
    while sources.work(task.path):
        pass


def write(pipeline: Pipeline, task: Task, before: str) -> None:
    """Tell the pipeline that the task's own document now has `before` in front of the cursor."""
    if SEES_OTHER_FILES:
        pipeline.sources.put(_source(task, task.path, before + task.after), task.path)  # type: ignore[attr-defined]


def close_beside(pipeline: Pipeline) -> None:
    """Close every document, so that the next task knows nothing of this one."""
    if SEES_OTHER_FILES:
        _replace_sources(pipeline, None)


def _replace_sources(pipeline: Pipeline, parts: Parts) -> None:
    stage: Any = importlib.import_module(_STAGE)
    pipeline.sources = stage.ContextSources(_settings(parts))  # type: ignore[attr-defined]


def _settings(parts: Parts) -> Any:
    defaults: Any = settings.ContextSettings()  # type: ignore[attr-defined]
    if parts is None:
        return defaults
    names = [field.name for field in dataclasses.fields(defaults) if field.name != NOT_A_PART]
    return dataclasses.replace(defaults, **{name: name in parts for name in names})


def _source(task: Task, path: str, text: str) -> Any:
    stage: Any = importlib.import_module(_STAGE)
    language = language_for(task.language, path)
    return stage.SourceText(path, path, task.group, language, TextSnapshot.of(text))
