"""The tables of a measured run, as Markdown; made from what the JSON file holds, so that a README can be made again."""

from __future__ import annotations

import math
import statistics as median_of
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from benchmarks.infilling import packages
from benchmarks.infilling.scoring import DAMAGES
from benchmarks.infilling.statistics import Estimate, difference, mean
from benchmarks.infilling.ways import PIPELINE, RAW, WITHOUT_OTHER_FILES
from benchmarks.latency.report import table
from benchmarks.machine import heading

Measured = dict[str, Any]
Records = list[dict[str, Any]]

FIGURES = {"passed": "pass@1", "exact": "exact match", "syntax_match": "syntax match"}
"""What is measured of a text, by its name in the records."""
DAMAGE_NAMES = {
    "adds_error": "adds a syntax error",
    "leaves_error": "more errors than with the author's text",
    "duplicates": "repeats the suffix",
    "unbalanced": "brackets out of balance",
}
ALL = "all sets"


def render(measured: Measured) -> str:
    """Return the whole report; ends with a newline."""
    records: Records = measured["records"]
    parts = [
        heading(measured),
        _quality(records),
        _languages(records),
        _damage(records),
        _other_files(measured, records),
        _cuts(measured),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def names(records: Records, field: str) -> list[str]:
    """Return the different values of a field in the order of their first appearance."""
    return list(dict.fromkeys(str(record[field]) for record in records))


def of_way(records: Iterable[dict[str, Any]], way: str) -> dict[tuple[str, str], dict[str, Any]]:
    """Return the records of a way by set and task."""
    return {(record["set"], record["id"]): record for record in records if record["way"] == way}


def share(records: Sequence[dict[str, Any]], figure: str) -> Estimate | None:
    """Return the share of records in which `figure` is true; None where it was not measured."""
    known = [record for record in records if figure in record]
    if not known:
        return None
    return mean([float(record[figure]) for record in known], [record["group"] for record in known])


def paired(records: Records, way: str, reference: str, figure: str) -> Estimate | None:
    """Return by how much `figure` of a way is above that of `reference` on the tasks that both have; None for none."""
    first, second = of_way(records, way), of_way(records, reference)
    keys = [key for key in first if figure in first[key] and figure in second.get(key, {})]
    if not keys:
        return None
    ours, theirs = ([float(side[key][figure]) for key in keys] for side in (first, second))
    return difference(ours, theirs, [first[key]["group"] for key in keys])


def _quality(records: Records) -> str:
    header = ["set", "figure", "way", "tasks", "right, %", "to raw, points", "to pipeline, points"]
    rows = []
    for name in names(records, "set"):
        own = [record for record in records if record["set"] == name]
        for figure, title in FIGURES.items():
            for way in names(own, "way"):
                estimate = share([record for record in own if record["way"] == way], figure)
                if estimate is not None:
                    to_raw = paired(own, way, RAW, figure) if way != RAW else None
                    to_pipeline = paired(own, way, PIPELINE, figure) if way not in (RAW, PIPELINE) else None
                    right = percent(estimate)
                    rows.append([name, title, way, str(estimate.count), right, points(to_raw), points(to_pipeline)])
    note = (
        "How often the text is right, in percent with its standard error; differences are paired, task by task, with "
        "theirs. Holes of one problem or file count as a cluster."
    )
    return f"{note}\n\n{table(header, rows)}"


def _languages(records: Records) -> str:
    """Return the exact matches of each language, for sets that have several."""
    rows = []
    for name in names(records, "set"):
        own = [record for record in records if record["set"] == name]
        languages = names(own, "language")
        for language in languages if len(languages) > 1 else []:
            some = [record for record in own if record["language"] == language]
            raw, pipeline = (share([r for r in some if r["way"] == way], "exact") for way in (RAW, PIPELINE))
            if raw is not None and pipeline is not None:
                to_raw = points(paired(some, PIPELINE, RAW, "exact"))
                rows.append([name, language, str(pipeline.count), percent(raw), percent(pipeline), to_raw])
    if not rows:
        return ""
    header = ["set", "language", "tasks", "raw, %", "pipeline, %", "difference, points"]
    return f"Exact matches by language:\n\n{table(header, rows)}"


def _damage(records: Records) -> str:
    header = ["set", "way", "shown", *(f"{DAMAGE_NAMES[damage]}, %" for damage in DAMAGES)]
    rows = []
    for name in [ALL, *names(records, "set")]:
        own = [record for record in records if name in (ALL, record["set"])]
        for way in names(own, "way"):
            answers = [record for record in own if record["way"] == way]
            shown = [record for record in answers if record["shown"]]
            cells = [share(shown, damage) for damage in DAMAGES]
            counts = f"{len(shown)} of {len(answers)}"
            rows.append([name, way, counts, *(percent(cell, 2) if cell is not None else "-" for cell in cells)])
    failed = sum(record["reason"] == "failed" for record in records)
    note = (
        "What shown texts break, in percent of them with the standard error (for none among n texts: the upper end of "
        "a 95 % interval, 3/n). Those of the raw model are cut first."
    )
    if failed:
        note += f" {failed} generations failed; their texts count as empty."
    return f"{note}\n\n{table(header, rows)}"


def _other_files(measured: Measured, records: Records) -> str:
    own = [record for record in records if record["set"] == packages.NAME]
    if not own:
        return ""
    rows = []
    for way in names(own, "way"):
        answers = [record for record in own if record["way"] == way]
        times = [seconds for record in answers if (seconds := _second(record, "first_text_seconds"))]
        if times:
            again = [_second(record, "prompt_tokens") or 0 for record in answers]
            tokens = [record.get("prompt_tokens", 0) for record in answers]
            medians = [f"{median_of.median(values):.0f}" for values in (tokens, again, [1000 * time for time in times])]
            ratio = _second_ratio(own, way)
            rows.append([way, *medians, "-" if ratio is None else f"{ratio:.2f}"])
    note = (
        f"The set `{packages.NAME}` comes from {measured['packages']} installed packages. The second request comes one "
        "typed character after the first. Medians:"
    )
    header = [
        "way",
        "new prompt tokens",
        "of the second request",
        "its time to first text, ms",
        "to without, ratio of pairs",
    ]
    return f"{note}\n\n{table(header, rows)}" if rows else note


def _second(record: dict[str, Any], figure: str) -> float | None:
    value = record.get("second", {}).get(figure)
    return None if value is None else float(value)


def _second_ratio(records: Records, way: str) -> float | None:
    """Return the median over tasks of the time to the first text over that without other files; None for none."""
    times: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for record in records:
        seconds = _second(record, "first_text_seconds")
        if seconds:
            times[record["id"]][record["way"]] = seconds
    alone = WITHOUT_OTHER_FILES.name
    ratios = [pair[way] / pair[alone] for pair in times.values() if {way, alone} <= pair.keys()]
    return median_of.median(ratios) if ratios and way != alone else None


def _cuts(measured: Measured) -> str:
    cuts = ", ".join(f"{name}: {' or '.join(values)}" for name, values in measured["cuts"].items())
    return f"Where the text of the raw model is cut before it is judged: {cuts}."


def percent(estimate: Estimate, digits: int = 1) -> str:
    """Return a share with its standard error, in percent; for a share of none the bound that its size allows."""
    if not estimate.mean:
        return f"0 (below {min(100.0, 300 / estimate.count):.{digits}f})" if estimate.count else "-"
    return f"{100 * estimate.mean:.{digits}f} ± {_error(estimate, digits)}"


def points(estimate: Estimate | None) -> str:
    """Return a difference with its sign and standard error, in points of a hundred; a dash for None."""
    return "-" if estimate is None else f"{100 * estimate.mean:+.1f} ± {_error(estimate, 1)}"


def _error(estimate: Estimate, digits: int) -> str:
    return "?" if math.isnan(estimate.error) else f"{100 * estimate.error:.{digits}f}"
