"""Making the importance of a model's weights, once for all recipes that give them new types."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

from spark_lsp.errors import EngineError
from spark_lsp.models.optimize.events import Activity, Report
from spark_lsp.models.optimize.isolated import run_job
from spark_lsp.models.optimize.journal import ORIGINAL
from spark_lsp.models.optimize.sample import Sample
from spark_lsp.models.progress import Notice

FILE = "importance.npz"
TEXTS = 32
"""Held-out texts that are read, about 220 tokens each: two minutes on two cores with the 0.5B model."""


def importance_file(model: Path, sample: Sample, skipped: int, folder: Path, report: Report) -> Path | None:
    """Return the file in `folder`, made unless it is there; None where llama.cpp does not show what it computes.

    The first `skipped` held-out texts are left out: variants are judged by them.
    """
    path = folder / FILE
    if path.exists():
        return path
    report(Activity(0, 0, ORIGINAL, "importance of its weights", 0, 1))
    texts = [text for _, text in islice(sample.held_out(skipped + TEXTS), skipped, None)]
    draft = path.with_suffix(".partial")
    job = {"kind": "importance", "model": str(model), "texts": texts, "target": str(draft), "threads": 0}
    try:
        found = run_job(job)["matrices"]
        if not found:
            raise EngineError("No matrix was seen.")
        draft.replace(path)
    except EngineError as error:
        report(Notice(f"New types are rounded without the importance of weights. {error.sentence}"))
        return None
    finally:
        draft.unlink(missing_ok=True)
    return path
