"""The engine on llama.cpp, through the low-level calls of llama-cpp-python.

This is the only module that imports `llama_cpp`. Its `Llama` class is not used: it redirects file descriptor 1 while
loading, knows no cancel and passes wrong FIM ids. What is binding here:

* A failed assertion in llama.cpp kills the process, so `decode` checks every bound that llama.cpp asserts.
* The abort callback is native code (libc's `strlen` over a two-byte buffer): a Python callback would be called after
  each of several hundred graph nodes and need the GIL each time.
* llama.cpp writes to its log callback from its own threads; after loading, the callback is native as well.
"""

from __future__ import annotations

import contextlib
import ctypes
import logging
import os
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spark_lsp.decoding.engine import ModelInfo, Row, Vocabulary
from spark_lsp.errors import (
    CancelledError,
    ContextFullError,
    DecodeError,
    EngineUnavailableError,
    ModelLoadError,
)

log = logging.getLogger(__name__)

BATCH_TOKENS = 256
"""Tokens in one decode; prefill arrives in smaller slices, so this only bounds the compute buffers."""
MAX_OUTPUTS = 33
"""Logits rows of one decode: a draft of 32 and the token before it. Each row costs 4 bytes x vocabulary size."""
SEQUENCES = 4
"""Documents whose KV cache is kept side by side."""
OPENMP_SPIN_COUNT = "1000"
"""Rounds that a compute thread spins at a barrier before it sleeps. With the runtime's default (300,000) threads burn
the cores that a preempted thread waits for: with one other busy process on two cores a decode step took 240 to 2,700 ms
instead of 80 to 110 ms, and prefill ran at 18 instead of 55 tokens/s. Read once, when the OpenMP library loads."""
_DECODE_ABORTED = 2
_DECODE_NO_CELLS = 1
_ATTR_UNUSED_OR_UNKNOWN = (1 << 0) | (1 << 1)
_ATTR_CONTROL_OR_USER = (1 << 3) | (1 << 4)


def default_threads() -> int:
    """Return the compute threads for this process: every allowed core up to 4, half of them beyond.

    Beyond four, logical cores are usually two to a physical one, and the second brings nothing to matrix work.
    """
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return allowed if allowed <= 4 else max(4, allowed // 2)


def _import_llama() -> Any:
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


class NativeInterrupt:
    """The abort flag read by llama.cpp between graph nodes: a C string that is empty while decoding may go on."""

    def __init__(self, callback_type: Any) -> None:
        library = ctypes.CDLL(None) if os.name != "nt" else ctypes.CDLL("ucrtbase")
        self._buffer = ctypes.create_string_buffer(2)
        self.callback = ctypes.cast(library.strlen, callback_type)
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


class _LoadLog:
    """Collects what llama.cpp says while loading; native and silent afterwards."""

    def __init__(self, llama: Any) -> None:
        self._llama = llama
        self.errors: list[str] = []
        self._callback = llama.llama_log_callback(self._receive)

    def _receive(self, level: int, text: bytes, _data: Any) -> None:
        line = text.decode("utf-8", "replace").rstrip()
        if level == 3 and line:
            self.errors.append(line)
        if line:
            log.debug("llama.cpp: %s", line)

    def __enter__(self) -> _LoadLog:
        self._llama.llama_log_set(self._callback, None)
        return self

    def __exit__(self, *_: object) -> None:
        # abs(level) has no effect and needs no GIL: a native sink for the callback's three arguments.
        library = ctypes.CDLL(None) if os.name != "nt" else ctypes.CDLL("ucrtbase")
        self._sink = ctypes.cast(library.abs, self._llama.llama_log_callback)
        self._llama.llama_log_set(self._sink, None)
        _SINKS.append(self._sink)


_SINKS: list[Any] = []  # llama.cpp keeps the pointer for the life of the process


class _LlamaLogits:
    def __init__(self, llama: Any, context: Any, first: int, count: int, size: int) -> None:
        self._llama, self._context, self._first, self._count, self._size = llama, context, first, count, size

    def row(self, index: int) -> Row:
        if not 0 <= index < self._count:
            raise DecodeError(f"Row {index} was asked for, but the decode returned {self._count}.")
        pointer = self._llama.llama_get_logits_ith(self._context, self._first + index)
        if not pointer:
            raise DecodeError("llama.cpp returned no logits for a position that asked for them.")
        return np.ctypeslib.as_array(pointer, (self._size,))


class LlamaEngine:
    """A GGUF model in this process. Made by `load`; see `decoding.engine` for what each member guarantees."""

    def __init__(
        self, llama: Any, model: Any, context: Any, interrupt: NativeInterrupt, name: str, sequences: int
    ) -> None:
        self._llama, self._model, self._context = llama, model, context
        self._memory = llama.llama_get_memory(context)
        self._vocab = llama.llama_model_get_vocab(model)
        self._interrupt = interrupt
        self._closing = threading.Lock()
        self._info = ModelInfo(
            name=name,
            context_length=int(llama.llama_n_ctx(context)),
            batch_size=int(llama.llama_n_batch(context)),
            max_outputs=MAX_OUTPUTS,
            sequences=sequences,
            rolls_back=not (llama.llama_model_is_recurrent(model) or llama.llama_model_is_hybrid(model)),
        )
        self._vocabulary = _read_vocabulary(llama, self._vocab)
        self._batch = llama.llama_batch_init(BATCH_TOKENS, 0, 1)
        shape = (BATCH_TOKENS,)
        self._token: NDArray[np.int32] = np.ctypeslib.as_array(self._batch.token, shape)
        self._position: NDArray[np.int32] = np.ctypeslib.as_array(self._batch.pos, shape)
        self._output: NDArray[np.int8] = np.ctypeslib.as_array(self._batch.logits, shape)
        for i in range(BATCH_TOKENS):
            self._batch.n_seq_id[i] = 1

    @classmethod
    def load(
        cls,
        path: Path,
        *,
        name: str | None = None,
        context_tokens: int = 8192,
        threads: int = 0,
        gpu_layers: int = -1,
        sequences: int = SEQUENCES,
        progress: Callable[[float], bool] | None = None,
    ) -> LlamaEngine:
        """Return a ready engine for the GGUF file at `path`.

        `progress` is called with the loaded fraction and stops the load by returning False. Raises
        EngineUnavailableError without llama-cpp-python, ModelLoadError for a file that llama.cpp refuses,
        CancelledError when `progress` stopped it.
        """
        llama = _import_llama()
        with _LoadLog(llama) as messages:
            _start_backend(llama)
            model = _load_model(llama, path, gpu_layers, progress, messages)
            try:
                interrupt = NativeInterrupt(llama.ggml_abort_callback)
                context = _make_context(
                    llama, model, context_tokens, threads or default_threads(), sequences, interrupt
                )
            except BaseException:
                llama.llama_model_free(model)
                raise
        return cls(llama, model, context, interrupt, name or path.stem, sequences)

    @property
    def info(self) -> ModelInfo:
        """Limits and name."""
        return self._info

    @property
    def vocabulary(self) -> Vocabulary:
        """Tokens by bytes."""
        return self._vocabulary

    @property
    def interrupt(self) -> NativeInterrupt:
        """The native abort flag."""
        return self._interrupt

    def tokenize(self, text: str) -> list[int]:
        """Return the tokens of plain text; safe from any thread, since the vocabulary is read-only."""
        data = text.encode("utf-8", "replace")
        if not data:
            return []
        size = len(data) + 8
        while True:
            out = (ctypes.c_int32 * size)()
            count = int(self._llama.llama_tokenize(self._vocab, data, len(data), out, size, False, False))
            if count >= 0:
                return out[:count]
            size = -count

    def decode(self, sequence: int, position: int, tokens: Sequence[int], outputs: int) -> _LlamaLogits:
        """Append `tokens` and return the last `outputs` rows; see the protocol for the errors."""
        count = len(tokens)
        self._check(sequence, position, tokens, outputs)
        if self._interrupt.is_set():
            raise CancelledError
        self._token[:count] = tokens
        self._position[:count] = np.arange(position, position + count, dtype=np.int32)
        self._output[:count] = 0
        self._output[count - outputs : count] = 1
        for i in range(count):
            self._batch.seq_id[i][0] = sequence
        self._batch.n_tokens = count
        status = int(self._llama.llama_decode(self._context, self._batch))
        if status == 0:
            return _LlamaLogits(self._llama, self._context, count - outputs, outputs, len(self._vocabulary))
        if status == _DECODE_ABORTED:
            raise CancelledError
        if status == _DECODE_NO_CELLS:
            raise ContextFullError("The KV cache has no free cells left.")
        raise DecodeError(f"llama.cpp failed to decode {count} tokens (status {status}).")

    def _check(self, sequence: int, position: int, tokens: Sequence[int], outputs: int) -> None:
        """Raise unless every assertion that llama.cpp makes about this batch holds."""
        count, info = len(tokens), self._info
        if not 1 <= count <= min(info.batch_size, BATCH_TOKENS):
            raise DecodeError(f"A batch holds 1 to {min(info.batch_size, BATCH_TOKENS)} tokens, not {count}.")
        if not 0 <= outputs <= min(count, info.max_outputs):
            raise DecodeError(f"A batch of {count} tokens returns 0 to {info.max_outputs} rows, not {outputs}.")
        if not 0 <= sequence < info.sequences:
            raise DecodeError(f"Sequence {sequence} does not exist; there are {info.sequences}.")
        if position != self.length(sequence):
            raise DecodeError(f"The sequence holds {self.length(sequence)} tokens; nothing can be put at {position}.")
        if position + count > info.context_length:
            raise ContextFullError(f"{position + count} tokens do not fit a context of {info.context_length}.")
        if min(tokens) < 0 or max(tokens) >= len(self._vocabulary):
            raise DecodeError("A token lies outside the vocabulary.")

    def truncate(self, sequence: int, length: int) -> bool:
        """Keep the first `length` tokens of the sequence."""
        return bool(self._llama.llama_memory_seq_rm(self._memory, sequence, length, -1))

    def length(self, sequence: int) -> int:
        """Return the number of tokens held, read from llama.cpp and not from a counter of ours."""
        return int(self._llama.llama_memory_seq_pos_max(self._memory, sequence)) + 1

    def close(self) -> None:
        """Free context and model."""
        with self._closing:
            if self._context is None:
                return
            self._llama.llama_batch_free(self._batch)
            self._llama.llama_free(self._context)
            self._llama.llama_model_free(self._model)
            self._context = self._model = None


_BACKEND = threading.Lock()
_backend_started = False


def _start_backend(llama: Any) -> None:
    global _backend_started
    with _BACKEND:
        if not _backend_started:
            llama.llama_backend_init()
            _backend_started = True


def _load_model(
    llama: Any, path: Path, gpu_layers: int, progress: Callable[[float], bool] | None, messages: _LoadLog
) -> Any:
    stopped = False

    def report(fraction: float, _data: Any) -> bool:
        nonlocal stopped
        with contextlib.suppress(Exception):  # an exception must not cross the C frame
            stopped = progress is not None and not progress(float(fraction))
        return not stopped

    params = llama.llama_model_default_params()
    params.n_gpu_layers = gpu_layers if gpu_layers >= 0 else 10_000
    callback = llama.llama_progress_callback(report)
    params.progress_callback = callback
    model = llama.llama_model_load_from_file(os.fsencode(path), params)
    if stopped:
        if model:
            llama.llama_model_free(model)
        raise CancelledError
    if not model:
        log.error("llama.cpp could not load %s: %s", path, "; ".join(messages.errors) or "no reason given")
        raise ModelLoadError(
            f"llama.cpp could not load the model file {path.name}"
            f"{': ' + messages.errors[0] if messages.errors else ''}.".replace("..", "."),
            next_step="Check it with `spark-lsp models verify`, or pull it again with `spark-lsp models pull`.",
        )
    return model


def _make_context(
    llama: Any, model: Any, context_tokens: int, threads: int, sequences: int, interrupt: NativeInterrupt
) -> Any:
    params = llama.llama_context_default_params()
    trained = int(llama.llama_model_n_ctx_train(model))
    params.n_ctx = min(context_tokens, trained) if trained > 0 else context_tokens
    params.n_batch = BATCH_TOKENS
    params.n_ubatch = BATCH_TOKENS
    params.n_seq_max = sequences
    params.kv_unified = True
    params.n_outputs_max = MAX_OUTPUTS
    params.n_outputs_max_per_seq = MAX_OUTPUTS
    params.n_threads = threads
    params.n_threads_batch = threads
    params.no_perf = True
    if sys.platform != "darwin":  # on Metal a callback is never asked and delays the command buffers
        params.abort_callback = interrupt.callback
        params.abort_callback_data = interrupt.data
    context = llama.llama_init_from_model(model, params)
    if not context:
        raise ModelLoadError(
            f"llama.cpp could not reserve a context of {params.n_ctx} tokens.",
            next_step="Lower the setting `model.contextTokens` or close other programs that use memory.",
        )
    return context


def _read_vocabulary(llama: Any, vocab: Any) -> Vocabulary:
    size = int(llama.llama_vocab_n_tokens(vocab))
    buffer = ctypes.create_string_buffer(512)
    pieces: list[bytes] = []
    special: dict[str, int] = {}
    for token in range(size):
        attributes = int(llama.llama_vocab_get_attr(vocab, token))
        if attributes & _ATTR_CONTROL_OR_USER:
            text = llama.llama_vocab_get_text(vocab, token) or b""
            special[text.decode("utf-8", "replace")] = token
        if attributes & ((1 << 3) | _ATTR_UNUSED_OR_UNKNOWN):
            pieces.append(b"")
            continue
        length = int(llama.llama_token_to_piece(vocab, token, buffer, len(buffer), 0, False))
        if length < 0:
            big = ctypes.create_string_buffer(-length)
            length = int(llama.llama_token_to_piece(vocab, token, big, len(big), 0, False))
            pieces.append(big.raw[:length])
        else:
            pieces.append(buffer.raw[:length])
    bos = int(llama.llama_vocab_bos(vocab)) if llama.llama_vocab_get_add_bos(vocab) else None
    return Vocabulary(
        pieces=tuple(pieces),
        special=special,
        end_of_generation=frozenset(t for t in special.values() if llama.llama_vocab_is_eog(vocab, t)),
        bos=bos,
    )
