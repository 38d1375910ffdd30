"""The index of the program: `Pipeline.complete` calls the stages in order.

::

    TextSnapshot -> SyntaxTree -> CompletionContext -> Prompt -> Generation -> text -> Completion
      documents/     syntax/        context/           prompt/    decoding/   postprocess/

No stage below does I/O or reads settings; everything comes as an argument. A pipeline belongs to the engine's thread.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable

from spark_lsp.completion import Completion, CompletionRequest, Reason
from spark_lsp.context.resume import Resumption
from spark_lsp.context.session import SLOTS, DocumentSession
from spark_lsp.context.window import WindowLimits, choose_window, outgrown
from spark_lsp.decoding.cost_model import Calibration, CostModel, default_cost_model
from spark_lsp.decoding.drafters import (
    ACCEPTED_TOKENS,
    DocumentDrafter,
    DraftChain,
    NgramDrafter,
    NgramIndex,
    PreviousDrafter,
)
from spark_lsp.decoding.engine import Engine
from spark_lsp.decoding.extent import choose_extent, stop_rule
from spark_lsp.decoding.generate import Generation, GenerationLimits, generate
from spark_lsp.decoding.healing import PieceTable
from spark_lsp.decoding.kv_cache import KVCache
from spark_lsp.decoding.snapshots import SnapshotStore
from spark_lsp.decoding.stopping import StopReason, StopRule
from spark_lsp.documents.text import TextSnapshot
from spark_lsp.errors import CancelledError
from spark_lsp.postprocess import Place, postprocess, whole_lines
from spark_lsp.prompt.fim import PromptBuilder
from spark_lsp.settings import CompletionSettings
from spark_lsp.syntax.languages import Language
from spark_lsp.syntax.parser import SyntaxTree

__all__ = ["Completion", "CompletionRequest", "Pipeline", "Reason"]

OPEN_DOCUMENTS = 16
"""Documents whose syntax tree and window are kept; the least recently used one is dropped and made anew if needed."""
WINDOW_SECONDS = 3.0
"""A new place should be computed within this time, a thinking pause: it bounds the window on slow machines."""
TAIL_TOKENS = 150
"""What the tail usually takes of it: ten lines and a part of the block."""
PREFIX_LEAST_TOKENS = 192
"""Tokens above the anchor that are read on any machine: with fewer, names from the same file are missed."""
_CALIBRATION_KEY = "calibration"
FIRST_PARSE_SECONDS = 0.02
"""Time that one request may spend on parsing a document for the first time; a huge file is parsed over several."""


class Pipeline:
    """All stages on one engine. Used by one thread only."""

    def __init__(
        self,
        engine: Engine,
        settings: CompletionSettings,
        *,
        cost: CostModel | None = None,
        keep_cost: Callable[[CostModel], object] = lambda cost: None,
        snapshots: SnapshotStore | None = None,
    ) -> None:
        """Use `engine`. Without measured costs the machine is calibrated in idle time, and `keep_cost` gets them.

        `snapshots` keeps the sequences of documents for the next start.
        """
        self.engine = engine
        self.cache = KVCache(engine)
        self._resumption = Resumption(self.cache, snapshots if engine.info.saves else None)
        self._table = PieceTable(engine.vocabulary.pieces)
        self._documents: OrderedDict[str, DocumentSession] = OrderedDict()
        self._max_draft = engine.info.max_outputs - 1 if engine.info.rolls_back else 0
        unknown = cost is None and engine.info.rolls_back  # a memory that cannot be cut back cannot be timed so
        self._calibration = Calibration(max_outputs=engine.info.max_outputs) if unknown else None
        self._keep_cost = keep_cost
        self._accepted = NgramIndex(ACCEPTED_TOKENS)
        self.cost = cost or default_cost_model()
        self.chain = DraftChain(
            [PreviousDrafter(), DocumentDrafter(), NgramDrafter("accepted", self._accepted)], self.cost
        )
        self.configure(settings)

    def configure(self, settings: CompletionSettings) -> None:
        """Use `settings` from now on."""
        self._settings = settings
        self._resumption.enabled = settings.snapshots
        self._prompts = PromptBuilder(
            self.engine.vocabulary, self.engine.tokenize, layout=settings.layout, heal_tokens=settings.heal_tokens
        )
        for document in self._documents.values():
            document.forget_windows()

    @property
    def fills_in_the_middle(self) -> bool:
        """Whether the model sees the text after the cursor."""
        return self._prompts.fills_in_the_middle

    def complete(
        self,
        request: CompletionRequest,
        *,
        cancelled: Callable[[], bool] = lambda: False,
        on_text: Callable[[str], None] = lambda text: None,
    ) -> Completion:
        """Return the completion at the request's cursor.

        `on_text` receives the post-processed text whenever a step made it longer. Raises CancelledError when
        `cancelled()` turns true, EngineError when the engine fails.
        """
        started = time.monotonic()
        settings, snapshot, cursor = self._settings, request.snapshot, request.cursor
        document = self._document(request)
        tree = document.parser.tree(snapshot.text, FIRST_PARSE_SECONDS)
        document.last = request
        self._resumption.resume(request.document, document)
        context = document.follow(snapshot, tree, cursor, self._limits())
        prompt = self._prompts.build(context)
        previous = document.previous(prompt.tokens, snapshot.text, cursor, self.engine.tokenize)
        place = Place.at(snapshot, cursor)
        rule = self._stop_rule(tree, snapshot, cursor, place, request.language)
        shown = ""

        def stream(text: str) -> None:
            nonlocal shown
            text = postprocess(text, place)
            if len(text) > len(shown):
                shown = text
                on_text(text)

        generation = generate(
            self.cache,
            (request.document, document.slot),
            prompt,
            self._table,
            self.engine.vocabulary.pieces,
            rule,
            GenerationLimits(settings.max_tokens, request.deadline),
            context_length=self.engine.info.context_length,
            max_draft=self._max_draft,
            drafter=self.chain if settings.drafting and self._max_draft else None,
            previous=previous,
            on_step=self.cost.observe,
            cancelled=cancelled,
            on_text=stream,
        )
        document.written = prompt.tokens + generation.tokens
        document.frozen = max(1, len(prompt.tokens) - len(prompt.tail))
        return self._finish(generation, place, time.monotonic() - started)

    def learn(self, text: str) -> None:
        """Take in a text that the user accepted: code repeats it."""
        self._accepted.learn(self.engine.tokenize(text))

    def forget(self, document: str) -> None:
        """Free what is kept for a document that was closed."""
        known = self._documents.pop(document, None)
        if known is not None:
            self._resumption.leave(document, known)
            known.parser.close()
        for slot in range(SLOTS):
            self.cache.forget((document, slot))

    def close(self) -> None:
        """Keep on disk what the next start can use, the latest document first, for a part of a second."""
        self._resumption.leave_all(reversed(self._documents.items()))

    def idle(self, cancelled: Callable[[], bool]) -> bool:
        """Do one piece of background work; False if none is left.

        First the next place, then the costs of this machine, then the snapshots that are due. When the tail of the
        latest document has grown long, a window with a new anchor is computed in the slot not in use, and put to use
        when it is complete. Raises CancelledError when interrupted; what was computed stays.
        """
        interrupted = self.engine.interrupt.is_set
        return (
            self._prepare_anchor(cancelled)
            or self._calibrate()
            or self._resumption.save_due(self._documents.items(), lambda: cancelled() or interrupted())
        )

    def _prepare_anchor(self, cancelled: Callable[[], bool]) -> bool:
        document = next(reversed(self._documents.values()), None)
        if document is None or document.last is None:
            return False
        request, current = document.last, document.windows[document.slot]
        document.last = None
        if current is None or not outgrown(current):
            return False
        tree = document.parser.tree(request.snapshot.text, FIRST_PARSE_SECONDS)
        window = choose_window(None, request.snapshot, tree, request.cursor, self._limits())
        if (window.above, window.below) == (current.above, current.below):
            return False
        document.last = request  # still to do, until the prefill has come to its end

        def check() -> None:
            if cancelled():
                raise CancelledError

        spare = 1 - document.slot
        prompt = self._prompts.build(window)
        self.cache.prefill((request.document, spare), prompt.tokens, between_slices=check)
        document.slot, document.windows[spare], document.last = spare, window, None
        return True

    def _calibrate(self) -> bool:
        """Time one decode for the cost model; False when it is complete."""
        if self._calibration is None:
            return False
        calibration, self._calibration = self._calibration, None
        step = calibration.next_step()
        if step is not None:
            try:
                calibration.record(step, self.cache.time_decode(_CALIBRATION_KEY, step.tokens, step.outputs))
            except CancelledError:
                self._calibration = calibration
                raise
            self._calibration = calibration
            return True
        measured = calibration.result()
        self.cache.forget(_CALIBRATION_KEY)
        if measured is not None:
            self.cost = self.chain.cost = measured
            self._keep_cost(measured)
        return False

    def _limits(self) -> WindowLimits:
        """Return the window bounds: what fits the context of this model and the time that this machine needs for it."""
        settings = self._settings
        room = max(64, self.engine.info.context_length // 2 - settings.max_tokens)
        suffix = min(settings.suffix_tokens, room // 4)
        in_time = self.cost.tokens_within(WINDOW_SECONDS) - suffix - TAIL_TOKENS
        return WindowLimits(
            prefix_tokens=min(settings.prefix_tokens, room - suffix, max(in_time, PREFIX_LEAST_TOKENS)),
            suffix_tokens=suffix if self._prompts.fills_in_the_middle else 0,
        )

    def _document(self, request: CompletionRequest) -> DocumentSession:
        document = self._documents.get(request.document)
        if document is None or document.language != request.language:
            document = self._documents[request.document] = DocumentSession(request.language)
        self._documents.move_to_end(request.document)
        if len(self._documents) > OPEN_DOCUMENTS:
            self._documents.popitem(last=False)[1].parser.close()
        return document

    def _stop_rule(
        self, tree: SyntaxTree, snapshot: TextSnapshot, cursor: int, place: Place, language: Language
    ) -> StopRule:
        extent = choose_extent(snapshot, tree, cursor, place, language)
        return stop_rule(extent, snapshot, tree, cursor, place, language, self._settings.max_lines)

    def _finish(self, generation: Generation, place: Place, seconds: float) -> Completion:
        text = generation.text
        if generation.stop in (StopReason.DEADLINE, StopReason.TOKENS, StopReason.LINES):
            text = whole_lines(text)
        shown = postprocess(text, place)
        if shown:
            reason = Reason.SHOWN
        elif generation.text.strip():
            reason = Reason.DUPLICATE
        else:
            reason = Reason.COLD if generation.stop is StopReason.DEADLINE else Reason.NOTHING
        return Completion(shown, reason, generation, seconds)
