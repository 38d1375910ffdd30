"""The decode loop: draft, verify, stop.

Each step decodes the pending token together with a draft, keeps what the model agrees with, and takes the model's own
next token for free. With no drafter a step is a plain decode of one token. The first draft are the typed tokens that
were taken off the prompt for healing.

The text with a drafter is the text without one: where a row of several says that two tokens are nearly tied, the place
is decoded again alone, as it would have been without a draft.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

from spark_lsp.decoding.drafters.draft import Draft, DraftContext, Drafter
from spark_lsp.decoding.engine import Row
from spark_lsp.decoding.healing import PieceTable
from spark_lsp.decoding.kv_cache import KVCache
from spark_lsp.decoding.sampling import Choice, greedy, greedy_among, nearly_tied
from spark_lsp.decoding.stopping import Stop, StopReason, StopRule
from spark_lsp.decoding.verify import verify
from spark_lsp.errors import CancelledError, DecodeError
from spark_lsp.prompt.fim import Prompt


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
    previous: tuple[int, ...] = (),
    on_step: Callable[[int, float], None] = lambda width, seconds: None,
    cancelled: Callable[[], bool] = lambda: False,
    on_text: Callable[[str], None] = lambda text: None,
    clock: Callable[[], float] = time.monotonic,
) -> Generation:
    """Return the greedy continuation of `prompt` up to where `rule` or `limits` end it.

    `previous` is what stood or was suggested at the end of the prompt before, for the drafter. `on_text` receives the
    growing text after every step, `on_step` the width and the seconds of each decode of the output. Raises
    CancelledError as soon as `cancelled()` is true or the engine was interrupted; what is in the KV cache by then stays
    usable.
    """
    started = clock()

    def check_cancelled() -> None:
        if cancelled():
            raise CancelledError

    output = _Output(pieces, prompt.heal)

    wide = False
    """Whether the rows come from a decode with a draft, so that near ties have to be decoded again."""

    def choose(row: Row) -> Choice | None:
        if output.untyped:
            allowed = table.allowed(output.untyped)
            if not allowed.size:
                raise DecodeError("The model has no tokens that spell the typed text.")
            choice = greedy_among(row, allowed)
        else:
            choice = greedy(row)
            if wide and nearly_tied(row, choice.token):
                return None
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
    if drafter is not None:
        drafter.start(DraftContext(prompt.above, prompt.tail, prompt.below, previous, prompt=prompt.tokens))
    steps, drafted, accepted = int(evaluation.drafted), 0, 0
    sent: Draft | None = None
    pending = prompt.tokens[-1]
    first_text: float | None = None
    stop: Stop | None = None
    while True:
        known = len(output.tokens)
        choices, agreed = verify(logits, draft, choose, ends)
        if sent is not None and drafter is not None:
            drafted, accepted = drafted + len(draft), accepted + agreed
            drafter.observe(sent, agreed)
        if drafter is not None:
            drafter.append(output.tokens[known:])
        if output.text and first_text is None:
            first_text = clock() - started
        undecided = len(choices) == agreed and not (choices and ends(choices[-1].token))
        last = choices[-1].token if choices else pending
        stop = _stop(output, rule, limits, last, prompt.stop, base + agreed, context_length, clock)
        if stop is not None:
            cache.rewind(key, base + agreed)
            break
        if output.text:
            on_text(output.text)
        check_cancelled()
        if undecided:
            # Take back the token that the undecided row came from, and decode it alone.
            base += agreed - 1
            pending = draft[agreed - 1] if agreed else pending
            sent, draft = None, ()
        else:
            base += agreed
            pending = last
            room = max(0, min(max_draft, context_length - base - 2, limits.max_tokens - len(output.tokens)))
            sent = None if drafter is None or output.untyped or not room else drafter.propose(room)
            draft = sent.tokens if sent is not None else _typed_rest(typed, output)[:room]
        cache.rewind(key, base)
        begun = clock()
        wide = sent is not None
        logits = cache.extend(key, [pending, *draft])
        on_step(1 + len(draft), clock() - begun)
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


def _typed_rest(typed: Sequence[int], output: _Output) -> Sequence[int]:
    """Return the typed tokens that are still to be spelled, as long as the model spells them as they were typed."""
    done = len(output.tokens)
    return typed[done:] if output.untyped and tuple(typed[:done]) == tuple(output.tokens) else ()


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
