"""`python -m benchmarks.infilling.gate FILE.json`: what a threshold on the model's own confidence would bring.

FILE is what `benchmarks.infilling` wrote with `--json`; several are read as one. For each candidate score of the first
line of a text (mean, minimum and sum of the log-probabilities of its tokens, log-probability of the first) it prints
the share of texts that a threshold lets through and how many of those lines are right, and the threshold with the
highest utility: the mean over all tasks of 1 for a right line that is shown, minus the given cost for a wrong one, 0
for none. It is fitted on one half of the sources and tried on the other. The same for the other lines: a bar drops a
line that does not reach it, and all lines after it, so what counts for a line is the least score down to it. Lines are
those before the gate of the product, which is not changed: the figures are for whoever sets
`spark_lsp.gate.thresholds`.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.infilling.statistics import mean
from benchmarks.infilling.ways import PIPELINE
from benchmarks.latency.report import table
from spark_lsp.gate.thresholds import Score, first_score, least_score, mean_score, total_score

COSTS = (0.25, 1.0)
"""What a wrong line costs, in right ones: little where the user asked for it, much where it comes by itself."""
SHARES = (1.0, 0.95, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1)
"""Points of the curve: shares of texts that are shown."""
HOPELESS = 0.1
"""Texts of which at most this share is right are not worth showing to anybody."""

SCORES: dict[str, Score] = {
    "mean": mean_score,
    "minimum": least_score,
    "total": total_score,
    "first token": first_score,
}
"""Candidates, in natural logarithms; all are 0 for a text that the model is sure of."""
LINE_SCORES = ("mean", "minimum", "total")
"""Candidates for a line; its first token is mostly indentation."""


@dataclass(frozen=True, slots=True)
class Shown:
    """One line of a text."""

    group: str
    right: bool
    probabilities: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Fit:
    """A threshold: texts with a score of at least that are shown."""

    threshold: float
    utility: float
    """Mean over all texts, shown or not."""


def first_lines(records: Sequence[dict[str, Any]], way: str, sets: frozenset[str] | None = None) -> list[Shown]:
    """Return the first line of each text of a way before the gate; of the named sets, or of all.

    Where nothing is known of single lines, it is the text.
    """
    found = []
    for record in _of(records, way, sets):
        lines = _own_lines(record)
        right = bool(lines[0]["right"] if lines else record.get("ungated", record)["exact"])
        probabilities = tuple(lines[0]["probabilities"] if lines else record["probabilities"])
        if probabilities:
            found.append(Shown(f"{record['group']}", right, probabilities))
    return found


def further_lines(
    records: Sequence[dict[str, Any]], way: str, score: Score, sets: frozenset[str] | None = None
) -> list[Shown]:
    """Return the lines below the first one of those texts, each with the tokens of the least sure line down to it."""
    found = []
    for record in _of(records, way, sets):
        worst: tuple[float, ...] = ()
        for line in _own_lines(record)[1:]:
            own = tuple(line["probabilities"])
            worst = own if not worst or score(own) < score(worst) else worst
            found.append(Shown(f"{record['group']}", bool(line["right"]), worst))
    return found


def _own_lines(record: dict[str, Any]) -> list[dict[str, Any]]:
    """The lines of the text before the gate that have tokens of their own."""
    return [line for line in record.get("ungated", {}).get("lines", ()) if line["probabilities"]]


def _of(records: Sequence[dict[str, Any]], way: str, sets: frozenset[str] | None) -> list[dict[str, Any]]:
    """The records of a way with a text before the gate."""
    return [
        record
        for record in records
        if record["way"] == way and (record["shown"] or "ungated" in record) and (sets is None or record["set"] in sets)
    ]


def halves(texts: Sequence[Shown]) -> tuple[list[Shown], list[Shown]]:
    """Return two halves by the source of the texts, so that no problem or file is in both."""
    sides: tuple[list[Shown], list[Shown]] = ([], [])
    for text in texts:
        sides[hashlib.sha256(text.group.encode()).digest()[0] % 2].append(text)
    return sides


def utility(texts: Sequence[Shown], score: Score, threshold: float, cost: float) -> float:
    """Return the mean utility of showing the texts that reach the threshold. ValueError without any text."""
    if not texts:
        raise ValueError("there is no text")
    passed = [text.right for text in texts if score(text.probabilities) >= threshold]
    return sum(1.0 if right else -cost for right in passed) / len(texts)


def fit(texts: Sequence[Shown], score: Score, cost: float) -> Fit:
    """Return the threshold of highest utility; of equal ones the lowest, which shows most.

    It lies halfway between the scores on its two sides; minus infinity lets everything through, infinity nothing.
    """
    ordered = sorted(((score(text.probabilities), text.right) for text in texts), reverse=True)
    best = Fit(math.inf, 0.0)
    total = 0.0
    for index, (value, right) in enumerate(ordered):
        total += 1.0 if right else -cost
        following = ordered[index + 1][0] if index + 1 < len(ordered) else -math.inf
        if following < value and total / len(ordered) >= best.utility:
            best = Fit((value + following) / 2, total / len(ordered))
    return best


def hopeless(texts: Sequence[Shown], score: Score) -> tuple[float, int]:
    """Return the highest threshold that hides texts of which at most `HOPELESS` are right, and how many it hides."""
    ordered = sorted((score(text.probabilities), text.right) for text in texts)
    best = (-math.inf, 0)
    right = 0
    for index, (value, is_right) in enumerate(ordered):
        right += is_right
        following = ordered[index + 1][0] if index + 1 < len(ordered) else math.inf
        if following > value and right <= HOPELESS * (index + 1):
            best = (min((value + following) / 2, 0.0), index + 1)
    return best


def curve(texts: Sequence[Shown], score: Score) -> list[tuple[float, float, float, float]]:
    """Return for each share of `SHARES`: the share, the threshold, the share of right texts and its standard error."""
    ordered = sorted(texts, key=lambda text: score(text.probabilities), reverse=True)
    points = []
    for part in SHARES:
        kept = ordered[: max(1, round(part * len(ordered)))]
        right = mean([float(text.right) for text in kept], [text.group for text in kept])
        points.append((len(kept) / len(ordered), score(kept[-1].probabilities), right.mean, right.error))
    return points


def render(texts: Sequence[Shown], lines: Mapping[str, Sequence[Shown]] | None = None) -> str:
    """Return curves and thresholds of texts, and of lines by the name of their score, as Markdown.

    ValueError where a half has no text.
    """
    rights = sum(text.right for text in texts)
    found = [f"{len(texts)} texts, the first line right in {rights}.", _fits(dict.fromkeys(SCORES, texts))]
    some = next(iter(lines.values())) if lines else ()
    if lines and all(map(all, map(halves, lines.values()))):
        rights = sum(line.right for line in some)
        found += [f"{len(some)} lines below the first one, {rights} of them as the author wrote them.", _fits(lines)]
    return "\n\n".join(found) + "\n"


def _fits(by_score: Mapping[str, Sequence[Shown]]) -> str:
    parts = []
    for name, texts in by_score.items():
        score = SCORES[name]
        rows = [
            [f"{part:.0%}", f"{threshold:.3f}", f"{100 * right:.1f} ± {100 * error:.1f}"]
            for part, threshold, right, error in curve(texts, score)
        ]
        parts.append(f"Score: {name}\n\n{table(['shown', 'threshold', 'right, %'], rows)}")
    rows = []
    for name, texts in by_score.items():
        threshold, hidden = hopeless(texts, SCORES[name])
        rows.append([name, f"{threshold:.3f}", f"{hidden} of {len(texts)}"])
    hidden_table = table(["score", "threshold", "hidden"], rows)
    parts.append(f"Thresholds below which at most {HOPELESS:.0%} are right:\n\n{hidden_table}")
    rows = [_fitted(name, cost, by_score[name]) for cost in COSTS for name in by_score]
    header = [
        "cost of a wrong one",
        "score",
        "threshold",
        "utility where fitted",
        "on the other half",
        "there without",
    ]
    parts.append(f"Thresholds of highest utility:\n\n{table(header, rows)}")
    return "\n\n".join(parts)


def _fitted(name: str, cost: float, texts: Sequence[Shown]) -> list[str]:
    score = SCORES[name]
    held_out, other = halves(texts)
    if not held_out or not other:
        raise ValueError("too few texts for two halves")
    found = fit(held_out, score, cost)
    tried, without = (utility(other, score, value, cost) for value in (found.threshold, -math.inf))
    return [f"{cost:g}", name, f"{found.threshold:.3f}", *(f"{value:.3f}" for value in (found.utility, tried, without))]


def records_of(file: Path) -> list[dict[str, Any]]:
    """Return the records in a file. SystemExit with a sentence if it has none."""
    try:
        records: list[dict[str, Any]] = json.loads(file.read_text("utf-8"))["records"]
        return [record for record in records if record["way"]]
    except OSError as error:
        raise SystemExit(f"{file} cannot be read: {error.strerror}.") from None
    except (KeyError, TypeError, json.JSONDecodeError):
        raise SystemExit(f"{file} is not what benchmarks.infilling wrote with --json.") from None


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.infilling.gate", description=__doc__)
    parser.add_argument(
        "files", type=Path, nargs="+", metavar="FILE", help="what benchmarks.infilling wrote with --json"
    )
    parser.add_argument("--way", default=PIPELINE, help=f"whose texts (default {PIPELINE})")
    parser.add_argument("--sets", help="of which sets, with commas (default: all in the file)")
    chosen = parser.parse_args()
    sets = frozenset(chosen.sets.split(",")) if chosen.sets else None
    records = [record for file in chosen.files for record in records_of(file)]
    lines = {name: further_lines(records, chosen.way, SCORES[name], sets) for name in LINE_SCORES}
    try:
        print(render(first_lines(records, chosen.way, sets), lines), end="")
    except ValueError as error:
        raise SystemExit(f"No threshold can be fitted: {error}.") from None


if __name__ == "__main__":
    main()
