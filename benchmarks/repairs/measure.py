"""Asks for the repair of each seeded fault, applies it, and asks the linter again."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from benchmarks.repairs.faults import Seeded
from benchmarks.repairs.held_out import HELD_OUT
from benchmarks.repairs.linter import Finding, findings
from spark_lsp.documents.text import TextSnapshot
from spark_lsp.pipeline import Pipeline
from spark_lsp.repair import Fault, Outcome, RepairRequest, repair
from spark_lsp.syntax.languages import language_for

SECONDS = 600.0
"""Time for one fault: what is measured is what the model can do, however busy the machine."""


def measure(
    pipeline: Pipeline, faults: Sequence[Seeded], on_row: Callable[[dict[str, Any]], None]
) -> list[dict[str, Any]]:
    """Return one row for each fault, of plain values; `on_row` gets each as soon as it is there."""
    rows = []
    for fault in faults:
        row = _repaired(pipeline, fault)
        on_row(row)
        rows.append(row)
    return rows


def _repaired(pipeline: Pipeline, seeded: Seeded) -> dict[str, Any]:
    """Repair the first diagnostic that has a repair, as a user would who goes through them."""
    text = seeded.module()
    found = findings(text)
    if not found:
        raise ValueError(f"pyflakes finds nothing wrong with the fault {seeded.name!r}")
    begun, outcome, finding = time.monotonic(), Outcome(None), found[0]
    for finding in found:
        outcome = _ask(pipeline, text, finding)
        if outcome.edit is not None:
            break
    edit = outcome.edit
    changed = edit.applied(text) if edit is not None else text
    return {
        "fault": seeded.name,
        "held_out": seeded in HELD_OUT,
        "message": finding.message,
        "old": text[edit.start : edit.end] if edit is not None else None,
        "new": edit.text if edit is not None else None,
        "result": result(text, changed, finding, seeded.whole) if edit is not None else "none",
        "exact": changed == seeded.whole,
        "proven": outcome.proven,
        "sentence": outcome.sentence,
        "answers": outcome.answers,
        "tokens": outcome.tokens,
        "steps": outcome.steps,
        "seconds": time.monotonic() - begun,
    }


def _ask(pipeline: Pipeline, text: str, finding: Finding) -> Outcome:
    snapshot = TextSnapshot.of(text)
    start, end = snapshot.line_span(finding.line)
    offset = min(start + finding.column, end)
    # pyflakes knows no ends; its plug-ins for editors mark the rest of the line.
    fault = Fault(offset, end, finding.message)
    request = RepairRequest("module.py", snapshot, language_for("python", "module.py"), fault)
    return repair(pipeline, request, seconds=SECONDS)


def result(before: str, after: str, finding: Finding, right: str) -> str:
    """Return "removed", "stays", or "worse" where the linter finds what it does not find in the right module either.

    A syntax error hides everything else, so what comes to light when it is gone is compared with the right module.
    """
    left = Counter(one.message for one in findings(after))
    known = Counter(one.message for one in findings(before)) | Counter(one.message for one in findings(right))
    if left - known:
        return "worse"
    return "stays" if left[finding.message] >= known[finding.message] else "removed"
