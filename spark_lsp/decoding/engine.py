"""The engine protocol: what decoding needs from a model runtime, and nothing more.

Narrow on purpose: a sequence of tokens sits in a KV cache, tokens are appended or cut off at the end, and logits
come back for the last rows. Everything above it (reuse, drafting, verification, stopping) works on this protocol
alone, so an engine may as well live in another process or on another host.

Invariants:

* Exactly one thread calls `decode`, `truncate`, `length`, `copy`, `state` and `restore`; `tokenize` and `interrupt` are
  safe from any thread.
* After any exception from `decode`, `length` tells how many tokens the sequence really holds.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Row = NDArray[np.float32]
"""Logits of one position, shape (vocabulary size,). Valid until the next `decode` of the same engine."""


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """What the loaded model is, and the limits that a caller has to keep."""

    name: str
    context_length: int
    """Cells of the KV cache in tokens, shared by all sequences."""
    batch_size: int
    """Most tokens that one `decode` may carry."""
    max_outputs: int
    """Most logits rows that one `decode` may return."""
    sequences: int
    """Number of independent sequences, numbered from 0."""
    rolls_back: bool = True
    """Whether `truncate` can cut in the middle; recurrent and hybrid models cannot."""
    saves: bool = False
    """Whether `state` has all that a sequence holds, so that it may be cut anywhere after `restore`."""
    variant: str = ""
    """Which variant of the model of that name it is; empty for the model itself."""
    chat_template: str = ""
    """How the model was taught to take part in a conversation, as its file says (Jinja); empty if it was not."""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The tokens of a model by their bytes."""

    pieces: tuple[bytes, ...]
    """Bytes that each token writes; empty for control tokens."""
    special: dict[str, int]
    """Control tokens by their text, such as ``<|fim_prefix|>``."""
    end_of_generation: frozenset[int]
    bos: int | None = None
    """The token that has to open every sequence, or None where the model wants none."""

    def __len__(self) -> int:
        return len(self.pieces)


class Interrupt(Protocol):
    """A flag that stops a running `decode` from another thread."""

    def set(self) -> None:
        """Make the running and every following decode fail with `CancelledError`."""

    def clear(self) -> None:
        """Allow decoding again."""

    def is_set(self) -> bool:
        """Whether decoding is stopped."""


class Logits(Protocol):
    """The rows that a decode returned."""

    def row(self, index: int) -> Row:
        """Return the logits after the `index`-th of the tokens that asked for an output, 0 being the first."""


class Engine(Protocol):
    """A model with its KV cache."""

    @property
    def info(self) -> ModelInfo:
        """Limits and name."""

    @property
    def vocabulary(self) -> Vocabulary:
        """Tokens by bytes."""

    @property
    def interrupt(self) -> Interrupt:
        """The flag that stops a decode."""

    def tokenize(self, text: str) -> list[int]:
        """Return the tokens of plain text: no control token is recognised in it and none is added."""

    def decode(self, sequence: int, position: int, tokens: Sequence[int], outputs: int) -> Logits:
        """Append `tokens` to `sequence` at `position` and return logits for the last `outputs` of them.

        Raises CancelledError when interrupted, ContextFullError when no cells are left, DecodeError otherwise.
        """

    def truncate(self, sequence: int, length: int) -> bool:
        """Keep the first `length` tokens; False means that the memory cannot cut there and is unchanged."""

    def length(self, sequence: int) -> int:
        """Return the number of tokens that `sequence` holds."""

    def copy(self, source: int, target: int, length: int) -> bool:
        """Make the empty sequence `target` share the first `length` tokens of `source`, without computing anything.

        False means that the memory cannot share them and nothing changed.
        """

    def use_threads(self, single: int, several: int) -> None:
        """Decode one token with `single` threads from now on and several tokens with `several`."""

    def state(self, sequence: int) -> bytearray | None:
        """Return what `sequence` holds as bytes for `restore`; None if it is empty or `info.saves` is false."""

    def restore(self, sequence: int, state: bytearray, length: int) -> bool:
        """Put `state`, the bytes of a sequence of `length` tokens, in place of what `sequence` holds.

        False means that this is not possible or that there is no room, and that the sequence is empty. The bytes have
        to come from `state`, with the same model, runtime and settings: that is for the caller to know.
        """

    def close(self) -> None:
        """Free the model; safe to call twice."""


class ThreadInterrupt:
    """An interrupt for engines written in Python."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def set(self) -> None:
        """Stop decoding."""
        self._event.set()

    def clear(self) -> None:
        """Allow decoding."""
        self._event.clear()

    def is_set(self) -> bool:
        """Whether decoding is stopped."""
        return self._event.is_set()
