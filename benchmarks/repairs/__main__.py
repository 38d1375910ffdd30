"""`python -m benchmarks.repairs`: the table of repairs. Exits with 1 if too few faults are removed, or any is worse."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from benchmarks.command import carry_out
from benchmarks.machine import machine
from benchmarks.repairs.faults import SEEDED
from benchmarks.repairs.held_out import HELD_OUT
from benchmarks.repairs.measure import measure
from benchmarks.repairs.report import render
from spark_lsp.errors import SparkError
from spark_lsp.loading import local_loader
from spark_lsp.models.catalogue import DEFAULT_MODEL
from spark_lsp.settings import CompletionSettings, ModelSettings, Settings

NEEDED = 0.6
"""Share of the faults whose diagnostic has to be gone."""


def main() -> None:
    arguments = _arguments()
    every = (*SEEDED, *HELD_OUT)
    chosen = [fault for fault in every if not arguments.faults or fault.name in arguments.faults]
    if not chosen:
        raise SystemExit(f"There is no such fault. There are: {', '.join(fault.name for fault in every)}.")
    rows: list[dict[str, Any]] = []

    def run() -> dict[str, Any]:
        settings = Settings(
            model=ModelSettings(name=arguments.model, optimized=arguments.optimized, context_tokens=4096),
            completion=CompletionSettings(snapshots=False),
        )
        pipeline = local_loader(settings, lambda fraction: None).load(lambda: False)
        try:
            rows.extend(measure(pipeline, chosen, _show))
            name = pipeline.engine.info.name
        finally:
            pipeline.close()
        return {"machine": machine(), "model": name, "run": f"{len(chosen)} faults, one at a time", "rows": rows}

    carry_out(run, render, arguments.json, (SparkError, ValueError))
    removed = sum(row["result"] == "removed" for row in rows)
    if removed < NEEDED * len(rows) or any(row["result"] == "worse" for row in rows):
        raise SystemExit(1)


def _show(row: dict[str, Any]) -> None:
    print(f"{row['fault']}: {row['result']}", file=sys.stderr, flush=True)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.repairs", description=__doc__)
    parser.add_argument("faults", nargs="*", metavar="FAULT", help="seed only these, by name")
    parser.add_argument("--model", default=DEFAULT_MODEL, help="a catalogue name or a path")
    parser.add_argument("--no-optimized", dest="optimized", action="store_false", help="not the optimized variant")
    parser.add_argument("--json", type=Path, help="write what was measured into this file")
    return parser.parse_args()


if __name__ == "__main__":
    main()
