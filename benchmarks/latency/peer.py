"""The peer: llama-server, which the `xllamacpp` wheel runs inside this process, asked over its own HTTP interface.

The same model, the same prompt tokens, greedy, as many tokens as ours wrote, on as many threads; its speed is what its
answer's `timings` say. `python -m benchmarks.latency.peer MODEL` tries it: a wheel that does not run on this CPU then
ends a child process and not the benchmark.
"""

from __future__ import annotations

import http.client
import json
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

CONTEXT_TOKENS = 4096
NGRAM_TYPES = ("ngram-simple", "ngram-map-k", "ngram-map-k4v", "ngram-mod", "ngram-cache")
"""What `llama-server --spec-type` takes that needs no second model."""
NGRAM_TYPE = "ngram-map-k"
TRIAL_SECONDS = 120.0
_ANSWER_SECONDS = 300.0


@dataclass(frozen=True, slots=True)
class PeerAnswer:
    """What llama-server wrote, and what its `timings` say about it."""

    text: str
    tokens: int
    seconds: float
    """Of decoding, prompt apart."""
    drafted: int
    accepted: int


class Peer:
    """A running llama-server; raises RuntimeError or ImportError if it does not start."""

    def __init__(self, path: Path, threads: int, ngram_type: str | None = None) -> None:
        import xllamacpp

        params = xllamacpp.CommonParams()
        params.model.path = str(path)
        params.n_ctx = CONTEXT_TOKENS
        params.n_parallel = 1
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
        params.verbosity = 0
        if ngram_type is not None:
            kind = f"COMMON_SPECULATIVE_TYPE_{ngram_type.upper().replace('-', '_')}"
            params.speculative.types = [getattr(xllamacpp.common_speculative_type, kind)]
        self.version = str(xllamacpp.__version__)
        self._server: Any = xllamacpp.Server(params)
        address = urlsplit(self._server.listening_address)
        self._host, self._port = address.hostname or "127.0.0.1", address.port

    def complete(self, prompt: Sequence[int], tokens: int) -> PeerAnswer:
        """Return the greedy continuation of `prompt` by at most `tokens` tokens."""
        asked = {"prompt": list(prompt), "n_predict": tokens, "temperature": 0, "cache_prompt": True}
        connection = http.client.HTTPConnection(self._host, self._port, timeout=_ANSWER_SECONDS)
        try:
            connection.request("POST", "/completion", json.dumps(asked), {"Content-Type": "application/json"})
            response = connection.getresponse()
            data = json.loads(response.read())
        finally:
            connection.close()
        if response.status != http.client.OK:
            raise RuntimeError(f"llama-server answered {response.status}: {data}")
        timings = data["timings"]
        return PeerAnswer(
            text=data["content"],
            tokens=timings["predicted_n"],
            seconds=timings["predicted_ms"] / 1000,
            drafted=timings.get("draft_n", 0),
            accepted=timings.get("draft_n_accepted", 0),
        )

    def close(self) -> None:
        """Stop the server and free its model."""
        self._server = None


def why_not(path: Path) -> str:
    """Return why llama-server cannot run here, in one sentence; empty if it can. Takes a few seconds."""
    try:
        import importlib.util

        if importlib.util.find_spec("xllamacpp") is None:
            return "llama-server was left out: the package xllamacpp is not installed (`uv sync --group bench`)."
        trial = subprocess.run(
            [sys.executable, "-m", __name__, str(path)], capture_output=True, text=True, timeout=TRIAL_SECONDS
        )
    except subprocess.TimeoutExpired:
        return f"llama-server was left out: it wrote nothing within {TRIAL_SECONDS:.0f} s."
    if trial.returncode == 0:
        return ""
    if trial.returncode < 0:
        return f"llama-server was left out: it died of {signal.Signals(-trial.returncode).name} on this machine."
    last = (trial.stderr.strip().splitlines() or ["no reason given"])[-1]
    return f"llama-server was left out: {last}."


if __name__ == "__main__":
    trial = Peer(Path(sys.argv[1]), threads=1)
    print(trial.complete([1, 2, 3], 2))
