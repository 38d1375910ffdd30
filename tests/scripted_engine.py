"""An engine that knows its lines: it answers from a script instead of a model.

The vocabulary is every single byte plus a few longer pieces and the FIM tokens of Qwen. The script is a list of texts
that the "model" has learned by heart: after a prompt that ends with a leading part of one of them, it continues it, and
after its end it ends the generation.
"""

from __future__ import annotations

import json
import re
import time
import zlib
from collections.abc import Mapping, Sequence

import numpy as np

from spark_lsp.decoding.engine import ModelInfo, Row, ThreadInterrupt, Vocabulary
from spark_lsp.errors import CancelledError, ContextFullError, DecodeError

FIM = ("<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>")
END = "<|endoftext|>"
WORDS = (
    "    ",
    "        ",
    "return",
    " return",
    "def ",
    "print",
    "self",
    " self",
    "Equal",
    "assert",
    "ual",
    "\n\n",
    ":\n",
)
_SLEEP_SECONDS = 0.002


def scripted_vocabulary(*, fim: bool = True, words: Sequence[str] = WORDS) -> Vocabulary:
    pieces = [bytes([value]) for value in range(256)] + [word.encode() for word in words]
    special = {END: len(pieces)}
    if fim:
        special |= {name: len(pieces) + 1 + number for number, name in enumerate(FIM)}
    pieces += [b""] * len(special)
    return Vocabulary(tuple(pieces), special, frozenset({special[END]}), None)


class _Rows:
    def __init__(self, rows: list[Row]) -> None:
        self._rows = rows

    def row(self, index: int) -> Row:
        return self._rows[index]


class ScriptedEngine:
    """Continues the texts it was given. `seconds_per_token` makes it as slow as a model, and interruptible."""

    def __init__(
        self,
        script: Sequence[str] = (),
        *,
        seconds_per_token: float = 0.0,
        context_length: int = 8192,
        sequences: int = 5,
        fim: bool = True,
        rolls_back: bool = True,
        words: Sequence[str] = WORDS,
        logits: Mapping[str, float] | None = None,
        second: Sequence[str] = (),
    ) -> None:
        """Be less sure of the characters in `logits`: with 0 for one, it is right with a probability of 1 %.

        Where a text of `second` goes on as well as the script, its next token comes next, the first one before others.
        """
        self.script = [*script, *second]
        self.second = list(second)
        self.logits = dict(logits or {})
        self.vocabulary = scripted_vocabulary(fim=fim, words=words)
        self.info = ModelInfo("scripted", context_length, 256, 33, sequences, rolls_back, saves=rolls_back)
        self.interrupt = ThreadInterrupt()
        self.seconds_per_token = seconds_per_token
        self.cells: list[list[int]] = [[] for _ in range(sequences)]
        self.decoded_tokens = 0
        self.closed = False
        self.threads: tuple[int, int] | None = None
        self._by_length = sorted(
            ((piece, token) for token, piece in enumerate(self.vocabulary.pieces) if piece), key=lambda p: -len(p[0])
        )
        self._by_piece = dict(reversed(self._by_length))
        self._longest_piece = re.compile(b"|".join(re.escape(piece) for piece, _ in self._by_length), re.DOTALL)

    def tokenize(self, text: str) -> list[int]:
        return [self._by_piece[piece] for piece in self._longest_piece.findall(text.encode("utf-8", "replace"))]

    def decode(self, sequence: int, position: int, tokens: Sequence[int], outputs: int) -> _Rows:
        cells = self.cells[sequence]
        if position != len(cells):
            raise DecodeError(f"expected position {len(cells)}, got {position}")
        if not 1 <= len(tokens) <= self.info.batch_size or not 0 <= outputs <= min(len(tokens), self.info.max_outputs):
            raise DecodeError(f"bad batch: {len(tokens)} tokens, {outputs} outputs")
        if sum(map(len, self.cells)) + len(tokens) > self.info.context_length:
            raise ContextFullError("no cells")
        until = time.monotonic() + self.seconds_per_token * len(tokens)
        while True:
            if self.interrupt.is_set():
                raise CancelledError
            if time.monotonic() >= until:
                break
            time.sleep(_SLEEP_SECONDS)
        rows = []
        for number, token in enumerate(tokens):
            cells.append(token)
            if number >= len(tokens) - outputs:
                rows.append(self._row(cells))
        self.decoded_tokens += len(tokens)
        return _Rows(rows)

    def truncate(self, sequence: int, length: int) -> bool:
        if not self.info.rolls_back and 0 < length < len(self.cells[sequence]):
            return False
        del self.cells[sequence][length:]
        return True

    def length(self, sequence: int) -> int:
        return len(self.cells[sequence])

    def copy(self, source: int, target: int, length: int) -> bool:
        if not self.info.rolls_back or self.cells[target] or len(self.cells[source]) < length:
            return False
        self.cells[target] = self.cells[source][:length]
        return True

    def use_threads(self, single: int, several: int) -> None:
        self.threads = single, several

    def state(self, sequence: int) -> bytearray | None:
        cells = self.cells[sequence]
        return bytearray(json.dumps(cells).encode()) if self.info.saves and cells else None

    def restore(self, sequence: int, state: bytearray, length: int) -> bool:
        """Take what `state` gave. Anything else is an error here, as it may end the process with a native engine."""
        self.cells[sequence].clear()
        tokens: list[int] = json.loads(state)
        if len(tokens) != length or sum(map(len, self.cells)) + length > self.info.context_length:
            return False
        self.cells[sequence].extend(tokens)
        return True

    def close(self) -> None:
        self.closed = True

    def _row(self, cells: list[int]) -> Row:
        row = np.zeros(len(self.vocabulary), dtype=np.float32)
        seen = b"".join(self.vocabulary.pieces[token] for token in cells[-4096:])
        following = self._continuation(seen)
        if not following:
            row[self.vocabulary.special[END]] = 10.0
            return row
        # Every piece that agrees with the script is likely, the longest most: so constrained choices make sense too.
        for piece, token in self._by_length:
            if following.startswith(piece):
                row[token] = self.logits.get(piece[:1].decode("latin-1"), 10.0) + len(piece)
        for number, text in enumerate(self.second):
            other = self._continuation(seen, [text])
            if self._matched(seen, text) == max(self._matched(seen, one) for one in self.script):
                token = next((token for piece, token in self._by_length if other.startswith(piece)), None)
                if token is not None and not row[token]:
                    row[token] = 9.0 - number / 2
        return row

    @staticmethod
    def _matched(seen: bytes, text: str) -> int:
        data = text.encode()
        return max((length for length in range(1, len(data)) if seen.endswith(data[:length])), default=0)

    def _continuation(self, seen: bytes, script: Sequence[str] | None = None) -> bytes:
        best, following = 0, b""
        for text in self.script if script is None else script:
            data = text.encode()
            for length in range(min(len(data), len(seen)), best, -1):
                if seen.endswith(data[:length]):
                    best, following = length, data[length:]
                    break
        return following


class ReadingEngine(ScriptedEngine):
    """Its logits depend on every cell, so that a wrong one anywhere shows. A decode can be interrupted halfway."""

    _decodes_left: int | None = None
    _kept = 0

    def interrupt_after(self, decodes: int | None, kept: int = 0) -> None:
        """Abort the decode after the next `decodes` ones, when `kept` of its tokens are in; None aborts none."""
        self._decodes_left, self._kept = decodes, kept

    def decode(self, sequence: int, position: int, tokens: Sequence[int], outputs: int) -> _Rows:
        if self._decodes_left == 0:
            self._decodes_left = None
            # As llama.cpp does: what was finished of the batch stays in the cache.
            room = self.info.context_length - sum(map(len, self.cells))
            self.cells[sequence].extend(tokens[: min(self._kept, len(tokens) - 1, room)])
            raise CancelledError
        if self._decodes_left is not None:
            self._decodes_left -= 1
        return super().decode(sequence, position, tokens, outputs)

    def _row(self, cells: list[int]) -> Row:
        seed = zlib.crc32(np.asarray(cells, dtype=np.int32).tobytes())
        noise = np.random.default_rng(seed).random(len(self.vocabulary), dtype=np.float32)
        return super()._row(cells) + noise
