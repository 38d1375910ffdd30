"""`python -m benchmarks.infilling.filters --data DIR`: what post-processing costs in files of about 1,000 lines.

For each file it takes what the author wrote in a hole of several lines, and the same with typical faults, and times
`postprocess` as a whole and each of its rules on what the rules before it left. The stop rule sees each text grow
first, line by line, as it does while a model writes. DIR holds `safim/` as it is published; without --data only Python
files are taken, from the installed packages. No model runs.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

from benchmarks.infilling.long_files import LongFile, faulty_texts, python_files, safim_files
from benchmarks.latency.report import table
from benchmarks.machine import machine, machine_line
from spark_lsp.decoding.extent import choose_extent, stop_rule
from spark_lsp.documents.text import TextSnapshot
from spark_lsp.postprocess import RULES, Place, postprocess
from spark_lsp.settings import CompletionSettings
from spark_lsp.syntax.parser import parse

FILES = 10
"""Files of each language unless --files says otherwise."""
REPEATS = 3
"""Each time is the median of so many, the place made anew for each."""
ALL, GROWING, PLACE = "all rules", "all rules, while the text grows", "the place"

Made = TypeVar("Made")
Times = defaultdict[str, list[float]]
"""Milliseconds by what took them."""


def measure(files: Sequence[LongFile]) -> list[dict[str, Any]]:
    """Return for each file and text how many milliseconds each rule and all of them took."""
    records = []
    for file in files:
        written = Written(file)
        for fault, text in faulty_texts(file).items():
            record = {"language": file.language.name, "lines": written.snapshot.line_count, "fault": fault}
            records.append({**record, "milliseconds": times_of(text, written)})
    return records


def times_of(text: str, written: Written) -> dict[str, float]:
    """Return what the rules take for a text, in milliseconds: the median of `REPEATS` times."""
    times: Times = defaultdict(list)
    for _ in range(REPEATS):
        times[PLACE].append(timed(written.place)[0])
        growing = written.place().while_growing()
        times[GROWING].append(timed(lambda: postprocess(text, growing))[0])  # noqa: B023
        place = written.up_to_the_end(text)
        times[ALL].append(timed(lambda: postprocess(text, place))[0])  # noqa: B023
        for rule, milliseconds in rule_times(text, written.up_to_the_end(text)):
            times[rule].append(milliseconds)
    return {name: statistics.median(values) for name, values in times.items()}


def rule_times(text: str, place: Place) -> Iterator[tuple[str, float]]:
    """Yield what each rule takes of what those before it left, up to the one that leaves nothing."""
    for rule in RULES:
        if text:
            milliseconds, text = timed(lambda: rule(text, place))  # noqa: B023
            yield rule.__name__, milliseconds


def timed(work: Callable[[], Made]) -> tuple[float, Made]:
    """Return the milliseconds of processor time of `work`, so that other programs do not count, and its result."""
    started = time.thread_time()
    made = work()
    return 1000 * (time.thread_time() - started), made


class Written:
    """A file while a text is written in its hole."""

    def __init__(self, file: LongFile) -> None:
        self._language = file.language
        self.snapshot = TextSnapshot.of(file.before + file.after)
        self._tree, self._cursor = parse(self.snapshot.text, file.language), len(file.before)

    def place(self) -> Place:
        """Return the place as it is before the first token."""
        return Place.at(self.snapshot, self._cursor, self._language, self._tree)

    def up_to_the_end(self, text: str) -> Place:
        """Return the place after the stop rule saw the text grow, line by line."""
        place = self.place()
        at = self.snapshot, self._tree, self._cursor
        extent = choose_extent(*at, place, self._language)
        rule = stop_rule(extent, *at, place, CompletionSettings().max_lines)
        ends = [end for end, character in enumerate(text, 1) if character == "\n"]
        for end in [*ends, len(text)]:
            rule.check(text[:end])
        return place


def render(measured: dict[str, Any]) -> str:
    """Return the report as Markdown; ends with a newline."""
    records = measured["records"]
    header = ["language", "files x texts", "lines", "median, ms", "p95, ms", "slowest, ms"]
    names = sorted({record["language"] for record in records})
    rows = []
    for name in [*names, *(["all"] if len(names) > 1 else [])]:
        own = [record for record in records if name in ("all", record["language"])]
        lines = f"{statistics.median(record['lines'] for record in own):.0f}"
        rows.append([name, str(len(own)), lines, *spread([record["milliseconds"][ALL] for record in own])])
    parts = [f"{machine_line(measured)}\n\nAll rules together, for each text:\n\n{table(header, rows)}"]
    faults: Times = defaultdict(list)
    pieces: Times = defaultdict(list)
    for record in records:
        faults[record["fault"]].append(record["milliseconds"][ALL])
        for name, took in record["milliseconds"].items():
            pieces[name].append(took)
    parts.append(_spreads("fault", faults))
    order = [*(rule.__name__ for rule in RULES), ALL, GROWING, PLACE]
    note = (
        "Each rule on what those before it left. While a text grows they all run after each step; the place is found "
        "once for a request:"
    )
    parts.append(f"{note}\n\n{_spreads('rule', {name: pieces[name] for name in order if name in pieces})}")
    return "\n\n".join(parts) + "\n"


def _spreads(title: str, times: dict[str, list[float]]) -> str:
    rows = [[name, str(len(values)), *spread(values)] for name, values in times.items()]
    return table([title, "texts", "median, ms", "p95, ms", "slowest, ms"], rows)


def spread(values: Sequence[float]) -> list[str]:
    """Return median, 95th percentile and maximum as they are printed."""
    ordered = sorted(values)
    high = ordered[min(len(ordered) - 1, round(0.95 * len(ordered)))]
    return [f"{value:.2f}" for value in (statistics.median(ordered), high, ordered[-1])]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.infilling.filters", description=__doc__)
    parser.add_argument("--data", type=Path, help="the folder of the data sets, for Java, C++ and C#")
    parser.add_argument("--files", type=int, default=FILES, help=f"files of each language (default {FILES})")
    parser.add_argument("--seed", type=int, default=0, help="chooses files and holes (default 0)")
    parser.add_argument("--json", type=Path, help="also write every time to this file")
    chosen = parser.parse_args()
    files = python_files(chosen.files, chosen.seed)
    if chosen.data is not None:
        files += safim_files(chosen.data, chosen.files, chosen.seed)
    if not files:
        raise SystemExit("No file of about 1,000 lines was found.")
    measured = {"benchmark": "filters", "machine": machine(), "records": measure(files)}
    print(render(measured), end="")
    if chosen.json is not None:
        chosen.json.write_text(json.dumps(measured, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
