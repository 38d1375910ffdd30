"""Changing the types of a model file's tensors, by llama.cpp's own quantizer."""

from __future__ import annotations

import ctypes
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spark_lsp.decoding.llama.loading import default_threads
from spark_lsp.decoding.llama.runtime import LoadLog, import_llama, start_backend
from spark_lsp.errors import ModelLoadError

EMBEDDING, HEAD = "token_embd.weight", "output.weight"
FILE_TYPE = "LLAMA_FTYPE_MOSTLY_Q4_0"
"""The type that the file states for itself. Only tools show it: each tensor has its own."""


def quantize(
    source: Path,
    target: Path,
    types: Mapping[str, int],
    *,
    importance: Mapping[str, NDArray[np.float32]] | None = None,
    threads: int = 0,
) -> None:
    """Write `source` to `target` with the tensors in `types` in these types, numbered as in GGUF files.

    Every matrix of the file needs an entry, with its own type where it is to be copied; a type has to fit the length
    of the tensor's rows. An already quantized tensor may change its type once more. `importance` says how
    much the columns of matrices matter (`importance.collect_importance`). Raises ModelLoadError with llama.cpp's
    reason; `target` may then exist, incomplete.
    """
    llama = import_llama()
    start_backend(llama)
    numbers = dict(types)
    params = llama.llama_model_quantize_default_params()
    params.nthread = threads or default_threads()
    params.ftype = getattr(llama, FILE_TYPE)
    params.allow_requantize = True
    params.pure = True  # no mixture of llama.cpp's own: the types are given one by one
    params.token_embedding_type = numbers.pop(EMBEDDING, llama.GGML_TYPE_COUNT)
    params.output_tensor_type = numbers.pop(HEAD, llama.GGML_TYPE_COUNT)
    overrides = (llama.llama_model_tensor_override * (len(numbers) + 1))()  # the last one, empty, ends the list
    for slot, (name, number) in zip(overrides, numbers.items(), strict=False):
        slot.pattern, slot.type = f"^{re.escape(name)}$".encode(), number
    params.tt_overrides = overrides
    kept = _importance_list(llama, importance or {})
    if importance:
        params.imatrix = kept[0]
    with LoadLog(llama) as messages:
        status = int(llama.llama_model_quantize(os.fsencode(source), os.fsencode(target), ctypes.byref(params)))
    if status != 0:
        reason = messages.errors[-1] if messages.errors else f"status {status}"
        raise ModelLoadError(f"llama.cpp could not change the types of {source.name}: {reason.rstrip('.')}.")


def _importance_list(llama: Any, importance: Mapping[str, NDArray[np.float32]]) -> tuple[Any, list[Any]]:
    """Return the list as llama.cpp takes it, which ends with an empty entry, and what it points to."""
    entries = (llama.llama_model_imatrix_data * (len(importance) + 1))()
    kept: list[Any] = []
    for entry, (name, values) in zip(entries, importance.items(), strict=False):
        floats = np.ascontiguousarray(values, dtype=np.float32)
        entry.name = name.encode()
        entry.data = floats.ctypes.data_as(ctypes.POINTER(ctypes.c_float))
        entry.size = floats.size
        kept += [floats, entry.name]
    return entries, kept
