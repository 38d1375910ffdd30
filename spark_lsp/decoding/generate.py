"""The decode loop: draft, verify, stop.

Each step decodes the pending token together with a draft, keeps what the model agrees with, and takes the model's own
next token for free. With no drafter a step is a plain decode of one token. The first draft is the typed token that was
taken off the prompt for healing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Protocol

from spark_lsp.decoding.engine import Row
from spark_lsp.decoding.healing import PieceTable
from spark_lsp.decoding.kv_cache import KVCache
from spark_lsp.decoding.sampling import Choice, greedy, greedy_among
from spark_lsp.decoding.stopping import Stop, StopReason, StopRule
from spark_lsp.decoding.verify import verify
from spark_lsp.errors import CancelledError, DecodeError
from spark_lsp.prompt.fim import Prompt


class Drafter(Protocol):
    """Proposes tokens that the model then verifies."""

    def propose(self, tokens: Sequence[int], limit: int) -> Sequence[int]:
        """Return at most `limit` tokens that may follow `tokens` (prompt and output)."""

    def observe(self, drafted: int, accepted: int) -> None:
        """Learn how the last proposal fared."""


class NoDrafter:
    """Proposes nothing: every step decodes one token."""

    def propose(self, tokens: Sequence[int], limit: int) -> Sequence[int]:
        """Return no tokens."""
        return ()

    def observe(self, drafted: int, accepted: int) -> None:
        """Learn nothing."""


@dataclass(frozen=True, slots=True)
class GenerationLimits:
    """When to stop whatever the text says."""

    max_tokens: int
    deadline: float | None = None
    """Value of `time.monotonic()` after which no further step is made, in seconds."""


@dataclass(frozen=True, slots=True)
class Generation:
    """What was generated, why it ended, and what it cost."""

    text: str
    """The suggestion as the model wrote it, without the healed bytes, cut where the stop rule says."""
    tokens: tuple[int, ...]
    probabilities: tuple[float, ...]
    """The model's probability of each token."""
    ends: tuple[int, ...]
    """Where each token ends in the text, in characters; 0 for tokens that only spell typed text."""
    stop: StopReason
    prompt_tokens: int
    """Prompt tokens that were decoded for this generation."""
    cached_tokens: int
    """Prompt tokens found in the KV cache."""
    steps: int
    drafted: int
    accepted: int
    prefill_seconds: float
    decode_seconds: float
    first_text_seconds: float | None
    """From the start to the first character of the suggestion; None if there is none."""


class _Output:
    """Bytes so far, split into what heals typed text and what is shown."""

    def __init__(self, pieces: Sequence[bytes], heal: bytes) -> None:
        self._pieces = pieces
        self._healing = len(heal)
        self._bytes = bytearray()
        self.untyped = heal
        self.text = ""
        self.broken = False
        self.tokens: list[int] = []
        self.probabilities: list[float] = []
        self.ends: list[int] = []

    def add(self, choice: Choice) -> None:
        piece = self._pieces[choice.token]
        self._bytes += piece
        self.untyped = self.untyped[len(piece) :]
        shown = bytes(self._bytes[self._healing :])
        try:
            self.text = shown.decode("utf-8")
        except UnicodeDecodeError as error:
            # A character may be spread over several tokens; anything else is not text.
            self.broken = error.reason != "unexpected end of data" or len(shown) - error.start >= 4
            self.text = shown[: error.start].decode("utf-8")
        self.tokens.append(choice.token)
        self.probabilities.append(choice.probability)
        self.ends.append(len(self.text))


def generate(
    cache: KVCache,
    key: Hashable,
    prompt: Prompt,
    table: PieceTable,
    pieces: Sequence[bytes],
    rule: StopRule,
    limits: GenerationLimits,
    *,
    context_length: int,
    max_draft: int,
    drafter: Drafter | None = None,
    cancelled: Callable[[], bool] = lambda: False,
    on_text: Callable[[str], None] = lambda text: None,
    clock: Callable[[], float] = time.monotonic,
) -> Generation:
    """Return the greedy continuation of `prompt` up to where `rule` or `limits` end it.

    `on_text` receives the growing text after every step. Raises CancelledError as soon as `cancelled()` is true or the
    engine was interrupted; what is in the KV cache by then stays usable.
    """
    drafter = drafter or NoDrafter()
    started = clock()

    def check_cancelled() -> None:
        if cancelled():
            raise CancelledError

    output = _Output(pieces, prompt.heal)

    def choose(row: Row) -> Choice:
        if output.untyped:
            allowed = table.allowed(output.untyped)
            if not allowed.size:
                raise DecodeError("The model has no tokens that spell the typed text.")
            choice = greedy_among(row, allowed)
        else:
            choice = greedy(row)
        if choice.token not in prompt.stop:
            output.add(choice)
        return choice

    def ends(token: int) -> bool:
        return token in prompt.stop or len(output.tokens) >= limits.max_tokens

    typed = prompt.heal_tokens[:max_draft]
    evaluation = cache.prefill(key, prompt.tokens, typed, between_slices=check_cancelled)
    draft: Sequence[int] = typed if evaluation.drafted else ()
    prefilled = clock()
    logits, base = evaluation.logits, len(prompt.tokens)
    steps, drafted, accepted = int(evaluation.drafted), 0, 0
    proposed = False
    first_text: float | None = None
    stop: Stop | None = None
    while stop is None:
        choices, agreed = verify(logits, draft, choose, ends)
        if agreed < len(draft):
            cache.rewind(key, base + agreed)
        base += agreed
        if proposed:
            drafted, accepted = drafted + len(draft), accepted + agreed
            drafter.observe(len(draft), agreed)
        if output.text and first_text is None:
            first_text = clock() - started
        stop = _stop(output, rule, limits, choices[-1].token, prompt.stop, base, context_length, clock)
        if stop is not None:
            break
        if output.text:
            on_text(output.text)
        check_cancelled()
        room = max(0, min(max_draft, context_length - base - 2, limits.max_tokens - len(output.tokens)))
        proposed = room > 0 and not output.untyped
        if proposed:
            draft = drafter.propose([*prompt.tokens, *output.tokens], room)
        else:
            draft = _typed_rest(typed, output.tokens)[:room]
        logits = cache.extend(key, [choices[-1].token, *draft])
        base += 1
        steps += 1
    return Generation(
        text=output.text[: stop.keep],
        tokens=tuple(output.tokens),
        probabilities=tuple(output.probabilities),
        ends=tuple(output.ends),
        stop=stop.reason,
        prompt_tokens=evaluation.computed,
        cached_tokens=evaluation.reused,
        steps=steps,
        drafted=drafted,
        accepted=accepted,
        prefill_seconds=prefilled - started,
        decode_seconds=clock() - prefilled,
        first_text_seconds=first_text,
    )


def _typed_rest(typed: Sequence[int], tokens: Sequence[int]) -> Sequence[int]:
    """Return the typed tokens that are still to be spelled, as long as the model spells them as they were typed."""
    return typed[len(tokens) :] if tuple(typed[: len(tokens)]) == tuple(tokens) else ()


def _stop(
    output: _Output,
    rule: StopRule,
    limits: GenerationLimits,
    last: int,
    stop_ids: frozenset[int],
    base: int,
    context_length: int,
    clock: Callable[[], float],
) -> Stop | None:
    """Return why and where to end after a step, or None."""
    size = len(output.text)
    by_rule = rule.check(output.text)
    if by_rule is not None:
        return by_rule
    if last in stop_ids:
        return Stop(StopReason.END, size)
    if output.broken:
        return Stop(StopReason.INVALID, size)
    if len(output.tokens) >= limits.max_tokens:
        return Stop(StopReason.TOKENS, size)
    if base + 2 > context_length:
        return Stop(StopReason.CONTEXT, size)
    if limits.deadline is not None and clock() >= limits.deadline:
        return Stop(StopReason.DEADLINE, size)
    return None
