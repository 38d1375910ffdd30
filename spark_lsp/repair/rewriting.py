"""Runs a question through the model, with the old lines as the draft.

The answer is mostly what stood there, so most of its tokens are verified several at a time (`drafters.previous`) and
few are decoded. The drafters are this module's own: those of the pipeline index the document as it is completed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from spark_lsp.decoding.drafters import DocumentDrafter, DraftChain, Drafter, PreviousDrafter
from spark_lsp.decoding.drafters.confidence import DOCUMENT_PRIOR, REWRITTEN_PRIOR, Confidence
from spark_lsp.decoding.engine import Row
from spark_lsp.decoding.generate import Generation, GenerationLimits, generate
from spark_lsp.decoding.stopping import Ending, StopReason
from spark_lsp.errors import CancelledError
from spark_lsp.prompt.fim import Prompt
from spark_lsp.prompt.templates import Template
from spark_lsp.repair.prompts import Question

if TYPE_CHECKING:
    from spark_lsp.pipeline import Pipeline

MORE_TOKENS = 40
"""Tokens that an answer may have more than the old text."""
_CONSIDERED = 8
"""Most probable tokens of a place that are looked at."""
LEAST_PROBABILITY = 0.001
"""Of a token that is tried: a thousand times less than certain is noise."""
_UNFINISHED = frozenset({StopReason.DEADLINE, StopReason.TOKENS, StopReason.LINES, StopReason.CONTEXT})


@dataclass(frozen=True, slots=True)
class Departure:
    """Another token in the place of one that stood there."""

    index: int
    """How many of the old tokens come before it."""
    token: int
    probability: float
    """The model's, given all that comes before."""
    margin: float
    """How much more probable it is than the old one, as the difference of the logits."""


class Rewriting:
    """Writes answers in a sequence of its own, which is freed by `close`. Belongs to the engine's thread."""

    def __init__(self, pipeline: Pipeline, key: str, deadline: float, cancelled: Callable[[], bool]) -> None:
        """Stop at `deadline`, a value of `time.monotonic()` in seconds."""
        self._pipeline = pipeline
        self._key = ("repair", key)
        self._deadline = deadline
        self._cancelled = cancelled
        self._confidences = Confidence(REWRITTEN_PRIOR), Confidence(DOCUMENT_PRIOR)
        self.generations: list[Generation] = []
        """What was written so far."""

    @property
    def in_time(self) -> bool:
        """Whether another answer may be begun."""
        return time.monotonic() < self._deadline

    def write(self, question: Question, begun: Sequence[int], old: str, rule: Ending) -> str | None:
        """Return how the model goes on after the tokens `begun` of its answer, greedily; likely it is like `old`.

        None where it came to no end. Raises CancelledError when cancelled, EngineError when the engine fails.
        """
        pipeline, engine = self._pipeline, self._pipeline.engine
        previous = tuple(engine.tokenize(old))
        tokens = (*question.tokens, *begun)
        generation = generate(
            pipeline.cache,
            self._key,
            Prompt(tokens, b"", (), question.stop, Template.LEFT_TO_RIGHT, above=tokens),
            pipeline.table,
            engine.vocabulary.pieces,
            rule,
            GenerationLimits(len(previous) + MORE_TOKENS, self._deadline),
            context_length=engine.info.context_length,
            max_draft=pipeline.max_draft,
            exact_width=pipeline.cost.exact_width,
            drafter=self._drafters() if pipeline.settings.drafting and pipeline.max_draft else None,
            previous=previous,
            on_step=pipeline.cost.observe,
            on_prompt=pipeline.cost.observe_prompt,
            cancelled=self._cancelled,
        )
        self.generations.append(generation)
        return generation.text if generation.stop not in _UNFINISHED else None

    def departures(self, question: Question, begun: Sequence[int], old: Sequence[int]) -> list[Departure]:
        """Return what the model would write in the place of each of the tokens `old`, which follow `begun`.

        All of them are looked at in one decode. What it would most rather write comes first. Raises what `write` does.
        """

        def check_cancelled() -> None:
            if self._cancelled():
                raise CancelledError

        pipeline, found = self._pipeline, list[Departure]()
        if not pipeline.engine.info.rolls_back:
            return found
        old = old[: pipeline.engine.info.max_outputs]
        prompt = (*question.tokens, *begun)
        evaluation = pipeline.cache.prefill(self._key, prompt, between_slices=check_cancelled)
        # The row before the first one is gone once the others are decoded.
        rows: list[Row] = [evaluation.logits.row(0).copy()]
        if len(old) > 1:
            logits = pipeline.cache.extend(self._key, old[:-1])
            rows += [logits.row(index) for index in range(len(old) - 1)]
        pieces = pipeline.engine.vocabulary.pieces
        for index, (row, there) in enumerate(zip(rows, old, strict=True)):
            best = np.argpartition(row, -_CONSIDERED)[-_CONSIDERED:]
            scale = float(np.exp(row - row.max(), dtype=np.float32).sum())
            for token in map(int, best):
                if token == there or token in question.stop or not pieces[token] or not np.isfinite(row[token]):
                    continue
                probability = float(np.exp(row[token] - row.max())) / scale
                if probability >= LEAST_PROBABILITY:
                    found.append(Departure(index, token, probability, float(row[token] - row[there])))
        return sorted(found, key=lambda one: -one.margin)

    def close(self) -> None:
        """Free the sequence."""
        self._pipeline.cache.forget(self._key)

    def _drafters(self) -> DraftChain:
        rewritten, document = self._confidences
        drafters: list[Drafter] = [PreviousDrafter(rewritten), DocumentDrafter(document)]
        return DraftChain(drafters, self._pipeline.cost)
