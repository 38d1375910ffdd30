"""How fast a model decodes, measured in turns with the original so that both see the same machine."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

from spark_lsp.decoding.engine import Engine
from spark_lsp.decoding.kv_cache import PREFILL_SLICE_TOKENS

WIDTHS = (1, 4, 16)
"""Tokens of one decode: no draft, a short one, a long one."""
PROMPT_TOKENS = 256
"""Prompt that is decoded for the rate, and that stands before the timed steps."""
CONTEXT_TOKENS = 512

PROMPT = "prompt"


@dataclass(frozen=True, slots=True)
class Speed:
    """Medians of one model. A step returns the logits after each of its tokens, as verification needs them."""

    prompt_tokens_per_second: float
    step_seconds: dict[int, float]
    """Seconds of a decode of so many tokens, by `WIDTHS`."""

    def gains(self, original: Speed) -> dict[str, float]:
        """Return how many times as fast as `original` this is: `prompt` and the widths as text."""
        gains = {PROMPT: self.prompt_tokens_per_second / original.prompt_tokens_per_second}
        return gains | {str(width): original.step_seconds[width] / self.step_seconds[width] for width in WIDTHS}


def compare(
    engines: Sequence[Engine], text: str, rounds: int, *, clock: Callable[[], float] = time.perf_counter
) -> list[Speed]:
    """Return the speed of each engine over `text`, in `rounds` rounds in which each has its turn.

    One round before them is not counted: it warms caches and threads. The KV caches are emptied.
    """
    tokens = [_enough(engine.tokenize(text)) for engine in engines]
    taken: list[dict[int, list[float]]] = [{0: [], **{width: [] for width in WIDTHS}} for _ in engines]
    for turn in range(rounds + 1):
        for engine, prompt, seconds in zip(engines, tokens, taken, strict=True):
            for width, value in _one_round(engine, prompt, clock).items():
                if turn:
                    seconds[width].append(value)
    return [
        Speed(PROMPT_TOKENS / median(seconds[0]), {width: median(seconds[width]) for width in WIDTHS})
        for seconds in taken
    ]


def _enough(tokens: list[int]) -> list[int]:
    needed = PROMPT_TOKENS + max(WIDTHS)
    if not tokens:
        raise ValueError("a text without tokens cannot be decoded")
    return (tokens * -(-needed // len(tokens)))[:needed]


def _one_round(engine: Engine, tokens: Sequence[int], clock: Callable[[], float]) -> dict[int, float]:
    """Return the seconds of the prompt under 0, and of a step of each width under it."""
    for sequence in range(engine.info.sequences):
        engine.truncate(sequence, 0)
    started = clock()
    for start in range(0, PROMPT_TOKENS, PREFILL_SLICE_TOKENS):
        end = min(start + PREFILL_SLICE_TOKENS, PROMPT_TOKENS)
        engine.decode(0, start, tokens[start:end], int(end == PROMPT_TOKENS))
    seconds = {0: clock() - started}
    for width in WIDTHS:
        engine.truncate(0, PROMPT_TOKENS)
        engine.decode(0, PROMPT_TOKENS, tokens[PROMPT_TOKENS : PROMPT_TOKENS + 1], 1)  # the width before was another
        engine.truncate(0, PROMPT_TOKENS)
        started = clock()
        rows = engine.decode(0, PROMPT_TOKENS, tokens[PROMPT_TOKENS : PROMPT_TOKENS + width], width)
        for index in range(width):
            rows.row(index).argmax()
        seconds[width] = clock() - started
    return seconds
