"""`python -m benchmarks.latency`: what a decode step costs here, and what drafting brings on four kinds of code.

Each case is decoded with drafting and without, by turns, the same number of tokens; the figure is verified tokens per
second of decoding (prefill apart). Kind c re-verifies an edited suggestion: the model wrote it once, the user changed a
word, and the rest of the old text is the draft.
"""

from __future__ import annotations

import argparse
import json
import statistics
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.latency.cases import Case, cases
from benchmarks.machine import machine
from spark_lsp.decoding.calibration import CALIBRATION_WIDTHS, Calibration
from spark_lsp.decoding.drafters import ACCEPTED_TOKENS, DocumentDrafter, DraftChain, NgramDrafter, NgramIndex
from spark_lsp.decoding.drafters.previous import PreviousDrafter
from spark_lsp.decoding.generate import Generation, GenerationLimits, generate
from spark_lsp.decoding.healing import PieceTable
from spark_lsp.decoding.kv_cache import KVCache
from spark_lsp.decoding.llama import LlamaEngine
from spark_lsp.decoding.stopping import Extent, StopRule
from spark_lsp.errors import SparkError
from spark_lsp.models.catalogue import DEFAULT_MODEL
from spark_lsp.models.store import resolve
from spark_lsp.prompt.fim import Prompt
from spark_lsp.prompt.special_tokens import find_special_tokens
from spark_lsp.prompt.templates import Template, assemble

TOKENS = 96
"""Decoded for each case: a long suggestion."""
NO_RULE = StopRule(Extent.BLOCK, indentation=-1)


@dataclass
class Row:
    """Samples of one kind, in verified tokens per second."""

    drafting: list[float] = field(default_factory=list)
    plain: list[float] = field(default_factory=list)
    tokens: int = 0
    steps: int = 0
    drafted: int = 0
    accepted: int = 0
    different: int = 0


class Bench:
    """A loaded model with its measured costs."""

    def __init__(self, path: Path) -> None:
        self.engine = LlamaEngine.load(path)
        self.cache = KVCache(self.engine)
        self.pieces = self.engine.vocabulary.pieces
        self.table = PieceTable(self.pieces)
        self.special = find_special_tokens(self.engine.vocabulary)
        calibration = Calibration(widths=CALIBRATION_WIDTHS, max_outputs=self.engine.info.max_outputs)
        while (step := calibration.next_step()) is not None:
            calibration.record(step, self.cache.time_decode("calibration", step.tokens, step.outputs))
        self.cache.forget("calibration")
        cost = calibration.result()
        if cost is None:
            raise SystemExit("the machine could not be measured")
        self.cost = cost
        self.chain = DraftChain(
            [PreviousDrafter(), DocumentDrafter(), NgramDrafter("accepted", NgramIndex(ACCEPTED_TOKENS))], cost
        )

    def prompt(self, before: str) -> Prompt:
        tail = self.engine.tokenize(before.rstrip("\n") + "\n" if before.endswith("\n") else before)
        tokens = assemble(Template.PSM, self.special, [], [], tail)
        return Prompt(tuple(tokens), b"", (), self.special.stop, Template.PSM, (), tuple(tail), ())

    def decode(self, case: Case, drafting: bool) -> Generation:
        return generate(
            self.cache,
            "bench",
            self.prompt(case.before),
            self.table,
            self.pieces,
            NO_RULE,
            GenerationLimits(TOKENS),
            context_length=self.engine.info.context_length,
            max_draft=self.engine.info.max_outputs - 1,
            drafter=self.chain if drafting else None,
            previous=tuple(self.engine.tokenize(case.old)) if drafting else (),
        )

    def edited(self, case: Case) -> Case | None:
        """Return the case of a suggestion whose third word was changed by the user."""
        text = self.decode(case, drafting=False).text
        head, separator, rest = text.partition("\n")
        return Case("c edited suggestion", case.before + head + "  # checked" + separator, rest) if rest else None


def run(bench: Bench, rounds: int) -> dict[str, Row]:
    plan = cases()
    plan += [edited for case in plan if case.kind.startswith("a") and (edited := bench.edited(case)) is not None]
    rows: dict[str, Row] = {}
    for turn in range(rounds):
        for case in plan:
            row = rows.setdefault(case.kind, Row())
            results = {}
            for drafting in (True, False) if turn % 2 else (False, True):
                result = results[drafting] = bench.decode(case, drafting)
                speed = len(result.tokens) / max(result.decode_seconds, 1e-9)
                (row.drafting if drafting else row.plain).append(speed)
            row.tokens += len(results[True].tokens)
            row.steps += results[True].steps
            row.drafted += results[True].drafted
            row.accepted += results[True].accepted
            row.different += results[True].text != results[False].text
    return rows


def report(bench: Bench, rows: dict[str, Row]) -> dict[str, Any]:
    steps = bench.cost.step_seconds
    print(f"prompt rate {bench.cost.prompt_tokens_per_second:.0f} tokens/s\n")
    print("| step of N tokens | " + " | ".join(str(width) for width in steps) + " |")
    print("| --- |" + " ---: |" * len(steps))
    print("| ms | " + " | ".join(f"{1000 * seconds:.0f}" for seconds in steps.values()) + " |\n")
    print("| kind | drafting, tok/s | plain, tok/s | ratio (quartiles) | tokens/step | accepted | texts that differ |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    table: dict[str, Any] = {}
    for kind, row in sorted(rows.items()):
        ratios = sorted(on / off for on, off in zip(row.drafting, row.plain, strict=True))
        low, high = ratios[len(ratios) // 4], ratios[(3 * len(ratios)) // 4]
        accepted = f"{row.accepted}/{row.drafted}"
        print(
            f"| {kind} | {statistics.median(row.drafting):.1f} | {statistics.median(row.plain):.1f} "
            f"| {statistics.median(ratios):.2f} ({low:.2f} to {high:.2f}) | {row.tokens / row.steps:.2f} "
            f"| {accepted} | {row.different} of {len(ratios)} |"
        )
        table[kind] = {"drafting": row.drafting, "plain": row.plain, "drafted": row.drafted, "accepted": row.accepted}
    print("\nby source: " + "; ".join(f"{name} {c.accepted}/{c.drafted}" for name, c in bench.chain.counts().items()))
    return {"steps": steps, "prompt": bench.cost.prompt_tokens_per_second, "kinds": table}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.latency", description=__doc__)
    parser.add_argument("--model", default=DEFAULT_MODEL, help="catalogue name or path")
    parser.add_argument("--rounds", type=int, default=5, help="pairs of runs for each case (default 5)")
    parser.add_argument("--json", type=Path, help="also write everything to this file")
    options = parser.parse_args()
    about = machine()
    print(", ".join(f"{name} {value}" for name, value in about.items()))
    print(f"model {Path(options.model).name}, {TOKENS} tokens a case, {options.rounds} rounds\n")
    try:
        bench = Bench(resolve(options.model))
    except SparkError as error:
        raise SystemExit(str(error)) from None
    measured = report(bench, run(bench, options.rounds))
    bench.engine.close()
    if options.json is not None:
        options.json.write_text(json.dumps({"machine": about, **measured}, indent=2))


if __name__ == "__main__":
    main()
