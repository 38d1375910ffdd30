"""The real server and model over stdio, in which faults can be caused: `python -m tests.lsp.faulty_server MODEL`.

The request `test/fault` {"kind": ..., ...} causes one, see `_Faults`. A hard abort inside llama.cpp (SIGABRT) ends the
process whatever we do and cannot be caught here: what the server can survive is a call that fails.
"""

from __future__ import annotations

import os
import resource
import sys
import time
from typing import Any

from llama_cpp import llama_cpp

from spark_lsp.cli.serve import _start_log
from spark_lsp.decoding.llama import LlamaEngine
from spark_lsp.loading import local_loader
from spark_lsp.server.app import SparkServer
from spark_lsp.server.transport import protocol_stdout, serve_stdio
from spark_lsp.settings import from_flags

NATIVE_FAILURE = -3
"""A status of `llama_decode` that stands for a failure of the computation."""


class _Faults:
    """What goes wrong, and how often."""

    def __init__(self) -> None:
        self._times = {"exception": 0, "late exception": 0, "native": 0}
        self._decode, self._native, self._time = LlamaEngine.decode, llama_cpp.llama_decode, time.time
        # A function, so that it becomes a method of the engine.
        LlamaEngine.decode = lambda engine, *arguments: self.decode(engine, *arguments)  # type: ignore[method-assign]
        llama_cpp.llama_decode = self.native

    def cause(self, kind: str, *, times: int = 1, seconds: float = 0.0, most_bytes: int = 0) -> None:
        """Let the next decodes fail (`exception`, `late exception`, `native`), the clock jump, or the disk be full."""
        if kind in self._times:
            self._times[kind] = times
        elif kind == "clock":
            time.time = lambda: self._time() + seconds
        elif kind == "disk":
            # Every file that grows beyond is refused by the kernel, as a full disk refuses it.
            resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, resource.RLIM_INFINITY))
        else:
            raise ValueError(kind)

    def decode(self, engine: LlamaEngine, *arguments: Any) -> Any:
        if self._due("exception"):
            raise ZeroDivisionError("a mistake of ours")
        logits = self._decode(engine, *arguments)
        if self._due("late exception"):
            raise ZeroDivisionError("a mistake of ours, after the cells were filled")
        return logits

    def native(self, *arguments: Any) -> Any:
        return NATIVE_FAILURE if self._due("native") else self._native(*arguments)

    def _due(self, kind: str) -> bool:
        if not self._times[kind]:
            return False
        self._times[kind] -= 1
        return True


def main() -> None:
    _start_log("warning", None)
    stdout = protocol_stdout()
    server = SparkServer(local_loader, from_flags(sys.argv[1], optimized=True))
    faults = _Faults()

    @server.feature("test/fault")
    def fault(ls: SparkServer, _params: Any) -> None:
        faults.cause(**ls.protocol.raw_params)

    code = serve_stdio(server, sys.stdin.buffer, stdout)
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    main()
