"""`python -m benchmarks.replay.llama_server MODEL THREADS [NGRAMS]`: llama-server for its editor plugins, in a child.

The sizes are those of its presets for FIM (`--fim-qwen-1.5b-default` and its like): batches of 1024 tokens and reuse of
moved chunks from 256 tokens on; the context is bounded, since the presets take all that the model was trained on.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

CONTEXT_TOKENS = 16384
"""Room for 16 chunks of 32 lines and the window; the KV cache of a 0.5B takes 200 MB then."""
BATCH_TOKENS = 1024
CACHE_REUSE_TOKENS = 256


def parameters(path: str, threads: int, ngrams: str) -> Any:
    """Return the server's parameters; `ngrams` is a type of speculation, its lookup and its draft length, or empty."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = path
    params.n_ctx = CONTEXT_TOKENS
    params.n_batch = params.n_ubatch = BATCH_TOKENS
    params.n_cache_reuse = CACHE_REUSE_TOKENS
    params.n_parallel = 1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
    params.endpoint_metrics = True
    params.verbosity = 0
    if ngrams:
        name, *sizes = ngrams.replace("-", "_").split(":")
        params.speculative.types = [
            getattr(xllamacpp.common_speculative_type, f"COMMON_SPECULATIVE_TYPE_{name.upper()}")
        ]
        if sizes:
            of_type = getattr(params.speculative, name)
            of_type.size_n, of_type.size_m = map(int, sizes)
    return params


def main(path: str, threads: int, ngrams: str = "") -> None:
    """Run the server, print its address as a line of JSON, and end with the standard input."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what the library prints does not get between

    import xllamacpp

    server = xllamacpp.Server(parameters(path, threads, ngrams))
    print(json.dumps({"address": server.listening_address, "version": xllamacpp.__version__}), file=answers, flush=True)
    sys.stdin.buffer.read()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), *sys.argv[3:])
