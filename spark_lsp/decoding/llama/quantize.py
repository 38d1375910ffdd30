"""Changing the types of a model file's tensors, by llama.cpp's own quantizer."""

from __future__ import annotations

import ctypes
import os
import re
from collections.abc import Mapping
from pathlib import Path

from spark_lsp.decoding.llama.loading import default_threads
from spark_lsp.decoding.llama.runtime import LoadLog, import_llama, start_backend
from spark_lsp.errors import ModelLoadError

EMBEDDING, HEAD = "token_embd.weight", "output.weight"
FILE_TYPE = "LLAMA_FTYPE_MOSTLY_Q4_0"
"""The type that the file states for itself. Only tools show it: each tensor has its own."""


def quantize(source: Path, target: Path, types: Mapping[str, int], *, threads: int = 0) -> None:
    """Write `source` to `target` with the tensors in `types` in these types, numbered as in GGUF files.

    Every matrix of the file needs an entry, with its own type where it is to be copied; a type has to fit the length
    of the tensor's rows. An already quantized tensor may change its type once more. Raises ModelLoadError with
    llama.cpp's reason; `target` may then exist, incomplete.
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
    with LoadLog(llama) as messages:
        status = int(llama.llama_model_quantize(os.fsencode(source), os.fsencode(target), ctypes.byref(params)))
    if status != 0:
        reason = messages.errors[-1] if messages.errors else f"status {status}"
        raise ModelLoadError(f"llama.cpp could not change the types of {source.name}: {reason.rstrip('.')}.")
