"""HumanEval-Infilling: lines, several lines and random spans of 164 Python functions with tests."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.infilling.tasks import Cut, Task, sample

FOLDER = "human-eval-infilling"
FILES = {
    "single": "HumanEval-SingleLineInfilling.jsonl.gz",
    "random-column": "HumanEval-SingleLineInfilling.jsonl.gz",
    "multi": "HumanEval-MultiLineInfilling.jsonl.gz",
    "span-light": "HumanEval-RandomSpanInfillingLight.jsonl.gz",
}
CUTS = {
    "single": Cut.FIRST_LINE,
    "random-column": Cut.LINE_END,
    "multi": Cut.NONE,
    "span-light": Cut.NONE,
}
SHORTEST_LINE = 4
"""Characters of code in a line that is cut at a column; of a shorter one nothing is left to write."""


def read_rows(file: Path) -> list[dict[str, Any]]:
    """Return the objects of a compressed JSON-lines file; SystemExit if it is not there or is something else."""
    try:
        with gzip.open(file, "rt", encoding="utf-8", newline="") as lines:
            return [json.loads(line) for line in lines if line.strip()]
    except OSError as error:
        raise SystemExit(f"{file} cannot be read ({error.strerror or error}). Does --data name the folder?") from None
    except (ValueError, EOFError):
        raise SystemExit(f"{file} is not a compressed JSON-lines file.") from None


def humaneval_tasks(data: Path, name: str, count: int, seed: int) -> list[Task]:
    """Return the sampled tasks of the set `name`, one of `FILES`."""
    rows = read_rows(data / FOLDER / FILES[name])
    if name == "random-column":
        rows = [row for row in rows if len(row["canonical_solution"].strip()) >= SHORTEST_LINE]
    return [_task(name, row, seed) for row in sample(rows, count, seed, name)]


def _task(name: str, row: dict[str, Any], seed: int) -> Task:
    before, answer, after = row["prompt"], row["canonical_solution"], row["suffix"]
    whole_lines = name != "span-light"
    if whole_lines:
        answer, after = answer.removesuffix("\n"), "\n" + after
    if name == "random-column":
        column = random_column(answer, f"{seed} {row['task_id']}")
        before, answer, whole_lines = before + answer[:column], answer[column:], False
    return Task(
        set=name,
        id=row["task_id"],
        group=problem(row["task_id"]),
        language="python",
        path="solution.py",
        before=before,
        after=after,
        answer=answer,
        cut=CUTS[name],
        whole_lines=whole_lines,
        tests="" if name == "random-column" else f"\n{row['test']}\ncheck({row['entry_point']})\n",
    )


def random_column(line: str, seed: str) -> int:
    """Return a column of the code of `line`: any from its first character to its last, so that one at least is left."""
    code = line.rstrip()
    start = len(code) - len(code.lstrip())
    return Random(seed).randrange(start, len(code))


def problem(task_id: str) -> str:
    """Return the problem that a task such as ``SingleLineInfilling/HumanEval/0/L3`` was made of."""
    parts = task_id.split("/")
    return "/".join(parts[1:3]) if len(parts) > 2 else task_id
