"""The engine itself: batches in, logits out."""

from __future__ import annotations

import ctypes
import logging
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spark_lsp.decoding.engine import ModelInfo, Row, Vocabulary
from spark_lsp.decoding.llama.in_graph import InGraphSampling, pays
from spark_lsp.decoding.llama.loading import (
    BATCH_TOKENS,
    MAX_OUTPUTS,
    SEQUENCES,
    default_threads,
    load_model,
    make_context,
    read_vocabulary,
)
from spark_lsp.decoding.llama.runtime import LoadLog, NativeInterrupt, import_llama, start_backend
from spark_lsp.errors import CancelledError, ContextFullError, DecodeError

log = logging.getLogger(__name__)

_DECODE_ABORTED = 2
_DECODE_NO_CELLS = 1


class _LlamaLogits:
    def __init__(
        self, llama: Any, context: Any, first: int, count: int, size: int, sampling: InGraphSampling | None
    ) -> None:
        self._llama, self._context, self._first, self._count, self._size = llama, context, first, count, size
        self._sampling = sampling

    def row(self, index: int) -> Row:
        if not 0 <= index < self._count:
            raise DecodeError(f"Row {index} was asked for, but the decode returned {self._count}.")
        if self._sampling is not None:
            return self._sampling.row(self._first + index, self._size)
        pointer = self._llama.llama_get_logits_ith(self._context, self._first + index)
        if not pointer:
            raise DecodeError("llama.cpp returned no logits for a position that asked for them.")
        return np.ctypeslib.as_array(pointer, (self._size,))


class LlamaEngine:
    """A GGUF model in this process. Made by `load`; see `decoding.engine` for what each member guarantees."""

    def __init__(
        self,
        llama: Any,
        model: Any,
        context: Any,
        interrupt: NativeInterrupt,
        name: str,
        sequences: int,
        variant: str = "",
    ) -> None:
        self._llama, self._model, self._context = llama, model, context
        self._memory = llama.llama_get_memory(context)
        self._vocab = llama.llama_model_get_vocab(model)
        self._interrupt = interrupt
        self._closing = threading.Lock()
        rolls_back = not (llama.llama_model_is_recurrent(model) or llama.llama_model_is_hybrid(model))
        self._info = ModelInfo(
            name=name,
            context_length=int(llama.llama_n_ctx(context)),
            batch_size=int(llama.llama_n_batch(context)),
            max_outputs=MAX_OUTPUTS,
            sequences=sequences,
            rolls_back=rolls_back,
            # A sliding window leaves out the cells that it has passed, and those are needed after a cut.
            saves=rolls_back and not llama.llama_model_n_swa(model),
            variant=variant,
            chat_template=(llama.llama_model_chat_template(model, None) or b"").decode("utf-8", "replace"),
        )
        self._vocabulary = read_vocabulary(llama, self._vocab)
        self._batch = llama.llama_batch_init(BATCH_TOKENS, 0, 1)
        shape = (BATCH_TOKENS,)
        self._token: NDArray[np.int32] = np.ctypeslib.as_array(self._batch.token, shape)
        self._position: NDArray[np.int32] = np.ctypeslib.as_array(self._batch.pos, shape)
        self._output: NDArray[np.int8] = np.ctypeslib.as_array(self._batch.logits, shape)
        for i in range(BATCH_TOKENS):
            self._batch.n_seq_id[i] = 1
        self._sampling: InGraphSampling | None = None

    @classmethod
    def load(
        cls,
        path: Path,
        *,
        name: str | None = None,
        variant: str = "",
        context_tokens: int = 8192,
        threads: int = 0,
        gpu_layers: int = -1,
        sequences: int = SEQUENCES,
        interrupt: NativeInterrupt | None = None,
        in_graph_sampling: bool | None = None,
        progress: Callable[[float], bool] | None = None,
    ) -> LlamaEngine:
        """Return a ready engine for the GGUF file at `path`.

        `interrupt` is that of another engine which is to be stopped together with this one. `in_graph_sampling` None
        means where it pays (see `in_graph`); it is left out where a first decode shows that it does not work.
        `progress` is called with the loaded fraction and stops the load by returning False. Raises
        EngineUnavailableError without llama-cpp-python, ModelLoadError for a file that llama.cpp refuses,
        CancelledError when `progress` stopped it.
        """
        llama = import_llama()
        with LoadLog(llama) as messages:
            start_backend(llama)
            model = load_model(llama, path, gpu_layers, progress, messages)
            try:
                interrupt = interrupt or NativeInterrupt(llama.ggml_abort_callback)
                threads = threads or default_threads()
                context = make_context(llama, model, context_tokens, threads, sequences, interrupt, gpu_layers)
            except BaseException:
                llama.llama_model_free(model)
                raise
        engine = cls(llama, model, context, interrupt, name or path.stem, sequences, variant)
        if pays(llama, gpu_layers) if in_graph_sampling is None else in_graph_sampling:
            engine._sample_in_graph()
        return engine

    def _sample_in_graph(self) -> None:
        """Let the graph sample from now on, if a decode of one token shows that it does."""
        sampling = InGraphSampling(self._llama, self._context, self._info.sequences)
        if not sampling.attached:
            return
        self._sampling = sampling
        try:
            self.decode(0, 0, [0], 1)
            works = sampling.has_row(0)
        except DecodeError:
            works = False
        self.truncate(0, 0)
        if not works:
            sampling.detach()
            self._sampling = None
        log.info("The graph samples: %s", works)

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
            sampling = self._sampling if self._sampling is not None and self._sampling.samples(sequence) else None
            return _LlamaLogits(self._llama, self._context, count - outputs, outputs, len(self._vocabulary), sampling)
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
        if not self._exists(sequence):
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

    def copy(self, source: int, target: int, length: int) -> bool:
        """Let `target` share cells of `source`: with a unified cache this only writes their metadata."""
        if not self._info.rolls_back or self.length(target) or self.length(source) < length:
            return False
        self._llama.llama_memory_seq_cp(self._memory, source, target, 0, length)
        return self.length(target) == length

    def use_threads(self, single: int, several: int) -> None:
        """Set llama.cpp's two thread counts."""
        self._llama.llama_set_n_threads(self._context, single, several)

    def state(self, sequence: int) -> bytearray | None:
        """Return the sequence in llama.cpp's format, some 12 KB a token with a model of 0.5 billion weights."""
        if not self._info.saves or not self._exists(sequence) or not self.length(sequence):
            return None
        size = int(self._llama.llama_state_seq_get_size(self._context, sequence))
        state = bytearray(size)
        buffer = (ctypes.c_uint8 * size).from_buffer(state)
        written = int(self._llama.llama_state_seq_get_data(self._context, buffer, size, sequence))
        return state if written == size else None

    def restore(self, sequence: int, state: bytearray, length: int) -> bool:
        """Load the sequence from memory: there llama.cpp checks every bound, while with a file it may abort."""
        if not self._exists(sequence):
            return False
        if self._info.saves:
            buffer = (ctypes.c_uint8 * len(state)).from_buffer(state)
            read = int(self._llama.llama_state_seq_set_data(self._context, buffer, len(state), sequence))
            if read == len(state) and self.length(sequence) == length:
                return True
        self.truncate(sequence, 0)
        return False

    def _exists(self, sequence: int) -> bool:
        """Whether there is such a sequence; llama.cpp would abort for another number."""
        return 0 <= sequence < self._info.sequences

    def close(self) -> None:
        """Free context and model."""
        with self._closing:
            if self._context is None:
                return
            self._llama.llama_batch_free(self._batch)
            self._llama.llama_free(self._context)
            if self._sampling is not None:
                self._sampling.free()
            self._llama.llama_model_free(self._model)
            self._context = self._model = None
