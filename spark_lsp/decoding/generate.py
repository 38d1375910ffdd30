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
from spark_lsp.decoding.output import Output
from spark_lsp.decoding.sampling import Choice, greedy, greedy_among, nearly_tied
from spark_lsp.decoding.second_choice import NameCheck, NameWatch
from spark_lsp.decoding.stopping import Ending, Stop, StopReason
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
    unknown_names: tuple[int, ...] = ()
    """Where names begin in the text that do not exist, as far as is known; negative for one that was begun before."""
    replaced_names: int = 0
    """How often the model's second choice was taken, because its first made such a name."""
    drafter: str = ""
    """The source of most of the accepted tokens; empty if none was drafted."""


def generate(
    cache: KVCache,
    key: Hashable,
    prompt: Prompt,
    table: PieceTable,
    pieces: Sequence[bytes],
    rule: Ending,
    limits: GenerationLimits,
    *,
    context_length: int,
    max_draft: int,
    exact_width: int = 1,
    drafter: Drafter | None = None,
    previous: tuple[int, ...] = (),
    names: NameCheck | None = None,
    opening: Choice | None = None,
    on_step: Callable[[int, float], None] = lambda width, seconds: None,
    on_prompt: Callable[[int, float], None] = lambda tokens, seconds: None,
    cancelled: Callable[[], bool] = lambda: False,
    on_text: Callable[[str, Sequence[float], Sequence[int]], None] = lambda text, probabilities, ends: None,
    clock: Callable[[], float] = time.monotonic,
) -> Generation:
    """Return the greedy continuation of `prompt` up to where `rule` or `limits` end it.

    Rows of decodes of up to `exact_width` tokens are those of decodes of one. `previous` is what stood or was suggested
    at the end of the prompt before, for the drafter. `names` knows names that do not exist (`second_choice` says what
    is done about them). `opening` is the first token, in place of the model's own; it spells all that is typed.
    `on_text` receives the growing text after every step, without what may be taken back, with the
    probabilities and ends of the tokens so far as `Generation` has them (they may reach beyond the text), `on_step`
    the width and the seconds of each decode of the output, `on_prompt` the tokens and the seconds of a prefill that
    carried nothing else. Raises CancelledError as soon as `cancelled()` is true or the engine was interrupted; what is
    in the KV cache by then stays usable.
    """
    started = clock()

    def check_cancelled() -> None:
        if cancelled():
            raise CancelledError

    output, watch = Output(pieces, prompt.heal), NameWatch(names)
    base, steps = len(prompt.tokens), 0

    def decide(row: Row, final: bool) -> Choice | None:
        if opening is not None and not output.tokens:
            return opening
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
        before = output.text  # with a draft, the text may have ended some tokens ago
        ended = choice.token in prompt.stop
        if not ended:
            output.add(choice)
        unknown = watch.look(output, lambda: rule.check(before) is not None, ended=ended)
        return ended or unknown or len(output.tokens) >= limits.max_tokens

    def alone(index: int) -> tuple[Row, bool]:
        nonlocal steps
        begun = clock()
        found = cache.alone(key, base + index)
        on_step(1, clock() - begun)
        steps += 1
        return found

    def row_at(index: int) -> Row:
        """Return the logits for the output token of that index, from a decode of one token."""
        nonlocal base
        wanted = len(prompt.tokens) + index
        fill(wanted)
        row, intact = alone(wanted - base)
        base = base if intact else wanted
        return row

    def fill(length: int) -> None:
        """Put back output tokens whose cells went while a place before them was decoded alone."""
        nonlocal base, steps
        for token in output.tokens[base - len(prompt.tokens) : length - len(prompt.tokens)]:
            cache.extend(key, [token])
            base += 1
            steps += 1

    def reconsider() -> bool:
        """Deal with a name that does not exist; whether other tokens were written."""
        nonlocal base
        held = base
        found = watch.replacement(output, table, row_at)
        if found is None:
            fill(held)
            watch.leave(output)
            return False
        fill(len(prompt.tokens) + found.index)
        base = len(prompt.tokens) + found.index
        cache.rewind(key, base)
        output.cut(found.index)
        accept(found.choice)
        return True

    typed = (prompt.heal_tokens if opening is None else (opening.token,))[:max_draft]
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
    logits, wide = evaluation.logits, evaluation.width > exact_width
    steps += evaluation.drafted
    drafted = accepted = 0
    first_text: float | None = None
    while True:
        known = len(output.tokens)
        choices, agreed = verify(logits, draft, decide, alone, accept, wide=wide)
        tried, right = drafts.judge(agreed, output.tokens, known)
        drafted, accepted = drafted + tried, accepted + right
        base, pending = base + agreed, choices[-1].token
        if watch.begin is not None:
            if pending not in prompt.stop:  # the draft may have brought its cell already, and it will be decoded again
                base = min(base, len(prompt.tokens) + len(output.tokens) - 1)
            cache.rewind(key, base)
        while watch.begin is not None:
            if reconsider():
                pending = output.tokens[-1]
                drafts.restart(output.tokens)
        if output.text and first_text is None:
            first_text = clock() - started
        stop = _stop(output, rule, limits, pending, prompt.stop, base, context_length, clock)
        if stop is not None:
            cache.rewind(key, base)
            break
        if settled := watch.settled(output.text):
            on_text(settled, output.probabilities, output.ends)
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
        unknown_names=tuple(begin for begin in watch.unknown if begin < stop.keep),
        replaced_names=watch.replaced,
        drafter=drafts.best_source,
    )


def _typed_rest(typed: Sequence[int], output: Output) -> tuple[int, ...]:
    """Return the typed tokens that are still to be spelled, as long as the model spells them as they were typed."""
    done = len(output.tokens)
    return tuple(typed[done:]) if tuple(typed[:done]) == tuple(output.tokens) else ()


def _stop(
    output: Output,
    rule: Ending,
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
