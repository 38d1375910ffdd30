"""The tables of a measured run, as Markdown; made from what the JSON file holds, so that a README can be made again."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any

from benchmarks.latency.report import table
from benchmarks.machine import heading
from benchmarks.replay.metrics import figures, tally_from, total

Measured = dict[str, Any]
Records = list[dict[str, Any]]

MILLISECONDS, PERCENT, NUMBER, RATIO = "ms", "%", "", "x"
ROWS = {
    "warm p50": ("time to ghost text, warm, p50, ms", MILLISECONDS),
    "warm p90": ("… p90, ms", MILLISECONDS),
    "warm p95": ("… p95, ms", MILLISECONDS),
    "cold p50": ("time to ghost text, cold, p50, ms", MILLISECONDS),
    "cold p95": ("… p95, ms", MILLISECONDS),
    "every stroke p50": ("time to ghost text, strokes without one as endless, p50, ms", MILLISECONDS),
    "places with a ghost": ("strokes with a ghost text before the next one, %", PERCENT),
    "without a model call": ("ghost texts without a model call, %", PERCENT),
    "kept characters": ("kept characters", NUMBER),
    "wrong per kept": ("wrong characters shown per kept character", RATIO),
    "decoded per kept": ("tokens decoded per kept character", RATIO),
    "prompt per kept": ("prompt tokens computed per kept character", RATIO),
    "saved strokes": ("saved strokes, %", PERCENT),
    "quiet rate": ("quiet where nothing should be shown, %", PERCENT),
    "CPU s per minute": ("CPU seconds per minute of typing", RATIO),
    "felt tokens/s": ("felt tokens/s", NUMBER),
    "felt warm": ("… of texts that appeared at a warm place", NUMBER),
}
"""Figures by name: what the table calls them, and how they are written."""
COMPARED = ("warm p50", "warm p95", "kept characters", "wrong per kept", "CPU s per minute", "felt tokens/s")
BY_LANGUAGE = ("warm p50", "warm p95", "kept characters", "wrong per kept", "quiet rate", "felt tokens/s")


def render(measured: Measured) -> str:
    """Return the whole report; ends with a newline."""
    records, names = _records(measured)
    return _joined([*_main_parts(measured), _ratios(records, names), _languages(records, names)])


def render_brief(measured: Measured) -> str:
    """Return the report without ratios and languages; ends with a newline."""
    return _joined(_main_parts(measured))


def _records(measured: Measured) -> tuple[Records, list[str]]:
    """Return the records and the programs that they are of, the first one ours."""
    records: Records = measured["records"]
    names = list(dict.fromkeys(record["way"] for record in records))
    return records, sorted(names, key=lambda name: measured["programs"].index(name))


def _main_parts(measured: Measured) -> list[str]:
    records, names = _records(measured)
    return [heading(measured), *measured["left_out"].values(), _note(records), _all(records, names)]


def _joined(parts: Sequence[str]) -> str:
    return "\n\n".join(part for part in parts if part) + "\n"


def by_turn(records: Records, name: str, language: str | None = None) -> list[dict[str, float | None]]:
    """Return the figures of a program in each repetition, over all sessions or those of a language."""
    own = [record for record in records if record["way"] == name and language in (None, record["set"])]
    turns = sorted({record["turn"] for record in own})
    return [figures(total(tally_from(record["tally"]) for record in own if record["turn"] == turn)) for turn in turns]


def known(values: Sequence[dict[str, float | None]], figure: str) -> list[float]:
    """Return a figure in every repetition that has it."""
    return [value for one in values if (value := one[figure]) is not None]


def written(values: Sequence[float], form: str) -> str:
    """Return the median with the least and the most of the repetitions; a dash for none."""
    if not values:
        return "-"
    middle = _number(statistics.median(values), form)
    low, high = (_number(value, form) for value in (min(values), max(values)))
    return middle if low == high else f"{middle} ({low} to {high})"


def _number(value: float, form: str) -> str:
    if form == MILLISECONDS:
        return f"{1000 * value:.0f}"
    if form == PERCENT:
        return f"{100 * value:.1f}"
    return f"{value:.2f}" if form == RATIO else f"{value:.0f}"


def _note(records: Records) -> str:
    turns = len({record["turn"] for record in records})
    if turns < 2:
        return "One repetition, so without a spread."
    return f"Medians of {turns} repetitions, in brackets the least and the most of them."


def _all(records: Records, names: Sequence[str]) -> str:
    values = {name: by_turn(records, name) for name in names}
    rows = [
        [title, *(written(known(values[name], figure), form) for name in names)]
        for figure, (title, form) in ROWS.items()
    ]
    return table(["", *names], rows)


def _ratios(records: Records, names: Sequence[str]) -> str:
    """Return how many times as much the others have of a figure as the first program, by repetition."""
    if len(names) < 2:
        return ""
    ours = by_turn(records, names[0])
    rows = []
    for figure in COMPARED:
        cells = []
        for name in names[1:]:
            pairs = zip(by_turn(records, name), ours, strict=False)
            ratios = [
                theirs / own for one, two in pairs if (theirs := one[figure]) is not None and (own := two[figure])
            ]
            cells.append(written(ratios, RATIO))
        rows.append([ROWS[figure][0].replace("…", "time to ghost text, warm,"), *cells])
    return f"The others' figure over that of {names[0]}:\n\n" + table(["", *names[1:]], rows)


def _languages(records: Records, names: Sequence[str]) -> str:
    rows = []
    for language in dict.fromkeys(record["set"] for record in records):
        for name in names:
            values = by_turn(records, name, language)
            cells = [written(known(values, figure), ROWS[figure][1]) for figure in BY_LANGUAGE]
            rows.append([language, name, *cells])
    titles = [ROWS[figure][0].replace("…", "warm,") for figure in BY_LANGUAGE]
    return table(["language", "program", *titles], rows)
