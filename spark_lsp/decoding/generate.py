"""The decode loop: draft, verify, stop.

Each step decodes the pending token together with a draft, keeps what the model agrees with, and takes the model's own
next token for free. With no drafter a step is a plain decode of one token. The first draft rides with the end of the
prompt: the typed tokens that were taken off for healing, and what the drafter expects behind them.

The text with a drafter is the text without one (`verify` says how).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from spark_lsp.decoding.drafters.draft import DraftContext, Drafter
from spark_lsp.decoding.drafting import Drafting
from spark_lsp.decoding.engine import Row
from spark_lsp.decoding.healing import PieceTable
from spark_lsp.decoding.kv_cache import KVCache
from spark_lsp.decoding.sampling import Choice, greedy, greedy_among, nearly_tied
from spark_lsp.decoding.stopping import Stop, StopReason, StopRule
from spark_lsp.decoding.verify import verify
from spark_lsp.errors import CancelledError, DecodeError
from spark_lsp.prompt.fim import Prompt

LEAST_TIMED_PROMPT = 32
"""Prompt tokens from which a prefill tells the prompt rate; a shorter one is mostly the cost of a step."""


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
    exact_width: int = 1,
    drafter: Drafter | None = None,
    previous: tuple[int, ...] = (),
    on_step: Callable[[int, float], None] = lambda width, seconds: None,
    on_prompt: Callable[[int, float], None] = lambda tokens, seconds: None,
    cancelled: Callable[[], bool] = lambda: False,
    on_text: Callable[[str, Sequence[float], Sequence[int]], None] = lambda text, probabilities, ends: None,
    clock: Callable[[], float] = time.monotonic,
) -> Generation:
    """Return the greedy continuation of `prompt` up to where `rule` or `limits` end it.

    Rows of decodes of up to `exact_width` tokens are those of decodes of one. `previous` is what stood or was suggested
    at the end of the prompt before, for the drafter. `on_text` receives the growing text after every step with the
    probabilities and ends of its tokens so far, as `Generation` has them, `on_step`
    the width and the seconds of each decode of the output, `on_prompt` the tokens and the seconds of a prefill that
    carried nothing else. Raises CancelledError as soon as `cancelled()` is true or the engine was interrupted; what is
    in the KV cache by then stays usable.
    """
    started = clock()

    def check_cancelled() -> None:
        if cancelled():
            raise CancelledError

    output = _Output(pieces, prompt.heal)
    steps = 0

    def decide(row: Row, final: bool) -> Choice | None:
        allowed = table.allowed(output.untyped) if output.untyped else None
        if allowed is None:
            choice = greedy(row)
        elif allowed.size:
            choice = greedy_among(row, allowed)
        else:
            raise DecodeError("The model has no tokens that spell the typed text.")
        if np.isneginf(row[choice.token]):  # sampled in the graph, where nobody knew what is allowed here
            return None
        return choice if final or not nearly_tied(row, choice.token, allowed) else None

    def accept(choice: Choice) -> bool:
        if choice.token in prompt.stop:
            return True
        output.add(choice)
        return len(output.tokens) >= limits.max_tokens

    def alone(index: int) -> tuple[Row, bool]:
        nonlocal steps
        begun = clock()
        found = cache.alone(key, base + index)
        on_step(1, clock() - begun)
        steps += 1
        return found

    typed = prompt.heal_tokens[:max_draft]
    context = DraftContext(prompt.above, prompt.tail, prompt.below, previous, prompt=prompt.tokens)
    drafts = Drafting(drafter, context, typed)
    room = max(0, min(max_draft, limits.max_tokens, context_length - len(prompt.tokens) - 2) - len(typed))
    draft = drafts.opening(room, cache.missing(key, prompt.tokens))
    evaluation = cache.prefill(key, prompt.tokens, draft, between_slices=check_cancelled)
    prefilled = clock()
    if not evaluation.drafted:
        draft = drafts.drop()
    elif len(draft) == len(typed) and evaluation.computed >= LEAST_TIMED_PROMPT:
        on_prompt(evaluation.computed + len(typed), prefilled - started)
    logits, base, wide = evaluation.logits, len(prompt.tokens), evaluation.width > exact_width
    steps += evaluation.drafted
    drafted = accepted = 0
    first_text: float | None = None
    while True:
        known = len(output.tokens)
        choices, agreed = verify(logits, draft, decide, alone, accept, wide=wide)
        tried, right = drafts.judge(agreed, output.tokens, known)
        drafted, accepted = drafted + tried, accepted + right
        if output.text and first_text is None:
            first_text = clock() - started
        base, pending = base + agreed, choices[-1].token
        stop = _stop(output, rule, limits, pending, prompt.stop, base, context_length, clock)
        if stop is not None:
            cache.rewind(key, base)
            break
        if output.text:
            on_text(output.text, output.probabilities, output.ends)
        check_cancelled()
        room = max(0, min(max_draft, context_length - base - 2, limits.max_tokens - len(output.tokens)))
        draft = _typed_rest(typed, output)[:room] if output.untyped else drafts.next(room)
        cache.rewind(key, base)
        begun = clock()
        logits = cache.extend(key, [pending, *draft])
        on_step(1 + len(draft), clock() - begun)
        wide = 1 + len(draft) > exact_width
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


def _typed_rest(typed: Sequence[int], output: _Output) -> tuple[int, ...]:
    """Return the typed tokens that are still to be spelled, as long as the model spells them as they were typed."""
    done = len(output.tokens)
    return tuple(typed[done:]) if tuple(typed[:done]) == tuple(output.tokens) else ()


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
