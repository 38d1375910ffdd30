"""The KV cache as lists of tokens: what is already computed is never computed again.

Invariant: `tokens(sequence)` is what the engine holds in that sequence, position by position. After a failure the
length is read back from the engine instead of being assumed.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager

from spark_lsp.decoding.engine import Engine, Logits, Row
from spark_lsp.decoding.evaluation import Evaluation, KnownRow
from spark_lsp.decoding.prefix import common_prefix
from spark_lsp.errors import ContextFullError, DecodeError

PREFILL_SLICE_TOKENS = 64
"""Tokens in one prefill decode. An abort loses at most one slice; larger ones are no faster on a CPU."""
LEAST_FOR_SCRATCH = 3
"""Sequences from which one is set aside to decode places alone; an engine with fewer does so in place."""
LEAST_FOR_FORK = 5
"""Sequences from which another one is set aside for what is written in advance."""
FORK: Hashable = "fork"
"""The key of that sequence."""
WORTH_COPYING_TOKENS = 16
"""A sequence takes over cells of another one only if that saves so many tokens: it gives up its own for them."""


class KVCache:
    """Sequences by key (a document), least recently used first to go."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        count = engine.info.sequences
        self._scratch = count - 1 if count >= LEAST_FOR_SCRATCH and engine.info.rolls_back else None
        """Empty but for the time of one decode."""
        self._fork = count - 2 if count >= LEAST_FOR_FORK and self._scratch is not None else None
        """Empty and without an owner but for the time of one `forked`."""
        self._tokens: dict[int, list[int]] = {s: [] for s in range(count) if s != self._scratch}
        self._owners: OrderedDict[Hashable, int] = OrderedDict()
        for sequence in range(count):
            engine.truncate(sequence, 0)
        self._known: dict[int, KnownRow] = {}
        """For each sequence the logits after its last prompt."""
        self._counting = True
        self.prompt_tokens = 0
        """Prompt tokens decoded so far, those of cancelled requests included."""
        self.steps = 0
        """Decode steps made so far, one for each prefill that came to its end and one for each `extend`."""

    def tokens(self, key: Hashable) -> tuple[int, ...]:
        """Return what the sequence of `key` holds; empty if it has none."""
        sequence = self._owners.get(key)
        return tuple(self._tokens[sequence]) if sequence is not None else ()

    def forget(self, key: Hashable) -> None:
        """Free the sequence of `key`."""
        sequence = self._owners.pop(key, None)
        if sequence is not None:
            self._cut(sequence, 0)

    @contextmanager
    def forked(self) -> Iterator[bool]:
        """Lend the sequence `FORK`, which leaves the others as they are; False where the engine has none to spare.

        It takes over the cells that another sequence shares with its prompt, evicts nobody (it raises
        ContextFullError instead) and is emptied at the end, so that nothing shows that it was there.
        """
        if self._fork is None:
            yield False
            return
        self._owners[FORK] = self._fork
        try:
            yield True
        finally:
            self.forget(FORK)

    def prefill(
        self,
        key: Hashable,
        prompt: Sequence[int],
        draft: Sequence[int] = (),
        *,
        between_slices: Callable[[], None] = lambda: None,
    ) -> Evaluation:
        """Make the sequence of `key` hold `prompt` and then `draft`, and return the logits from the prompt's end on.

        If the prompt is the last one again, its logits are still known and nothing is decoded, not even the draft: so
        it is while a word is typed that healing takes off the prompt. Else the longest common prefix stays and the rest
        is decoded in slices, the draft riding with the last one. What was decoded before a cancellation stays usable.
        `between_slices` is called before each slice and may raise. Raises ContextFullError when prompt and draft exceed
        the context even with all other sequences evicted.
        """
        total = len(prompt) + len(draft)
        if total > self._engine.info.context_length:
            raise ContextFullError(
                f"A prompt of {total} tokens does not fit a context of {self._engine.info.context_length}.",
                next_step="Lower `completion.prefixTokens` or raise `model.contextTokens`.",
            )
        sequence = self._sequence_of(key)
        shared = self._share(sequence, prompt)
        known = self._known.get(sequence)
        if shared == len(prompt) and known is not None and known.length == shared:
            if self._cut(sequence, shared) == shared:
                return Evaluation(known, drafted=False, width=known.width, computed=0, reused=shared)
            shared = 0
        # Else the last prompt token is decoded in any case: its logits are wanted.
        reused = self._cut(sequence, min(shared, len(prompt) - 1))
        pending = [*prompt[reused:], *draft]
        outputs = len(draft) + 1
        while True:
            between_slices()
            # The rows wanted must all come from the last decode.
            room = max(len(pending) - outputs, 0)
            size = min(PREFILL_SLICE_TOKENS, room) if len(pending) > PREFILL_SLICE_TOKENS and room else len(pending)
            last = size == len(pending)
            logits = self._decode(sequence, pending[:size], outputs if last else 0)
            self._count(size - len(draft) if last else size, int(last))
            if last:
                self._known[sequence] = KnownRow(len(prompt), logits.row(0).copy(), size)
                return Evaluation(logits, drafted=True, width=size, computed=len(prompt) - reused, reused=reused)
            pending = pending[size:]

    def extend(self, key: Hashable, tokens: Sequence[int], outputs: int | None = None) -> Logits:
        """Append `tokens` and return the logits after each of them, or after the last `outputs` of them."""
        self._count(0, 1)
        return self._decode(self._owners[key], tokens, len(tokens) if outputs is None else outputs)

    def missing(self, key: Hashable, prompt: Sequence[int]) -> int:
        """Return how many tokens of `prompt` the last decode of a prefill would carry, 0 if it would decode nothing."""
        sequence = self._owners.get(key)
        if sequence is None:
            return min(len(prompt), PREFILL_SLICE_TOKENS)
        shared, known = common_prefix(self._tokens[sequence], prompt), self._known.get(sequence)
        if shared == len(prompt) and known is not None and known.length == shared:
            return 0
        return min(len(prompt) - min(shared, len(prompt) - 1), PREFILL_SLICE_TOKENS)

    def alone(self, key: Hashable, length: int) -> tuple[Row, bool]:
        """Return the logits after the first `length` tokens of the sequence, from a decode of the last of them alone.

        The flag tells whether the tokens behind are still there. It is so where the engine can share cells: then the
        decode is made in a sequence of its own. All rows of the decode before become invalid. Raises what `extend`
        raises.
        """
        sequence = self._owners[key]
        row = self._alone_aside(sequence, length)
        if row is not None:
            return row, True
        token = self._tokens[sequence][length - 1]
        self.rewind(key, length - 1)
        row = self.extend(key, [token]).row(0).copy()
        self._know_better(sequence, length, row)
        return row, False

    def _alone_aside(self, sequence: int, length: int) -> Row | None:
        """Return the row, decoded in the scratch sequence, or None where there is none or no cell for it."""
        scratch = self._scratch
        if scratch is None or not self._engine.copy(sequence, scratch, length - 1):
            return None
        try:
            row: Row = self._engine.decode(scratch, length - 1, [self._tokens[sequence][length - 1]], 1).row(0).copy()
        except ContextFullError:
            return None
        finally:
            self._engine.truncate(scratch, 0)
        self._count(0, 1)
        self._know_better(sequence, length, row)
        return row

    def _know_better(self, sequence: int, length: int, row: Row) -> None:
        """Keep a row that was decoded alone in place of the one that was not."""
        known = self._known.get(sequence)
        if known is None or known.length == length:
            self._known[sequence] = KnownRow(length, row, width=1)

    @contextmanager
    def uncounted(self) -> Iterator[None]:
        """Leave what is decoded meanwhile out of `prompt_tokens` and `steps`."""
        self._counting = False
        try:
            yield
        finally:
            self._counting = True

    def _count(self, prompt_tokens: int, steps: int) -> None:
        if self._counting:
            self.prompt_tokens += prompt_tokens
            self.steps += steps

    @property
    def context_length(self) -> int:
        """Cells that all sequences share."""
        return self._engine.info.context_length

    def rewind(self, key: Hashable, length: int) -> None:
        """Keep the first `length` tokens of the sequence of `key`."""
        sequence = self._owners[key]
        if self._cut(sequence, length) != length:
            raise DecodeError("This model cannot take tokens back, which verification needs.")

    def state(self, key: Hashable) -> bytearray | None:
        """Return the sequence of `key` as bytes for `restore`; None if there is nothing or the engine cannot do it."""
        sequence = self._owners.get(key)
        return self._engine.state(sequence) if sequence is not None else None

    def restore(self, key: Hashable, state: bytearray, tokens: Sequence[int]) -> bool:
        """Make the sequence of `key` hold `tokens`, whose `state` is given; else it is empty and this is False.

        Other sequences make room, the least recently used one first. Cells that two share are counted twice.
        """
        sequence = self._sequence_of(key)
        self._cut(sequence, 0)
        while sum(map(len, self._tokens.values())) + len(tokens) > self._engine.info.context_length:
            if not self._evict_other(sequence):
                return False
        if self._engine.restore(sequence, state, len(tokens)) and self._engine.length(sequence) == len(tokens):
            self._tokens[sequence].extend(tokens)
            return True
        self._engine.truncate(sequence, 0)
        return False

    def _share(self, sequence: int, prompt: Sequence[int]) -> int:
        """Return how much of `prompt` the sequence holds, after taking over what another one holds more of it."""
        own = common_prefix(self._tokens[sequence], prompt)
        if len(prompt) - own < WORTH_COPYING_TOKENS:
            return own
        best, other = max((common_prefix(held, prompt), number) for number, held in self._tokens.items())
        if other == sequence or best - own < WORTH_COPYING_TOKENS:
            return own
        self._cut(sequence, 0)
        if not self._engine.copy(other, sequence, best):
            return 0
        self._tokens[sequence].extend(prompt[:best])
        return best

    def _sequence_of(self, key: Hashable) -> int:
        sequence = self._owners.get(key)
        if sequence is None:
            used = set(self._owners.values())
            free = next((s for s in self._tokens if s not in used and s != self._fork), None)
            if free is None:
                oldest = next(iter(self._owners))
                free = self._owners[oldest]
                self.forget(oldest)
            sequence = self._owners[key] = free
        self._owners.move_to_end(key)
        return sequence

    def _cut(self, sequence: int, length: int) -> int:
        """Cut a sequence to `length` tokens and return the length it really has then (0 if it cannot be cut there)."""
        held = self._tokens[sequence]
        self._cut_known(sequence, length)
        if length >= len(held):
            return len(held)
        if not self._engine.truncate(sequence, length):
            self._engine.truncate(sequence, 0)
            self._known.pop(sequence, None)
            length = 0
        del held[length:]
        return length

    def _cut_known(self, sequence: int, length: int) -> None:
        if sequence in self._known and self._known[sequence].length > length:
            del self._known[sequence]

    def _decode(self, sequence: int, tokens: Sequence[int], outputs: int) -> Logits:
        held = self._tokens[sequence]
        while True:
            try:
                logits = self._engine.decode(sequence, len(held), tokens, outputs)
            except ContextFullError:
                self._resync(sequence, tokens)
                if sequence == self._fork or not self._evict_other(sequence):
                    raise
            except Exception:
                # Of any kind: what nobody foresaw may have come before or after the cells were filled.
                self._resync(sequence, tokens)
                raise
            else:
                held.extend(tokens)
                return logits

    def _evict_other(self, sequence: int) -> bool:
        """Free the least recently used other sequence that holds anything; False if there is none."""
        for key, other in self._owners.items():
            if other != sequence and self._tokens[other]:
                self.forget(key)
                return True
        return False

    def _resync(self, sequence: int, attempted: Sequence[int]) -> None:
        """Believe the engine about how much of a failed decode stayed in the cache."""
        held = self._tokens[sequence]
        length = self._engine.length(sequence)
        if length > len(held):
            held.extend(attempted[: length - len(held)])
        self._cut_known(sequence, length)
        del held[length:]
