"""`python -m benchmarks.latency`: what a decode step costs here, and what drafting brings on four kinds of code.

Each case is decoded plain, with drafting and by llama-server without and with its own n-gram speculation, by turns, the
same number of tokens; the figure is verified tokens per second of decoding, the prompt apart. Kinds: (a) free code,
(b) repetitive code, (c) re-verifying a suggestion whose beginning the user edited (`edits.py` says how), (d) rewriting
a block with a small change. A run of 5 rounds takes about 25 minutes on two cores with the default model, 12 without
llama-server.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.latency.cases import KINDS, cases
from benchmarks.latency.identity import TOKENS as IDENTITY_TOKENS
from benchmarks.latency.identity import differences
from benchmarks.latency.measure import PEER, PEER_NGRAM, TOKENS, add_edited, measure
from benchmarks.latency.peer import NGRAMS, Peer, PeerUnavailableError
from benchmarks.latency.report import render
from benchmarks.latency.session import Session
from benchmarks.machine import heading, machine
from spark_lsp.decoding.llama.loading import default_threads
from spark_lsp.errors import SparkError
from spark_lsp.models.catalogue import DEFAULT_MODEL
from spark_lsp.models.store import resolve


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.latency", description=__doc__)
    parser.add_argument("--model", default=DEFAULT_MODEL, help="catalogue name or path")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each case in each mode (default 5)")
    parser.add_argument("--kinds", default="".join(KINDS), help="which kinds of code (default abcd)")
    parser.add_argument("--json", type=Path, help="also write every sample to this file")
    parser.add_argument("--plots", type=Path, help="also draw to this folder (needs the group `bench`)")
    parser.add_argument("--no-peer", action="store_true", help="leave llama-server out")
    parser.add_argument("--peer-ngram", default=NGRAMS, help=f"its speculation, TYPE or TYPE:N:M (default {NGRAMS})")
    parser.add_argument("--identity", type=int, metavar="N", help="instead: compare the texts of N prompts")
    parser.add_argument("--seed", type=int, default=0, help="chooses the prompts of --identity (default 0)")
    chosen = parser.parse_args()
    if chosen.rounds < 1 or not chosen.kinds or set(chosen.kinds) - set(KINDS):
        parser.error("--rounds is at least 1, and --kinds is made of the letters " + ", ".join(KINDS))
    return chosen


def compare_texts(session: Session, model: str, count: int, seed: int) -> int:
    """Print how many texts differ and return the exit status."""
    least, most = IDENTITY_TOKENS
    run = f"{least} to {most} tokens after each of {count} places in the standard library, seed {seed}"
    print(heading({"machine": machine(), "model": model, "run": run}), end="\n\n")

    def report(number: int, different: int) -> None:
        progress(f"prompt {number + 1} of {count}, {different} of {2 * (number + 1)} texts differ")

    found = differences(session, count, seed, report)
    for difference in found:
        place = difference.place
        print(f"{place.file} at {place.offset}, {difference.drafter}:")
        print(f"  plain   {difference.plain!r}\n  drafted {difference.drafted!r}")
    print(f"{len(found)} of {2 * count} texts differ from the one without drafting.")
    return 1 if found else 0


def compare_speeds(session: Session, path: Path, chosen: argparse.Namespace) -> dict[str, Any]:
    """Return what the JSON file holds."""
    about = machine()
    costs = {"prompt_tokens_per_second": session.cost.prompt_tokens_per_second}
    steps = {str(width): seconds for width, seconds in session.cost.step_seconds.items()}
    peers, left_out = ({}, "llama-server was left out, as asked.") if chosen.no_peer else start_peers(path, chosen)
    version = peers[PEER].version if peers else None
    plan = cases(chosen.kinds)
    if "c" in chosen.kinds:
        plan = add_edited(session, plan)
    try:
        samples = measure(session, plan, chosen.rounds, peers, on_round=lambda turn: progress(f"round {turn + 1} done"))
    finally:
        close(peers)
    return {
        "benchmark": "latency",
        "machine": about,
        "model": chosen.model,
        "run": f"{TOKENS} tokens a case, {len(plan)} cases, rounds: {chosen.rounds}, {default_threads()} threads",
        **costs,
        "step_seconds": steps,
        "exact_width": session.cost.exact_width,
        "peer": {"version": version, "ngram": chosen.peer_ngram, "left_out": left_out},
        "samples": [asdict(sample) for sample in samples],
    }


def start_peers(path: Path, chosen: argparse.Namespace) -> tuple[dict[str, Peer], str]:
    """Return llama-server in both of its modes, or none of them and why."""
    peers: dict[str, Peer] = {}
    try:
        for mode, ngrams in ((PEER, None), (PEER_NGRAM, chosen.peer_ngram)):
            peers[mode] = Peer(path, default_threads(), ngrams)
    except PeerUnavailableError as error:
        close(peers)
        return {}, str(error)
    return peers, ""


def close(peers: dict[str, Peer]) -> None:
    for peer in peers.values():
        peer.close()


def progress(text: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)


def main() -> None:
    chosen = options()
    try:
        path = resolve(chosen.model)
        session = Session(path)
    except SparkError as error:
        raise SystemExit(str(error)) from None
    if chosen.identity is not None:
        status = compare_texts(session, chosen.model, chosen.identity, chosen.seed)
        session.close()
        raise SystemExit(status)
    measured = compare_speeds(session, path, chosen)
    session.close()
    print(render(measured), end="")
    if chosen.json is not None:
        chosen.json.write_text(json.dumps(measured, indent=1) + "\n", "utf-8")
    if chosen.plots is not None:
        from benchmarks.latency.plots import draw

        draw(measured, chosen.plots)


if __name__ == "__main__":
    main()
