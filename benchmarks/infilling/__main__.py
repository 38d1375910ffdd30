"""`python -m benchmarks.infilling --data DIR`: how often what is written is right, against the raw model.

Every task goes through the raw model (plain prompt, greedy, the whole prefix and suffix, cut as is usual for the data
set) and through `Pipeline.complete` as it is when the user asks for a completion, by turns, in one process. DIR
holds `human-eval-infilling/` and `safim/` as they are published; the set `packages` needs no data. Ctrl-C ends a run,
`--resume` continues it.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

from benchmarks.command import carry_out
from benchmarks.infilling import humaneval, packages, safim
from benchmarks.infilling.journal import Journal, JournalError, code_digest, journal_path
from benchmarks.infilling.neighbours import PARTS as FILE_PARTS
from benchmarks.infilling.report import render
from benchmarks.infilling.scoring import score
from benchmarks.infilling.tasks import Task
from benchmarks.infilling.ways import NAMED_PARTS, Runner, Way, context_ways, ways
from benchmarks.machine import machine
from spark_lsp.decoding.cost_model import SteadyCostModel
from spark_lsp.decoding.llama import LlamaEngine
from spark_lsp.errors import SparkError
from spark_lsp.models.catalogue import DEFAULT_MODEL
from spark_lsp.models.store import resolve
from spark_lsp.pipeline import Pipeline

COUNTS = {
    "single": 300,
    "random-column": 300,
    "multi": 150,
    "span-light": 164,
    "safim-api": 310,
    "safim-control": 150,
    "safim-block": 150,
    packages.NAME: 200,
}
"""Tasks of each set unless --tasks says otherwise; of the last two of SAFIM, of each language."""
PROGRESS_TASKS = 10


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.infilling", description=__doc__)
    parser.add_argument("--data", type=Path, help="the folder of the data sets")
    parser.add_argument("--model", default=DEFAULT_MODEL, help="catalogue name or path")
    parser.add_argument("--sets", help=f"some of {', '.join(COUNTS)} (default: all but the last)")
    parser.add_argument("--tasks", type=int, help="tasks of a set; of safim-control and -block, of each language")
    named = ", ".join(NAMED_PARTS)
    parser.add_argument("--without", default="", help=f"also the pipeline without {named} or a setting, with commas")
    files = ", ".join(FILE_PARTS)
    parser.add_argument("--with", dest="context", default="", help=f"packages also with {files}; with commas and +")
    parser.add_argument("--seed", type=int, default=0, help="chooses tasks and columns (default 0)")
    parser.add_argument("--json", type=Path, help="also write every answer to this file")
    parser.add_argument("--resume", action="store_true", help="continue the run whose journal is beside that file")
    chosen = parser.parse_args()
    names = [name for name in COUNTS if name != packages.NAME] if chosen.sets is None else chosen.sets.split(",")
    if not names or set(names) - set(COUNTS):
        parser.error("--sets is made of " + ", ".join(COUNTS))
    if set(names) - {packages.NAME} and chosen.data is None:
        parser.error("--data names the folder of the data sets; only the set packages needs none")
    if chosen.tasks is not None and chosen.tasks < 1:
        parser.error("--tasks is at least 1")
    if chosen.resume and chosen.json is None:
        parser.error("--resume needs --json, beside which the journal is kept")
    chosen.sets = list(dict.fromkeys(names))
    try:
        chosen.ways = ways([part for part in chosen.without.split(",") if part])
        chosen.context_ways = context_ways([part for part in chosen.context.split(",") if part])
    except ValueError as error:
        parser.error(str(error))
    return chosen


def tasks_of(name: str, chosen: argparse.Namespace) -> list[Task]:
    count = COUNTS[name] if chosen.tasks is None else chosen.tasks
    if name == packages.NAME:
        return packages.package_tasks(count, chosen.seed)
    if name in safim.FILES:
        return safim.safim_tasks(chosen.data, name, count, chosen.seed)
    return humaneval.humaneval_tasks(chosen.data, name, count, chosen.seed)


def ways_of(name: str, chosen: argparse.Namespace) -> list[Way]:
    """Return how the tasks of a set are completed; the raw model would read whole modules for minutes, and no other."""
    if name == packages.NAME:
        return [way for way in (*chosen.ways, *chosen.context_ways) if not way.raw]
    return list(chosen.ways)


def measure(runner: Runner, plan: dict[str, list[Task]], chosen: argparse.Namespace, journal: Journal) -> None:
    """Complete what the journal does not have yet, every way first in its turn."""
    for name, tasks in plan.items():
        own = ways_of(name, chosen)
        right: Counter[str] = Counter()
        for number, task in enumerate(tasks):
            for turn in range(len(own)):
                way = own[(number + turn) % len(own)]
                record = journal.records.get((task.set, task.id, way.name))
                if record is None:
                    record = score(task, way, runner.answer(task, way))
                    journal.add(record)
                right[way.name] += bool(record.get("passed", record["exact"]))
            done = number + 1
            if done % PROGRESS_TASKS == 0 or done == len(tasks):
                shares = ", ".join(f"{way.name} {right[way.name] / done:.0%}" for way in own)
                progress(f"{name} {done} of {len(tasks)}, right: {shares}")


def measured(chosen: argparse.Namespace, plan: dict[str, list[Task]], journal: Journal) -> dict[str, Any]:
    """Return what the JSON file holds."""
    wanted = [(name, task.id, way.name) for name in plan for task in plan[name] for way in ways_of(name, chosen)]
    extent = ", ".join(f"{name} {len(tasks)}" for name, tasks in plan.items())
    return {
        "benchmark": "infilling",
        "machine": machine(),
        "model": chosen.model,
        "run": f"seed {chosen.seed}, tasks: {extent}",
        "cuts": {name: sorted({task.cut.value for task in tasks}) for name, tasks in plan.items()},
        "packages": len({task.group for task in plan.get(packages.NAME, ())}),
        "records": [journal.records[key] for key in wanted if key in journal.records],
    }


def progress(text: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)


def run(chosen: argparse.Namespace) -> dict[str, Any]:
    """Return what was measured. Raises SparkError, JournalError and KeyboardInterrupt."""
    path = resolve(chosen.model)
    about = {"model": f"{path.name} {path.stat().st_size}", "seed": chosen.seed, "version of spark_lsp": code_digest()}
    plan = {name: tasks_of(name, chosen) for name in chosen.sets}
    file = journal_path(chosen.json) if chosen.json is not None else None
    with Journal(file, about, resume=chosen.resume) as journal:
        pipeline = Pipeline(LlamaEngine.load(path), chosen.ways[1].settings, cost=SteadyCostModel())
        try:
            measure(Runner(pipeline), plan, chosen, journal)
        finally:
            pipeline.close()
        return measured(chosen, plan, journal)


def main() -> None:
    chosen = options()
    carry_out(lambda: run(chosen), render, chosen.json, (SparkError, JournalError))


if __name__ == "__main__":
    main()
