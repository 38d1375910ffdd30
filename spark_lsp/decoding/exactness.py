"""Up to which width a decode of several tokens gives, bit for bit, the logits of decodes of one token each.

It depends on the kernels, hence on the types of the weights, the processor and the build. Where it holds, verification
needs no second look at near ties: the text with drafts is the text without, whatever the logits say. Measured on AVX2
(llama-cpp-python 0.3.36): exact at every width for models all of whose matrices are repacked (Q4_0 or IQ4_NL, with a
bfloat16 KV cache), exact up to 3 where Q8_0 or Q5_0 weights are among them. With a float16 KV cache and 512 cells in
use nothing is exact: a single token's attention is then split between the threads, that of several is not.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

from spark_lsp.decoding.calibration import CALIBRATION_WIDTHS
from spark_lsp.decoding.engine import Row
from spark_lsp.decoding.kv_cache import KVCache

PROBE_CONTEXT_TOKENS = 576
"""Tokens before the probed ones: kernels may change at 512 cells, and prompts are of this size."""
PROBE_TOKENS = max(CALIBRATION_WIDTHS)
LEAST_CONTEXT = 4096
"""A smaller context is left alone: the probe would evict what is in use, to save some decodes later."""
_KEY = "exactness"
_PRIME = 7919
"""Steps through the vocabulary so that the probed tokens differ."""
_ORDINARY = 20_000
"""Ids below this are ordinary tokens in every byte-pair vocabulary of 32,000 and more."""


class ExactnessProbe:
    """Compares rows, one decode at a time. Belongs to the engine's thread."""

    def __init__(self, cache: KVCache, vocabulary_size: int, widths: Sequence[int] = CALIBRATION_WIDTHS) -> None:
        """Probe the `widths` on `cache`, which is of a model that can take tokens back."""
        self._cache = cache
        most = min(_ORDINARY, vocabulary_size)
        tokens = [number * _PRIME % most for number in range(1, PROBE_CONTEXT_TOKENS + PROBE_TOKENS + 1)]
        self._context, self._probed = tokens[:PROBE_CONTEXT_TOKENS], tokens[PROBE_CONTEXT_TOKENS:]
        self._single: list[bytes] = []
        """Digests of the rows that were decoded alone."""
        self._left = [width for width in sorted(widths) if 1 < width <= PROBE_TOKENS]
        if cache.context_length < LEAST_CONTEXT:
            self._left.clear()
        self.exact_width = 1
        """The widest decode found exact so far, all narrower ones being exact too."""

    def work(self) -> bool:
        """Do one piece; False when all is known. Raises CancelledError when interrupted; the prefill so far stays."""
        if not self._left:
            self._cache.forget(_KEY)
            return False
        with self._cache.uncounted():
            self._cache.prefill(_KEY, self._context)
            if self._single:
                self._compare(self._left[0])
            else:
                self._single = [_digest(self._cache.extend(_KEY, [token]).row(0)) for token in self._probed]
        return True

    def _compare(self, width: int) -> None:
        rows = self._cache.extend(_KEY, self._probed[:width])
        if any(_digest(rows.row(index)) != self._single[index] for index in range(width)):
            self._left.clear()
        else:
            self.exact_width = width
            self._left.pop(0)


def _digest(row: Row) -> bytes:
    return hashlib.blake2b(np.ascontiguousarray(row).tobytes(), digest_size=16).digest()
