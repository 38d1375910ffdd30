"""Reading a GGUF file: the model, a context for it, its vocabulary."""

from __future__ import annotations

import contextlib
import ctypes
import logging
import os
import platform
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from spark_lsp.decoding.engine import Vocabulary
from spark_lsp.decoding.llama.runtime import LoadLog, NativeInterrupt
from spark_lsp.errors import CancelledError, ModelLoadError

log = logging.getLogger(__name__)

BATCH_TOKENS = 256
"""Tokens in one decode; prefill arrives in smaller slices, so this only bounds the compute buffers."""
MAX_OUTPUTS = 33
"""Logits rows of one decode: a draft of 32 and the token before it. Each row costs 4 bytes x vocabulary size."""
SEQUENCES = 14
"""Sequences side by side: three for each of four documents, one to write in advance, and a scratch one. They share the
cells of one context."""
_TYPE_BF16 = 30
"""`GGML_TYPE_BF16` of ggml.h, which the bindings leave out."""
_ATTR_UNUSED_OR_UNKNOWN = (1 << 0) | (1 << 1)
_ATTR_CONTROL = 1 << 3
_ATTR_USER_DEFINED = 1 << 4


def usable_cores() -> int:
    """Return the number of logical cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def default_threads() -> int:
    """Return the compute threads for this process: every allowed core up to 4, half of them beyond.

    Beyond four, logical cores are usually two to a physical one, and the second brings nothing to matrix work.
    """
    allowed = usable_cores()
    return allowed if allowed <= 4 else max(4, allowed // 2)


def kv_type(llama: Any, offloaded: bool) -> int:
    """Return the type of the KV cache's cells: bfloat16 on x86 processors, else float16.

    With float16 cells and 512 of them in use, llama.cpp splits the attention of a single token between the threads and
    that of several not, so that no decode of several tokens gives the logits of decodes of one. With bfloat16 it does
    not split, and steps take as long (T(1) 25 against 27 ms, T(16) 161 against 177, Q4_0 on two AVX2 cores). The
    logits' divergence from float32 cells is 0.001, a hundredth of what the 4-bit weights do. Elsewhere bfloat16 lacks
    fast kernels.
    """
    gpu = offloaded and llama.llama_supports_gpu_offload()
    x86 = platform.machine().lower() in {"x86_64", "amd64"}
    return _TYPE_BF16 if x86 and not gpu else int(llama.GGML_TYPE_F16)


def load_model(
    llama: Any, path: Path, gpu_layers: int, progress: Callable[[float], bool] | None, messages: LoadLog
) -> Any:
    """Return the loaded model. Raises CancelledError if `progress` returned False, ModelLoadError otherwise."""
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


def make_context(
    llama: Any,
    model: Any,
    context_tokens: int,
    threads: int,
    sequences: int,
    interrupt: NativeInterrupt,
    gpu_layers: int = -1,
) -> Any:
    """Return a context with the bounds of this module. Raises ModelLoadError when there is no memory for it."""
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
    params.type_k = params.type_v = kv_type(llama, params.offload_kqv and gpu_layers != 0)
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


def read_vocabulary(llama: Any, vocab: Any) -> Vocabulary:
    """Return the bytes of every token, and the control tokens by their text."""
    size = int(llama.llama_vocab_n_tokens(vocab))
    buffer = ctypes.create_string_buffer(512)
    pieces: list[bytes] = []
    special: dict[str, int] = {}
    for token in range(size):
        attributes = int(llama.llama_vocab_get_attr(vocab, token))
        if attributes & (_ATTR_CONTROL | _ATTR_USER_DEFINED):
            text = llama.llama_vocab_get_text(vocab, token) or b""
            special[text.decode("utf-8", "replace")] = token
        if attributes & (_ATTR_CONTROL | _ATTR_UNUSED_OR_UNKNOWN):
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
