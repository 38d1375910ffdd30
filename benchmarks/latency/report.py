"""The tables of a measured run, as Markdown; made from what the JSON file holds, so that a README can be made again."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from benchmarks.latency.cases import KINDS
from benchmarks.latency.measure import DRAFTING, MODES, PEER, PEER_NGRAM, PLAIN, Sample
from benchmarks.machine import heading

Measured = dict[str, Any]


def samples_of(measured: Measured) -> list[Sample]:
    """Return the samples that a JSON file holds."""
    return [Sample(**sample) for sample in measured["samples"]]


def quartiles(values: Sequence[float]) -> tuple[float, float, float]:
    """Return the lower quartile, the median and the upper quartile; a single value is all three."""
    if len(values) < 2:
        return values[0], values[0], values[0]
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return low, middle, high


def speeds(samples: Iterable[Sample], kind: str, mode: str) -> list[float]:
    """Return the tokens per second of every sample of that kind and mode."""
    return [s.tokens / s.seconds for s in samples if s.kind == kind and s.mode == mode]


def ratios(samples: Iterable[Sample], kind: str, faster: str = DRAFTING, slower: str = PLAIN) -> list[float]:
    """Return for each case and round how many times as fast the one mode was as the other."""
    pairs: dict[tuple[str, int], dict[str, float]] = defaultdict(dict)
    for s in samples:
        if s.kind == kind:
            pairs[s.case, s.round][s.mode] = s.tokens / s.seconds
    return [pair[faster] / pair[slower] for pair in pairs.values() if faster in pair and slower in pair]


def ratio_of_totals(samples: Iterable[Sample]) -> float:
    """Return the seconds of all plain decodes over those of all drafting ones."""
    seconds = {PLAIN: 0.0, DRAFTING: 0.0}
    for s in samples:
        if s.mode in seconds:
            seconds[s.mode] += s.seconds
    return seconds[PLAIN] / seconds[DRAFTING]


def render(measured: Measured) -> str:
    """Return the whole report; ends with a newline."""
    samples = samples_of(measured)
    kinds = [kind for kind in KINDS if any(s.kind == kind for s in samples)]
    parts = [
        heading(measured),
        _costs(measured),
        _drafting(samples, kinds),
        _worst(samples),
        _sources(samples, kinds),
        _peer(measured, samples, kinds),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _costs(measured: Measured) -> str:
    steps = measured["step_seconds"]
    rows = [["ms", *(f"{1000 * seconds:.0f}" for seconds in steps.values())]]
    rows.append(["relative to one token", *(f"{seconds / steps['1']:.1f}" for seconds in steps.values())])
    rate = measured["prompt_tokens_per_second"]
    exact = measured.get("exact_width", 1)
    same = f" Steps of up to {exact} tokens give the logits of single ones bit for bit." if exact > 1 else ""
    text = f"Prompt rate {rate:.0f} tokens/s.{same} A decode step:\n\n"
    return text + table(["tokens in the step", *steps], rows)


def _drafting(samples: list[Sample], kinds: list[str]) -> str:
    header = ["kind", "plain, tok/s", "drafting, tok/s", "ratio", "ratio of totals", "tokens/step", "texts that differ"]
    rows = []
    for kind in kinds:
        own = [s for s in samples if s.kind == kind and s.mode == DRAFTING]
        rows.append(
            [
                f"({kind}) {KINDS[kind]}",
                spread(speeds(samples, kind, PLAIN), ".1f"),
                spread(speeds(samples, kind, DRAFTING), ".1f"),
                spread(ratios(samples, kind), ".2f"),
                f"{ratio_of_totals(s for s in samples if s.kind == kind):.2f}",
                f"{sum(s.tokens for s in own) / max(1, sum(s.steps for s in own)):.2f}",
                f"{sum(not s.same_text for s in own)} of {len(own)}",
            ]
        )
    note = "Verified tokens per second of decoding: median (quartiles) over cases and rounds; the ratios are of pairs."
    return f"{note}\n\n{table(header, rows)}"


def _worst(samples: list[Sample]) -> str:
    cases: dict[tuple[str, str], list[Sample]] = defaultdict(list)
    for s in samples:
        cases[s.kind, s.case].append(s)
    ratio, kind, name = min((ratio_of_totals(own), kind, name) for (kind, name), own in cases.items())
    return f"The case that drafting serves worst is ({kind}) {name}: {ratio:.2f}."


def _sources(samples: list[Sample], kinds: list[str]) -> str:
    names = sorted({name for s in samples for name in s.sources})
    if not names:
        return ""

    rows = [
        [name, _accepted(samples, name, "".join(kinds)), *(_accepted(samples, name, kind) for kind in kinds)]
        for name in names
    ]
    header = ["source", "all", *(f"({kind})" for kind in kinds)]
    return f"Tokens accepted of those drafted, by source:\n\n{table(header, rows)}"


def _accepted(samples: Iterable[Sample], source: str, kinds: str) -> str:
    pairs = [s.sources[source] for s in samples if source in s.sources and s.kind in kinds]
    drafted, agreed = sum(pair[0] for pair in pairs), sum(pair[1] for pair in pairs)
    return f"{agreed}/{drafted} ({agreed / drafted:.0%})" if drafted else "-"


def _peer(measured: Measured, samples: list[Sample], kinds: list[str]) -> str:
    peer = measured["peer"]
    if peer.get("left_out"):
        return str(peer["left_out"])
    if not any(s.mode == PEER for s in samples):
        return ""
    rows = []
    for kind in kinds:
        asked = [s for s in samples if s.kind == kind and s.mode in (PEER, PEER_NGRAM)]
        ngram = [s for s in asked if s.mode == PEER_NGRAM]
        rows.append(
            [
                f"({kind}) {KINDS[kind]}",
                *(spread(speeds(samples, kind, mode), ".1f") for mode in MODES),
                spread(ratios(samples, kind, DRAFTING, PEER), ".2f"),
                spread(ratios(samples, kind, DRAFTING, PEER_NGRAM), ".2f"),
                f"{sum(s.accepted for s in ngram)}/{sum(s.drafted for s in ngram)}",
                f"{sum(s.same_text for s in asked)} of {len(asked)}",
            ]
        )
    header = ["kind", *(f"{mode}, tok/s" for mode in MODES)]
    header += ["ours to its plain", "ours to its n-grams", "its accepted", "same text as ours"]
    note = f"llama-server (xllamacpp {peer['version']}), same model, prompts, threads and run; `{peer['ngram']}`:"
    return f"{note}\n\n{table(header, rows)}"


def spread(values: Sequence[float], form: str) -> str:
    """Return the median and, in brackets, the quartiles; a dash for nothing."""
    if not values:
        return "-"
    low, middle, high = quartiles(values)
    return f"{middle:{form}} ({low:{form}} to {high:{form}})"


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table whose columns are right-aligned but for the first."""
    lines = [header, ["---", *["---:"] * (len(header) - 1)], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
