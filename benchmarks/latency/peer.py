"""The peer: llama-server from the `xllamacpp` wheel, in a child process, asked over its own HTTP interface on loopback.

The same model, the same prompt tokens, greedy, as many tokens as ours wrote, on as many threads; its speed is what its
answer's `timings` say. Both libraries also work in one process, but libgomp then spins less for all of them (it counts
the threads of the whole process against the cores), which changed our own step times by a third on a busy machine. And
a wheel that does not run on this CPU ends the child alone.
"""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

CONTEXT_TOKENS = 4096
NGRAMS = "ngram-simple:4:8"
"""A type for `llama-server --spec-type`, tokens looked up, tokens drafted; benchmarks/README.md says why these."""
START_SECONDS = 120.0
STOP_SECONDS = 10.0
_ANSWER_SECONDS = 600.0


class PeerUnavailableError(Exception):
    """llama-server does not run here; the message is a sentence that says why."""


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
    """A running llama-server with one slot; raises PeerUnavailableError if it does not start."""

    def __init__(self, path: Path, threads: int, ngrams: str | None = None) -> None:
        command = [sys.executable, "-m", __name__, str(path), str(threads), *([ngrams] if ngrams else [])]
        with tempfile.TemporaryFile() as log:
            self._child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log)
            too_late = threading.Timer(START_SECONDS, self._child.kill)
            too_late.start()
            assert self._child.stdout is not None
            line = self._child.stdout.readline()
            too_late.cancel()
            if not line:
                status = self._child.wait()
                self.close()
                log.seek(0)
                raise PeerUnavailableError(why_not(status, log.read().decode("utf-8", "replace")))
        started = json.loads(line)
        self.version = str(started["version"])
        self._address = urlsplit(started["address"]).netloc

    def complete(self, prompt: Sequence[int], tokens: int) -> PeerAnswer:
        """Return the greedy continuation of `prompt` by at most `tokens` tokens."""
        asked = {"prompt": list(prompt), "n_predict": tokens, "temperature": 0, "cache_prompt": True}
        connection = http.client.HTTPConnection(self._address, timeout=_ANSWER_SECONDS)
        try:
            connection.request("POST", "/completion", json.dumps(asked), {"Content-Type": "application/json"})
            response = connection.getresponse()
            data = json.loads(response.read())
        finally:
            connection.close()
        if response.status != http.client.OK:
            raise RuntimeError(f"llama-server answered {response.status}: {data}")
        return answer_of(data)

    def close(self) -> None:
        """Stop the server."""
        if self._child.stdin is not None:
            self._child.stdin.close()
        try:
            self._child.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()
        if self._child.stdout is not None:
            self._child.stdout.close()


def answer_of(data: dict[str, object]) -> PeerAnswer:
    """Return what matters of an answer to `/completion`."""
    timings = data["timings"]
    assert isinstance(timings, dict)
    return PeerAnswer(
        text=str(data["content"]),
        tokens=timings["predicted_n"],
        seconds=timings["predicted_ms"] / 1000,
        drafted=timings.get("draft_n", 0),
        accepted=timings.get("draft_n_accepted", 0),
    )


def why_not(status: int, log: str, name: str = "llama-server") -> str:
    """Return in one sentence why a child that ended with `status` before it was ready did so."""
    if "No module named 'xllamacpp'" in log:
        return f"{name} was left out: the package xllamacpp is not installed (`uv run --group bench` has it)."
    if status == -9:  # Windows has no SIGKILL to compare with
        return f"{name} was left out: it was killed before it was ready; {START_SECONDS:.0f} s are the limit."
    if status < 0:
        return f"{name} was left out: it died of {signal.Signals(-status).name} on this machine."
    last = (log.strip().splitlines() or ["no reason given"])[-1]
    return f"{name} was left out: {last.rstrip('.?')}."


def serve(path: str, threads: int, ngrams: str = "") -> None:
    """Run llama-server, print its address as a line of JSON, and end with the standard input."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what the library prints does not get between

    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = path
    params.n_ctx = CONTEXT_TOKENS
    params.n_parallel = 1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
    params.verbosity = 0
    if ngrams:
        name, *sizes = ngrams.replace("-", "_").split(":")
        kind = getattr(xllamacpp.common_speculative_type, f"COMMON_SPECULATIVE_TYPE_{name.upper()}")
        params.speculative.types = [kind]
        if sizes:
            of_type = getattr(params.speculative, name)
            of_type.size_n, of_type.size_m = map(int, sizes)
    server = xllamacpp.Server(params)
    print(json.dumps({"address": server.listening_address, "version": xllamacpp.__version__}), file=answers, flush=True)
    sys.stdin.buffer.read()


if __name__ == "__main__":
    serve(sys.argv[1], int(sys.argv[2]), *sys.argv[3:])
