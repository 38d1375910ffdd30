"""Tasks and records as the benchmark has them, with values that are easy to compute with."""

from __future__ import annotations

from typing import Any

from benchmarks.infilling.tasks import Cut, Task


def task(marked: str, answer: str, cut: Cut = Cut.NONE, **more: Any) -> Task:
    """A task of a document in which ``█`` is the cursor."""
    before, _, after = marked.partition("█")
    values = {"set": "span-light", "id": "t", "group": "g", "language": "python", "path": "t.py", **more}
    return Task(before=before, after=after, answer=answer, cut=cut, **values)


def record(number: int, way: str, *, exact: bool, name: str = "random-column", **more: Any) -> dict[str, Any]:
    """An answer that breaks nothing."""
    values: dict[str, Any] = {
        "set": name,
        "id": str(number),
        "group": str(number),
        "language": "python",
        "way": way,
        "text": "x",
        "reason": "shown",
        "shown": True,
        "exact": exact,
        "probabilities": [0.5],
    }
    values |= dict.fromkeys(("adds_error", "leaves_error", "duplicates", "unbalanced"), False)
    return {**values, **more}


def infilling_run(records: list[dict[str, Any]]) -> dict[str, Any]:
    """What `python -m benchmarks.infilling --json` writes, as read back from the file."""
    return {
        "benchmark": "infilling",
        "machine": {"cpu": "abacus", "cores": 2},
        "model": "/models/small.gguf",
        "run": "seed 0",
        "cuts": {"random-column": ["line end"]},
        "packages": 3,
        "records": records,
    }
