"""`python -m benchmarks.soak`: thousands of completions in one real server, and what is left behind.

A scripted typist (`typist.py`) works in three documents until enough requests were answered. Then the server is left
alone. The bounds: no request without an answer, no difference between the server's text and ours, less than 2 % more
resident memory at the end than after a tenth of the completions, less than 1 % of a core while idle. The exit code is 1
if one is broken. Windows and suggestions are short here (8 tokens at most), so that 2,000 completions take about ten
minutes on two cores; times and cold answers say nothing about real use. Needs psutil (the extra `optimize`).

With `--hours 2` the typist works until a person would have worked for two hours, by the rhythm of `benchmarks.replay`,
mostly typing on with a request for every key. That is meant for ten minutes on two quiet cores; memory may grow by 3 %.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import psutil

from benchmarks.machine import machine
from benchmarks.soak.typist import Tally, Typist
from spark_lsp.models.catalogue import DEFAULT_MODEL
from spark_lsp.server.editor import Editor
from spark_lsp.settings_files import NO_FILE

SETTINGS = {"completion": {"maxTokens": 8, "prefixTokens": 64, "suffixTokens": 32}, "statistics": {"keep": False}}
LOAD_SECONDS = 180.0
SETTLE_SECONDS = 120.0
"""Background work (a new anchor, the costs of this machine) comes to its end within this time, or never."""
QUIET_SECONDS = 2.0
PARTS = 10
"""Memory is read after each tenth; after the first, caches are filled and buffers have their size."""
GROWTH_PERCENT = 2.0
HOURS_GROWTH_PERCENT = 3.0
"""For `--hours`: more edits and requests than with a number of completions."""
IDLE_PERCENT = 1.0
MEGABYTE = 1e6


@dataclass(frozen=True, slots=True)
class Report:
    """What was measured in one server."""

    tally: Tally
    reasons: dict[str, int]
    """Answers by reason, as the server counted them."""
    seconds: float
    megabytes: list[float]
    """Resident memory after each part of the completions."""
    idle_percent: float
    """CPU time of the idle server, in percent of one core."""
    exit_code: int
    most_growth: float = GROWTH_PERCENT
    """Growth of the resident memory that is too much, in percent."""

    @property
    def growth_percent(self) -> float:
        """Growth of the resident memory after the first tenth."""
        return 100 * (self.megabytes[-1] / self.megabytes[0] - 1)

    def rows(self) -> list[tuple[str, str, str, bool]]:
        """Return what was measured, its value, its bound, and whether the bound holds."""
        tally, growth, idle = self.tally, self.growth_percent, self.idle_percent
        failed = tally.failed + self.reasons.get("failed", 0)
        same = not tally.different and tally.checks > 0
        return [
            ("hours that a person takes for it", f"{tally.person_seconds / 3600:.2f}", "", True),
            ("hours that it took", f"{self.seconds / 3600:.2f}", "", True),
            ("edits", str(tally.edits), "", True),
            ("completions answered", str(tally.answered), "", True),
            ("requests cancelled", str(tally.cancelled), "", True),
            ("requests unanswered", str(tally.unanswered), "0", not tally.unanswered),
            ("requests failed", str(failed), "0", not failed),
            ("texts different from ours", f"{tally.different} of {tally.checks}", "0", same),
            ("resident memory after a tenth, MB", f"{self.megabytes[0]:.1f}", "", True),
            ("resident memory at the end, MB", f"{self.megabytes[-1]:.1f}", "", True),
            ("growth, %", f"{growth:.2f}", f"< {self.most_growth:g}", growth < self.most_growth),
            ("CPU while idle, % of a core", f"{idle:.2f}", f"< {IDLE_PERCENT:g}", idle < IDLE_PERCENT),
            ("exit code", str(self.exit_code), "0", self.exit_code == 0),
        ]


def cpu_seconds(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


async def settled(editor: Editor, process: psutil.Process) -> None:
    """Wait until idle work is done: for `QUIET_SECONDS` no token is computed and next to no CPU time is used."""
    deadline = time.monotonic() + SETTLE_SECONDS
    before: Any = None
    while time.monotonic() < deadline:
        status = await editor.status()
        used = cpu_seconds(process)
        now = status["promptTokens"], status["decodeSteps"], status["engine"]
        if before is not None and now == before[0] and used - before[1] < 0.1 * QUIET_SECONDS:
            return
        before = now, used
        await asyncio.sleep(QUIET_SECONDS)


async def measure(model: str, completions: int, hours: float | None, idle_seconds: float) -> Report:
    editor = Editor([sys.executable, "-m", "spark_lsp", "--stdio", "--model", model], environment=NO_FILE)
    await editor.start(SETTINGS)
    status = await editor.ready(LOAD_SECONDS)
    if status["engine"] != "idle":
        raise SystemExit(f"the model did not load: {status['message']}")
    process = psutil.Process(editor.process.pid)
    begun = time.monotonic()
    typist = Typist(editor)
    megabytes = []
    for part in range(1, PARTS + 1):
        if hours is None:
            await typist.work(completions * part // PARTS)
        else:
            await typist.work_hours(hours * part / PARTS)
        megabytes.append(process.memory_info().rss / MEGABYTE)
    seconds = time.monotonic() - begun
    await settled(editor, process)
    before = cpu_seconds(process)
    await asyncio.sleep(idle_seconds)
    idle = cpu_seconds(process) - before
    reasons = (await editor.status())["reasons"]
    code = await editor.stop()
    most_growth = GROWTH_PERCENT if hours is None else HOURS_GROWTH_PERCENT
    return Report(typist.tally, reasons, seconds, megabytes, 100 * idle / idle_seconds, code, most_growth)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.soak", description=__doc__)
    parser.add_argument("--model", default=DEFAULT_MODEL, help="catalogue name or path")
    length = parser.add_mutually_exclusive_group()
    length.add_argument("--completions", type=int, default=2000, help="requests to be answered (default 2000)")
    length.add_argument("--hours", type=float, help="work of a person in place of a number of requests")
    parser.add_argument("--idle-seconds", type=float, default=30.0, help="how long the idle server is watched")
    parser.add_argument("--json", type=Path, help="also write everything to this file")
    options = parser.parse_args()
    about = machine()
    report = asyncio.run(measure(options.model, options.completions, options.hours, options.idle_seconds))
    print(", ".join(f"{name} {value}" for name, value in about.items()))
    print(f"model {Path(options.model).name}, {report.seconds:.0f} s, {SETTINGS['completion']}")
    print("answers by reason: " + ", ".join(f"{name} {count}" for name, count in sorted(report.reasons.items())))
    print("resident memory after each tenth, MB: " + ", ".join(f"{value:.1f}" for value in report.megabytes) + "\n")
    print("| what | value | bound | |\n| --- | ---: | ---: | --- |")
    for what, value, bound, holds in report.rows():
        print(f"| {what} | {value} | {bound} | {'' if holds else 'BROKEN'} |")
    if options.json is not None:
        options.json.write_text(json.dumps({"machine": about, **asdict(report)}, indent=2))
    raise SystemExit(0 if all(holds for *_, holds in report.rows()) else 1)


if __name__ == "__main__":
    main()
