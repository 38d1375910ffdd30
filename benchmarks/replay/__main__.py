"""`python -m benchmarks.replay`: real edits typed at a human rhythm, through ours and what people would use instead.

The sessions are differences between published versions of packages (releases.py), downloaded by name once; a seed
chooses them. Every session goes through every program by turns, each in a process of its own with the same model file,
on the real clock. A session takes about a minute for each program. Ctrl-C ends a run, `--resume` continues it.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import benchmarks.replay
from benchmarks.command import carry_out
from benchmarks.infilling.journal import Journal, JournalError, code_digest, journal_path
from benchmarks.latency.peer import NGRAMS
from benchmarks.machine import machine
from benchmarks.replay import llama_vim, predecessor, spark
from benchmarks.replay.completer import CompleterError
from benchmarks.replay.llama_vim.completer import NAME as LLAMA_VIM
from benchmarks.replay.llama_vim.completer import LlamaVim
from benchmarks.replay.measure import Make, measure, record_id
from benchmarks.replay.metrics import Tally, figures
from benchmarks.replay.plan import first_sessions, sessions_of, sessions_within
from benchmarks.replay.policy import policy_of
from benchmarks.replay.releases import languages
from benchmarks.replay.report import render
from benchmarks.replay.runner import Manner, alone
from benchmarks.replay.sessions import Session
from spark_lsp.decoding.cost_cache import user_cache_folder
from spark_lsp.decoding.llama.loading import default_threads
from spark_lsp.errors import SparkError
from spark_lsp.models.catalogue import DEFAULT_MODEL
from spark_lsp.models.store import resolve

PROGRAMS = (spark.NAME, predecessor.NAME, LLAMA_VIM)
SESSIONS = 4
REPETITIONS = 3


def options(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.replay", description=__doc__)
    parser.add_argument("--model", default=DEFAULT_MODEL, help="catalogue name or path; all programs load this file")
    parser.add_argument("--cache", type=Path, help="folder for downloaded archives (default: in the cache directory)")
    parser.add_argument("--languages", default=",".join(languages()), help=f"some of {', '.join(languages())}")
    extent = parser.add_mutually_exclusive_group()
    extent.add_argument("--sessions", type=int, default=SESSIONS, help=f"of each language (default {SESSIONS})")
    extent.add_argument("--minutes", type=float, help="instead: as many as take about so long altogether")
    parser.add_argument("--repetitions", type=int, default=REPETITIONS, help=f"of all sessions (default {REPETITIONS})")
    parser.add_argument("--programs", default=",".join(PROGRAMS), help=f"some of {', '.join(PROGRAMS)}")
    parser.add_argument(
        "--accept", default="whole,line,word", help="what is taken of a suggestion (default: all three)"
    )
    debounce = 1000 * predecessor.DEBOUNCE_SECONDS
    parser.add_argument(
        "--debounce-ms", type=float, default=debounce, help=f"of {predecessor.NAME} (default {debounce:g})"
    )
    parser.add_argument("--ngrams", default=NGRAMS, help=f"speculation of llama-server, TYPE:N:M (default {NGRAMS})")
    parser.add_argument("--no-streaming", action="store_true", help="ask ours without `partialResultToken`")
    parser.add_argument("--seed", type=int, default=0, help="chooses sessions, rhythm and typos (default 0)")
    parser.add_argument("--json", type=Path, help="also write every figure to this file")
    parser.add_argument("--resume", action="store_true", help="continue the run whose journal is beside that file")
    chosen = parser.parse_args(arguments)
    for name, values in (("languages", languages()), ("programs", PROGRAMS)):
        given = list(dict.fromkeys(getattr(chosen, name).split(",")))
        if set(given) - set(values):
            parser.error(f"--{name} is made of {', '.join(values)}")
        setattr(chosen, name, [value for value in values if value in given])
    if chosen.sessions < 1 or chosen.repetitions < 1 or (chosen.minutes is not None and chosen.minutes <= 0):
        parser.error("--sessions, --minutes and --repetitions are more than 0")
    if chosen.resume and chosen.json is None:
        parser.error("--resume needs --json, beside which the journal is kept")
    try:
        chosen.policy = policy_of(chosen.accept)
    except ValueError as error:
        parser.error(str(error))
    return chosen


def makers_of(chosen: argparse.Namespace, model: Path) -> dict[str, Make]:
    """Return how each program is made, in the order of the tables."""
    threads = default_threads()
    makers: dict[str, Make] = {
        spark.NAME: lambda: spark.Spark(model, streaming=not chosen.no_streaming),
        predecessor.NAME: lambda: predecessor.Predecessor(model, threads, debounce=chosen.debounce_ms / 1000),
        LLAMA_VIM: lambda: LlamaVim(model, threads, chosen.ngrams),
    }
    return {name: makers[name] for name in chosen.programs}


def token_counter(model: Path) -> Callable[[str], int]:
    """Return what counts the tokens of a text; only the vocabulary of the model is loaded."""
    import llama_cpp

    vocabulary = llama_cpp.Llama(str(model), vocab_only=True, verbose=False)
    return lambda text: len(vocabulary.tokenize(text.encode(), add_bos=False, special=False))


def xllamacpp_version() -> str:
    """Return the version of the wheel that llama-server comes from."""
    try:
        return version("xllamacpp")
    except PackageNotFoundError:
        return "not installed"


def about(chosen: argparse.Namespace, model: Path) -> dict[str, Any]:
    """Return what makes results comparable, under the names that a user reads when they differ."""
    folders = [Path(module.__path__[0]) for module in (benchmarks.replay, llama_vim)]
    return {
        "model": f"{model.name} {model.stat().st_size}",
        "seed": chosen.seed,
        "kind of accepting": chosen.accept,
        "debounce": chosen.debounce_ms,
        "speculation of llama-server": chosen.ngrams,
        "way of asking": not chosen.no_streaming,
        "version of spark_lsp": code_digest(),
        "version of the benchmark": [code_digest(folder) for folder in folders],
    }


def measured(
    chosen: argparse.Namespace,
    machine_then: dict[str, Any],
    sessions: list[Session],
    manner: Manner,
    left_out: dict[str, str],
    journal: Journal,
) -> dict[str, Any]:
    """Return what the JSON file holds."""
    counts = Counter(session.language for session in sessions)
    extent = ", ".join(f"{language} {count}" for language, count in counts.items())
    strokes, seconds = (sum(values) for values in zip(*(alone(session, manner) for session in sessions), strict=True))
    wanted = [
        (session.language, record_id(session, turn), name)
        for turn in range(chosen.repetitions)
        for session in sessions
        for name in chosen.programs
    ]
    return {
        "benchmark": "replay",
        "machine": machine_then,
        "model": chosen.model,
        "run": f"seed {chosen.seed}, sessions: {extent}; {strokes} strokes in {seconds / 60:.1f} minutes without any "
        f"suggestion; repetitions: {chosen.repetitions}; accepting {chosen.accept.replace(',', ', ')}; "
        f"llama-server with {chosen.ngrams or 'no speculation'}, {default_threads()} threads",
        "programs": list(chosen.programs),
        "left_out": left_out,
        "records": [journal.records[key] for key in wanted if key in journal.records],
    }


def progress(session: Session, turn: int, name: str, result: Tally) -> None:
    found = figures(result)
    warm = "-" if found["warm p50"] is None else f"{1000 * found['warm p50']:.0f} ms"
    text = f"{turn + 1}. {session.id}: {name} {result.seconds:.0f} s, warm p50 {warm}, kept {result.kept_characters}"
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)


def run(chosen: argparse.Namespace) -> dict[str, Any]:
    """Return what was measured. Raises SparkError, JournalError, CompleterError and KeyboardInterrupt."""
    machine_then = {**machine(), "xllamacpp": xllamacpp_version()}  # with the load before the run
    model = resolve(chosen.model)
    manner = Manner(policy=chosen.policy, seed=chosen.seed)
    folder = chosen.cache if chosen.cache is not None else user_cache_folder("replay")
    found = sessions_of(chosen.languages, folder, chosen.seed)
    if chosen.minutes is None:
        sessions = first_sessions(found, chosen.sessions)
    else:
        sessions = sessions_within(found, manner, chosen.minutes, len(chosen.programs) * chosen.repetitions)
    file = journal_path(chosen.json) if chosen.json is not None else None
    count_tokens = token_counter(model)
    with Journal(file, about(chosen, model), resume=chosen.resume) as journal:
        work = measure(sessions, makers_of(chosen, model), chosen.repetitions, manner, count_tokens, journal, progress)
        left_out = asyncio.run(work)
        return measured(chosen, machine_then, sessions, manner, left_out, journal)


def main() -> None:
    chosen = options()
    carry_out(lambda: run(chosen), render, chosen.json, (SparkError, JournalError, CompleterError))


if __name__ == "__main__":
    main()
