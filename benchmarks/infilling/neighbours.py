"""How the pipeline gets to see the other files of a task: as documents that are open and imported."""

from __future__ import annotations

from benchmarks.infilling.tasks import Task
from spark_lsp.context.sources import ContextSources, SourceText
from spark_lsp.documents.text import TextSnapshot
from spark_lsp.pipeline import Pipeline
from spark_lsp.settings import ContextSettings
from spark_lsp.syntax.languages import language_for

PARTS = ("definitions", "recent", "snippets")
"""The parts of the context that come from other files, by the names of their settings."""

Parts = tuple[str, ...] | None
"""Which of them are on; None for the defaults."""


def open_beside(pipeline: Pipeline, task: Task, parts: Parts) -> None:
    """Show the pipeline the other files of a task, with these parts on.

    What idle time would prepare of them is prepared.
    """
    pipeline.sources = ContextSources(_settings(parts))
    write(pipeline, task, task.before)
    for other in task.others:
        pipeline.sources.put(_source(task, other.path, other.text), other.path)
    pipeline.sources.link(task.path, [other.path for other in task.others])
    while pipeline.sources.work(task.path):
        pass


def write(pipeline: Pipeline, task: Task, before: str) -> None:
    """Tell the pipeline that the task's own document now has `before` in front of the cursor."""
    pipeline.sources.put(_source(task, task.path, before + task.after), task.path)


def close_beside(pipeline: Pipeline) -> None:
    """Close every document, so that the next task knows nothing of this one."""
    pipeline.sources = ContextSources(ContextSettings())


def _settings(parts: Parts) -> ContextSettings:
    if parts is None:
        return ContextSettings()
    return ContextSettings(definitions="definitions" in parts, recent="recent" in parts, snippets="snippets" in parts)


def _source(task: Task, path: str, text: str) -> SourceText:
    return SourceText(path, path, task.group, language_for(task.language, path), TextSnapshot.of(text))
