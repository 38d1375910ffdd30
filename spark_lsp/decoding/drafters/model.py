"""Drafts from a second, smaller model, for targets so large that its steps are a small part of theirs.

It is given the target's prompt and output, in tokens of its own, and keeps them in a KV cache of its own: before a
draft only what is new is decoded, usually one token. Reading a whole prompt takes much longer than any draft saves, so
that is left to idle time (`idle`), and so is measuring what its steps cost; until both are done it proposes nothing.

The draft ends where another token would, even if it is right, not be worth the draft model's step and the target's row.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import TypeVar

from spark_lsp.decoding.calibration import PROMPT_SLICE_TOKENS, Calibration, time_decode
from spark_lsp.decoding.cost_model import CostModel
from spark_lsp.decoding.drafters.confidence import MOST_TOKENS
from spark_lsp.decoding.drafters.draft import Draft, DraftContext
from spark_lsp.decoding.drafters.probability import CalibratedProbability
from spark_lsp.decoding.drafters.vocabulary_match import VocabularyMatch
from spark_lsp.decoding.engine import Engine, Row
from spark_lsp.decoding.kv_cache import KVCache
from spark_lsp.decoding.prefix import common_prefix
from spark_lsp.decoding.sampling import greedy
from spark_lsp.errors import CancelledError
from spark_lsp.prompt.special_tokens import find_special_tokens

log = logging.getLogger(__name__)

Result = TypeVar("Result")

DRAFT_SEQUENCES = 2
"""Sequences of a draft model: the prompt in use and the one before, or the next window computed in idle time."""
CATCH_UP_STEPS = 1.0
"""Most that reading new tokens may take before a draft, in plain steps of the target: about what a good draft saves."""
CALIBRATION_WIDTHS = (1, 2, 4, 8)
"""Tokens of one step that are timed: a draft is decoded one by one, and few tokens are new after a step."""
_CALIBRATION_KEY = "calibration"


@dataclass(frozen=True, slots=True)
class DraftModel:
    """What a pipeline needs to draft with a second model. Closing the engine is the pipeline's business."""

    engine: Engine
    """Shares its interrupt with the target's engine, so that stopping the one stops both."""
    match: VocabularyMatch
    cost: CostModel | None = None
    """Measured costs of its steps; None has them measured in idle time."""
    keep_cost: Callable[[CostModel], object] = lambda cost: None
    """Gets the measured costs."""


class ModelDrafter:
    """Writes on greedily with the draft model.

    A failure of the draft model is logged once and switches it off; only CancelledError comes through.
    """

    name = "model"

    def __init__(
        self,
        model: DraftModel,
        target_cost: Callable[[], CostModel],
        *,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        """Draft with `model`; `target_cost` gives the costs of the model that verifies."""
        self._engine, self._match, self._keep_cost = model.engine, model.match, model.keep_cost
        self._target_cost = target_cost
        self._clock = clock
        self._cache = KVCache(self._engine)
        self._cost = model.cost
        self._calibration = Calibration(widths=CALIBRATION_WIDTHS, max_outputs=self._engine.info.max_outputs)
        self._probability = CalibratedProbability()
        self._stop = find_special_tokens(self._engine.vocabulary).stop
        self._tokens: list[int] = []
        """Prompt and output in the target's tokens."""
        self._keys: deque[int] = deque(maxlen=self._engine.info.sequences)
        self._new_keys = count()
        self._failed = False

    def start(self, context: DraftContext) -> None:
        """Follow another prompt; nothing is decoded yet."""
        self.follow(context.prompt)

    def follow(self, prompt: Sequence[int]) -> None:
        """Take `prompt` for what the target reads next."""
        self._tokens = list(prompt)

    def append(self, tokens: Sequence[int]) -> None:
        """Take in the output; nothing is decoded yet."""
        self._tokens += tokens

    def propose(self, limit: int, pending: int = 1) -> Draft | None:
        """Return what the draft model writes, None if it cannot pay. Raises CancelledError when interrupted."""
        return self._unless_failed(lambda: self._draft(limit), None)

    def observe(self, draft: Draft, accepted: int) -> None:
        """Count how the draft fared."""
        self._probability.observe(draft, accepted)

    def idle(self) -> bool:
        """Do one piece of background work; False if none is left.

        Raises CancelledError when interrupted; what was computed stays.
        """
        return self._unless_failed(lambda: self._calibrate() or self._catch_up(), False)

    def _unless_failed(self, work: Callable[[], Result], otherwise: Result) -> Result:
        if self._failed:
            return otherwise
        try:
            return work()
        except CancelledError:
            raise
        except Exception as error:
            self._failed = True
            log.warning("The draft model failed and is not used any more: %s", error)
            log.debug("The failure in full", exc_info=error)
            return otherwise

    def _draft(self, limit: int) -> Draft | None:
        cost, target = self._cost, self._target_cost()
        if cost is None:
            return None
        # A token that is never reached gains nothing; one that is saves a plain step, for a draft step and a row.
        floor = cost.seconds(1) / target.seconds(1) + target.row_share
        wanted = self._match.to_draft(self._tokens)
        room = min(limit, MOST_TOKENS, self._engine.info.context_length - len(wanted))
        if floor >= 1.0 or room < 1 or not wanted:
            return None
        key = self._sequence(wanted)
        if _reading_seconds(cost, self._unread(key, wanted)) > CATCH_UP_STEPS * target.seconds(1):
            return None
        begun = self._clock()
        row = self._read(key, wanted, cost)
        tokens: list[int] = []
        confidences: list[float] = []
        probabilities: list[float] = []
        reached = 1.0
        while True:
            choice = greedy(row)
            token = None if choice.token in self._stop else self._match.to_target(choice.token)
            if token is None:
                break
            tokens.append(token)
            confidences.append(self._probability.estimate(choice.probability))
            probabilities.append(choice.probability)
            reached *= confidences[-1]
            if reached < floor or len(tokens) == room:
                break
            step_begun = self._clock()
            row = self._cache.extend(key, [choice.token]).row(0)
            cost.observe(1, self._clock() - step_begun)
        return Draft(
            tuple(tokens),
            tuple(confidences),
            self.name,
            match_length=0,
            probabilities=tuple(probabilities),
            seconds=self._clock() - begun,
        )

    def _calibrate(self) -> bool:
        """Time one decode; False when that is done."""
        if self._cost is not None:
            return False
        step = self._calibration.next_step()
        if step is not None:
            seconds = time_decode(self._cache, _CALIBRATION_KEY, step.tokens, step.outputs)
            self._calibration.record(step, seconds)
            return True
        self._cache.forget(_CALIBRATION_KEY)
        self._cost = self._calibration.result()
        if self._cost is not None:
            self._keep_cost(self._cost)
        return False

    def _catch_up(self) -> bool:
        """Read what is new of prompt and output, so that the next draft need not; there is never a second piece."""
        cost = self._cost
        if cost is None or cost.seconds(1) >= self._target_cost().seconds(1):
            return False
        wanted = self._match.to_draft(self._tokens)
        if not wanted or len(wanted) > self._engine.info.context_length:
            return False
        key = self._sequence(wanted)
        unread = self._unread(key, wanted)
        if unread > 1:
            self._read(key, wanted[:-1], cost)
        if unread:
            # The last token alone times a step: so costs that seemed too high are corrected, drafts or no drafts.
            self._read(key, wanted, cost)
        return False

    def _sequence(self, wanted: Sequence[int]) -> int:
        """Return the key of the sequence that holds half of `wanted` or more, else that of a new one."""

        def held(key: int) -> int:
            return common_prefix(self._cache.tokens(key), wanted)

        best = max(self._keys, key=held, default=None)
        if best is None or 2 * held(best) < len(wanted):
            best = next(self._new_keys)
            self._keys.append(best)
        return best

    def _unread(self, key: int, wanted: Sequence[int]) -> int:
        return len(wanted) - common_prefix(self._cache.tokens(key), wanted)

    def _read(self, key: int, wanted: Sequence[int], cost: CostModel) -> Row:
        """Make the sequence of `key` hold `wanted`, and return the logits after it."""
        begun = self._clock()
        evaluation = self._cache.prefill(key, wanted)
        seconds = self._clock() - begun
        if evaluation.computed == 1:
            cost.observe(1, seconds)
        elif evaluation.computed >= PROMPT_SLICE_TOKENS:
            cost.observe_prompt(evaluation.computed, seconds)
        return evaluation.logits.row(0)


def _reading_seconds(cost: CostModel, tokens: int) -> float:
    """Return the time to read `tokens` tokens with an output after the last."""
    return cost.seconds(tokens) if tokens <= CALIBRATION_WIDTHS[-1] else tokens / cost.prompt_tokens_per_second
