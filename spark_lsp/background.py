"""What is done while nobody waits: a better window for the latest place, and the costs of this machine.

Each piece is short or can be interrupted, and each kind comes to an end: then an idle server uses no processor time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from spark_lsp.context.session import DocumentSession
from spark_lsp.decoding.calibration import Calibration, time_decode
from spark_lsp.decoding.cost_model import CostModel
from spark_lsp.decoding.engine import Engine
from spark_lsp.decoding.exactness import ExactnessProbe
from spark_lsp.decoding.kv_cache import KVCache
from spark_lsp.errors import CancelledError

if TYPE_CHECKING:
    from spark_lsp.pipeline import Pipeline

_CALIBRATION_KEY = "calibration"
PLAN_PARSE_SECONDS = 0.5
"""Time for parsing in the background; a document that was never parsed takes longer than a keystroke may wait."""


def prepare_place(pipeline: Pipeline, document: DocumentSession | None, cancelled: Callable[[], bool]) -> bool:
    """Compute what the next request at the latest place of `document` needs; False if nothing is missing.

    First the prompt of the window in use, if its request was interrupted or never made; then a better window. Raises
    CancelledError when interrupted; what was computed stays.
    """
    if document is None or document.last is None:
        return False

    def check() -> None:
        if cancelled():
            raise CancelledError

    request = document.last
    snapshot, cursor = request.snapshot, request.cursor
    tree = document.parser.tree(snapshot.text, PLAN_PARSE_SECONDS)
    window = document.follow(snapshot, tree, cursor, pipeline.limits(new_place=True))
    prompt = pipeline.prompts.build(window)
    key = (request.document, document.slot)
    if pipeline.cache.missing(key, prompt.tokens):
        pipeline.cache.prefill(key, prompt.tokens, between_slices=check)
        return True
    names = pipeline.name_check(request, tree)
    if names is not None:
        names.prepare()
    if pipeline.sources.work(request.document):
        return True
    planned = document.plan(
        snapshot,
        tree,
        cursor,
        pipeline.limits(new_place=False),
        pipeline.choose_extras(request.document),
        pipeline.sources.changes(request.document),
    )
    if planned is None:
        document.last = None
        return False
    slot, window = planned
    better = pipeline.prompts.build(window)
    pipeline.cache.prefill((request.document, slot), better.tokens, between_slices=check)
    document.use_plan(slot, window, better, prompt)
    pipeline.follow_draft(better.tokens)
    return True


class Calibrator:
    """Times one decode after the other until the costs of the machine are known, then looks which widths are exact."""

    def __init__(
        self,
        engine: Engine,
        cache: KVCache,
        threads: Sequence[int],
        use: Callable[[CostModel], object],
        keep: Callable[[CostModel], object],
    ) -> None:
        """Compare the thread counts `threads`, if any.

        `use` gets the costs as soon as they are measured. `keep` gets them when the exact widths are known too: costs
        that are found on disk are not completed any more.
        """
        self._engine = engine
        self._cache = cache
        self._use = use
        self._keep = keep
        self._calibration: Calibration | None = Calibration(max_outputs=engine.info.max_outputs, threads=threads)
        self._cost: CostModel | None = None
        self._probe: ExactnessProbe | None = None

    @property
    def fraction(self) -> float | None:
        """Share of the measuring that is done, 0 to 1; None when nothing is left to do."""
        if self._calibration is not None:
            return self._calibration.fraction
        return 1.0 if self._probe is not None else None

    def work(self) -> bool:
        """Do one decode; False when nothing is left. Raises CancelledError when interrupted, without a loss."""
        return self._calibrate() or self._find_exact_width()

    def _calibrate(self) -> bool:
        calibration = self._calibration
        if calibration is None:
            return False
        step = calibration.next_step()
        if step is not None:
            threads = (step.threads, step.threads) if step.threads is not None else calibration.threads
            if threads is not None:
                self._engine.use_threads(*threads)
            calibration.record(step, time_decode(self._cache, _CALIBRATION_KEY, step.tokens, step.outputs))
            return True
        self._calibration = None
        self._cache.forget(_CALIBRATION_KEY)
        self._cost = calibration.result()
        if self._cost is not None:
            self._use(self._cost)
            self._probe = ExactnessProbe(self._cache, len(self._engine.vocabulary))
        return True

    def _find_exact_width(self) -> bool:
        probe, cost = self._probe, self._cost
        if probe is None or cost is None:
            return False
        if probe.work():
            return True
        self._probe = None
        cost.exact_width = probe.exact_width
        self._keep(cost)
        return False
