"""llama.cpp as a library: importing it, its log, its abort flag."""

from __future__ import annotations

import ctypes
import logging
import os
import threading
from typing import Any

from spark_lsp.errors import EngineUnavailableError

log = logging.getLogger(__name__)

LOG_LEVEL_ERROR = 4
"""`GGML_LOG_LEVEL_ERROR` of the llama.cpp in llama-cpp-python 0.3.36, where 3 is a warning."""
OPENMP_SPIN_COUNT = "1000"
"""Rounds that a compute thread spins at a barrier before it sleeps. With the runtime's default (300,000) threads burn
the cores that a preempted thread waits for: with one other busy process on two cores a decode step took 240 to 2,700 ms
instead of 80 to 110 ms, and prefill ran at 18 instead of 55 tokens/s. Read once, when the OpenMP library loads."""


def import_llama() -> Any:
    """Return the module of low-level bindings. Raises EngineUnavailableError if it is missing or too old."""
    if "OMP_WAIT_POLICY" not in os.environ:
        os.environ.setdefault("GOMP_SPINCOUNT", OPENMP_SPIN_COUNT)
    try:
        from llama_cpp import llama_cpp
    except (ImportError, OSError, RuntimeError) as error:
        raise EngineUnavailableError(
            "The model runtime llama-cpp-python could not be loaded.",
            next_step="Install it with `pip install 'llama-cpp-python>=0.3.36,<0.4'` in the environment of spark-lsp.",
        ) from error
    missing = {"n_outputs_max", "kv_unified", "abort_callback"} - {
        name for name, *_ in llama_cpp.llama_context_params._fields_
    }
    if missing:
        raise EngineUnavailableError(
            f"The installed llama-cpp-python lacks {', '.join(sorted(missing))}.",
            next_step="Install version 0.3.36 or later of the 0.3 series.",
        )
    return llama_cpp


def _c_library() -> ctypes.CDLL:
    return ctypes.CDLL(None) if os.name != "nt" else ctypes.CDLL("ucrtbase")


class NativeInterrupt:
    """The abort flag read by llama.cpp between graph nodes: a C string that is empty while decoding may go on."""

    def __init__(self, callback_type: Any) -> None:
        self._buffer = ctypes.create_string_buffer(2)
        self.callback = ctypes.cast(_c_library().strlen, callback_type)
        self.data = ctypes.cast(self._buffer, ctypes.c_void_p)

    def set(self) -> None:
        """Abort the running decode after the current graph node."""
        self._buffer[0] = b"\x01"

    def clear(self) -> None:
        """Allow decoding."""
        self._buffer[0] = b"\x00"

    def is_set(self) -> bool:
        """Whether decoding is aborted."""
        return self._buffer[0] != b"\x00"


class LoadLog:
    """Collects what llama.cpp says while loading; native and silent afterwards."""

    def __init__(self, llama: Any) -> None:
        self._llama = llama
        self.errors: list[str] = []
        self._callback = llama.llama_log_callback(self._receive)

    def _receive(self, level: int, text: bytes, _data: Any) -> None:
        line = text.decode("utf-8", "replace").rstrip()
        if level == LOG_LEVEL_ERROR and line:
            self.errors.append(line)
        if line:
            log.debug("llama.cpp: %s", line)

    def __enter__(self) -> LoadLog:
        self._llama.llama_log_set(self._callback, None)
        return self

    def __exit__(self, *_: object) -> None:
        # abs(level) has no effect and needs no GIL: a native sink for the callback's three arguments.
        sink = ctypes.cast(_c_library().abs, self._llama.llama_log_callback)
        _SINKS.append(sink)
        self._llama.llama_log_set(sink, None)


_SINKS: list[Any] = []  # llama.cpp keeps the pointer for the life of the process


_BACKEND = threading.Lock()
_backend_started = False


def start_backend(llama: Any) -> None:
    """Start llama.cpp's back ends once for the process."""
    global _backend_started
    with _BACKEND:
        if not _backend_started:
            llama.llama_backend_init()
            _backend_started = True
