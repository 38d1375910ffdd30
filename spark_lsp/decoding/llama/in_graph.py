"""Sampling inside the compute graph, for builds with a GPU.

There the logits of a row (0.6 MB with a vocabulary of 150,000) would be copied from the device for each token, only to
look for the largest. With a sampler in the graph the device picks the `CANDIDATES` most probable tokens itself and
only those are copied. That is enough for a greedy choice with its probability and for seeing near ties. It is not
enough where only some tokens are allowed (healing): the row then says minus infinity for all of them, and the place is
decoded again in the last sequence, which has no sampler and gives whole rows.

Source: `llama_set_sampler` and `llama_get_sampled_*_ith` in llama.h; every sequence of a batch needs a sampler for the
logits not to be copied.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from spark_lsp.decoding.engine import Row
from spark_lsp.errors import DecodeError

CANDIDATES = 64
"""Tokens of a row that are copied. What the rest would add to the sum of a softmax is below 1 % in code."""
_NEEDED = (
    "llama_set_sampler",
    "llama_get_sampled_candidates_ith",
    "llama_get_sampled_candidates_count_ith",
    "llama_get_sampled_logits_ith",
    "llama_get_sampled_logits_count_ith",
    "llama_sampler_init_top_k",
)


def pays(llama: Any, gpu_layers: int) -> bool:
    """Whether this build has in-graph sampling and computes on a GPU, where it saves the copy of the logits."""
    return gpu_layers != 0 and has_in_graph_sampling(llama) and bool(llama.llama_supports_gpu_offload())


def has_in_graph_sampling(llama: Any) -> bool:
    """Whether the bindings know the functions that are needed."""
    return all(hasattr(llama, name) for name in _NEEDED)


class InGraphSampling:
    """The samplers of a context's sequences. They live as long as the context."""

    def __init__(self, llama: Any, context: Any, sequences: int) -> None:
        """Attach a sampler to each sequence but the last; `attached` tells whether the context took them all."""
        self._llama, self._context = llama, context
        self._chains: list[Any] = []
        self.attached = sequences > 1 and all(self._attach(sequence) for sequence in range(sequences - 1))
        if not self.attached:
            self.detach()

    def _attach(self, sequence: int) -> bool:
        llama = self._llama
        chain = llama.llama_sampler_chain_init(llama.llama_sampler_chain_default_params())
        llama.llama_sampler_chain_add(chain, llama.llama_sampler_init_top_k(CANDIDATES))
        self._chains.append(chain)
        return bool(llama.llama_set_sampler(self._context, sequence, chain))

    def detach(self) -> None:
        """Give the sequences back whole rows."""
        for sequence, chain in enumerate(self._chains):
            self._llama.llama_set_sampler(self._context, sequence, None)
            self._llama.llama_sampler_free(chain)
        self._chains.clear()
        self.attached = False

    def free(self) -> None:
        """Free the samplers, after the context."""
        for chain in self._chains:
            self._llama.llama_sampler_free(chain)
        self._chains.clear()
        self.attached = False

    def samples(self, sequence: int) -> bool:
        """Whether the rows of `sequence` come as candidates."""
        return self.attached and sequence < len(self._chains)

    def has_row(self, index: int) -> bool:
        """Whether the last decode left candidates for the batch's token `index`."""
        return int(self._llama.llama_get_sampled_candidates_count_ith(self._context, index)) > 0

    def row(self, index: int, size: int) -> Row:
        """Return the row after the batch's token `index`: the candidates' logits, minus infinity for other tokens."""
        llama, context = self._llama, self._context
        count = int(llama.llama_get_sampled_candidates_count_ith(context, index))
        if not 0 < count <= int(llama.llama_get_sampled_logits_count_ith(context, index)):
            raise DecodeError("llama.cpp returned no candidates for a position that asked for them.")
        tokens = np.ctypeslib.as_array(llama.llama_get_sampled_candidates_ith(context, index), (count,))
        row = np.full(size, -np.inf, dtype=np.float32)
        row[tokens] = np.ctypeslib.as_array(llama.llama_get_sampled_logits_ith(context, index), (count,))
        return row
