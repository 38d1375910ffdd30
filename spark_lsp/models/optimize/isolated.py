"""Work in a process of its own: `python -m spark_lsp.models.optimize.isolated` with a job on standard input.

Quantizing is one native call that nothing interrupts, and a native failure ends its process. In a process of its own
Ctrl-C works at once, a broken variant costs only itself, and the resident memory is that of one model.
"""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from pathlib import Path
from typing import Any

from spark_lsp.errors import EngineError, SparkError
from spark_lsp.models.optimize.importance_file import read_importance, write_importance

log = logging.getLogger(__name__)

PROBE_TOKENS = 64
"""Tokens decoded before the memory is read, so that every weight has been used once."""


def run_job(job: dict[str, Any]) -> dict[str, Any]:
    """Return what `job` gives in a process of its own.

    Raises EngineError with its sentence, or naming the signal when the native code ended the process.
    """
    command = [sys.executable, "-m", "spark_lsp.models.optimize.isolated"]
    done = subprocess.run(command, input=json.dumps(job), capture_output=True, text=True, encoding="utf-8", check=False)
    if done.stderr.strip():
        log.debug("%s: %s", job.get("kind"), done.stderr.strip()[-2000:])
    lines = done.stdout.strip().splitlines()
    try:
        answer: dict[str, Any] = json.loads(lines[-1])
    except (IndexError, ValueError):
        raise EngineError(f"The model runtime broke off (exit code {done.returncode}).") from None
    if "error" in answer:
        raise EngineError(str(answer["error"]), next_step=str(answer.get("next_step", "")))
    return answer


def resident_bytes(model: Path, context_tokens: int, threads: int) -> int:
    """Return the memory that a process holds after loading `model` and decoding a little, in bytes."""
    job = {"kind": "probe", "model": str(model), "context_tokens": context_tokens, "threads": threads}
    return int(run_job(job)["resident"])


def _probe(job: dict[str, Any]) -> dict[str, Any]:
    import psutil

    from spark_lsp.decoding.llama import LlamaEngine

    engine = LlamaEngine.load(Path(job["model"]), context_tokens=job["context_tokens"], threads=job["threads"])
    try:
        ordinary = [token for token, piece in enumerate(engine.vocabulary.pieces) if piece][:PROBE_TOKENS]
        engine.decode(0, 0, ordinary, 1).row(0).argmax()
        return {"resident": psutil.Process().memory_info().rss}
    finally:
        engine.close()


def _quantize(job: dict[str, Any]) -> dict[str, Any]:
    from spark_lsp.decoding.llama.quantize import quantize

    importance = read_importance(Path(job["importance"])) if job.get("importance") else None
    quantize(Path(job["source"]), Path(job["target"]), job["types"], importance=importance, threads=job["threads"])
    return {}


def _importance(job: dict[str, Any]) -> dict[str, Any]:
    from spark_lsp.decoding.llama.importance import collect_importance

    found = collect_importance(Path(job["model"]), job["texts"], threads=job["threads"])
    write_importance(found, Path(job["target"]))
    return {"matrices": len(found)}


_JOBS = {"probe": _probe, "quantize": _quantize, "importance": _importance}


def _main() -> None:
    job = json.load(sys.stdin)
    try:
        answer = _JOBS[job["kind"]](job)
    except SparkError as error:
        answer = {"error": error.sentence, "next_step": error.next_step}
    print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    _main()
