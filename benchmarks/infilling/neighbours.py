"""The one place that knows how the pipeline gets to see other files."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.infilling.tasks import OtherFile
from spark_lsp.pipeline import Pipeline

SEES_OTHER_FILES = False
"""Whether `Pipeline` has a way to put text of other open documents into the prompt. Then `open_beside` uses it."""


def open_beside(pipeline: Pipeline, others: Sequence[OtherFile]) -> None:
    """Show the pipeline `others` as documents that the editor has open beside the one to be completed.

    At present they only serve as drafts, which do not change the text.
    """
    for other in others:
        pipeline.workspace.read(other.path, other.text)


def close_beside(pipeline: Pipeline, others: Sequence[OtherFile]) -> None:
    """Take back what `open_beside` did, so that the next task and the way without other files know nothing of it."""
    if others:
        pipeline.workspace.enable(False)
        pipeline.workspace.enable(True)
