"""The index of the program: `Pipeline.complete` calls the stages in order.

::

    TextSnapshot -> SyntaxTree -> CompletionContext -> Prompt -> Generation -> text -> Completion
      documents/     syntax/        context/           prompt/    decoding/   postprocess/  gate/

No stage below does I/O or reads settings; everything comes as an argument. A pipeline belongs to the engine's thread.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Sequence

from spark_lsp.alternatives import Alternatives
from spark_lsp.background import Calibrator, prepare_place
from spark_lsp.completion import Completion, CompletionRequest, Reason, finished, unwanted
from spark_lsp.context.budget import Room, extras_characters, window_limits
from spark_lsp.context.resume import Resumption
from spark_lsp.context.session import SLOTS, ChooseExtras, DocumentSession
from spark_lsp.context.sources import ContextSources
from spark_lsp.context.window import WindowLimits
from spark_lsp.decoding.cost_model import CostModel, default_cost_model
from spark_lsp.decoding.drafters import (
    ACCEPTED_TOKENS,
    DocumentDrafter,
    DraftChain,
    Drafter,
    DraftModel,
    ModelDrafter,
    NgramDrafter,
    NgramIndex,
    PreviousDrafter,
    WorkspaceTexts,
)
from spark_lsp.decoding.engine import Engine
from spark_lsp.decoding.extent import choose_extent, stop_rule
from spark_lsp.decoding.generate import GenerationLimits, generate
from spark_lsp.decoding.healing import PieceTable
from spark_lsp.decoding.kv_cache import KVCache
from spark_lsp.decoding.snapshots import SnapshotStore
from spark_lsp.foresight import Foresight
from spark_lsp.gate import AUTOMATIC, INVOKED, Scored, growing_text
from spark_lsp.names.check import MemberCheck
from spark_lsp.names.index import NameIndex
from spark_lsp.postprocess import Place, postprocess
from spark_lsp.prompt.fim import PromptBuilder
from spark_lsp.settings import CompletionSettings, ContextSettings
from spark_lsp.syntax.blocks import ScopeKind, scope_kind
from spark_lsp.syntax.parser import SyntaxTree

__all__ = ["Completion", "CompletionRequest", "Pipeline", "Reason"]

OPEN_DOCUMENTS = 16
"""Documents whose syntax tree and window are kept; the least recently used one is dropped and made anew if needed."""
FIRST_PARSE_SECONDS = 0.02
"""Time that one request may spend on parsing a document for the first time; a huge file is parsed over several."""
PATIENT_PARSE_SECONDS = 2.0
"""For a request that may wait, and that gets no second chance."""


class Pipeline:
    """All stages on one engine. Used by one thread only."""

    def __init__(
        self,
        engine: Engine,
        settings: CompletionSettings,
        *,
        cost: CostModel | None = None,
        keep_cost: Callable[[CostModel], object] = lambda cost: None,
        threads: Sequence[int] = (),
        draft: DraftModel | None = None,
        snapshots: SnapshotStore | None = None,
        notice: str = "",
        context: ContextSettings | None = None,
    ) -> None:
        """Use `engine`, and `draft` to draft for it.

        Without measured costs the machine is calibrated in idle time, and `keep_cost` gets them. The calibration
        compares the thread counts `threads`; with none the engine's own stay. `snapshots` keeps the sequences of
        documents for the next start. `notice` is what the user should know of how this was set up. `context` says what
        the prompt has beside the window.
        """
        self.engine = engine
        self.notice = notice
        self.cache = KVCache(engine)
        self._resumption = Resumption(self.cache, snapshots if engine.info.saves else None)
        self.table = PieceTable(engine.vocabulary.pieces)
        self._documents: OrderedDict[str, DocumentSession] = OrderedDict()
        self.max_draft = engine.info.max_outputs - 1 if engine.info.rolls_back else 0
        self._accepted = NgramIndex(ACCEPTED_TOKENS)
        self.stop_rule = stop_rule
        """Chooses where a text ends; benchmarks compare with another choice."""
        self.workspace = WorkspaceTexts(engine.tokenize)
        self.names = NameIndex()
        self.sources = ContextSources(context or ContextSettings())
        self.cost = cost or default_cost_model()
        accepted = NgramDrafter("accepted", self._accepted)
        copying: list[Drafter] = [PreviousDrafter(), DocumentDrafter(), accepted, self.workspace.drafter]
        self._draft = draft
        self._model = ModelDrafter(draft, lambda: self.cost) if draft is not None else None
        self.chain = DraftChain(copying, self.cost, last=self._model)
        self.foresight = Foresight(self, self._documents, self._accepted)
        self.alternatives = Alternatives(self, self._documents)
        self._use_costs(self.cost)
        unknown = cost is None and engine.info.rolls_back  # a memory that cannot be cut back cannot be timed so
        self.calibrator = Calibrator(engine, self.cache, threads, self._use_costs, keep_cost) if unknown else None
        self.configure(settings)

    def configure(self, settings: CompletionSettings) -> None:
        """Use `settings` from now on."""
        self.settings = settings
        self.workspace.enable(settings.workspace and settings.drafting and self.max_draft > 0)
        self._resumption.enabled = settings.snapshots
        self.prompts = PromptBuilder(
            self.engine.vocabulary, self.engine.tokenize, layout=settings.layout, heal_tokens=settings.heal_tokens
        )
        for document in self._documents.values():
            document.forget_windows()

    @property
    def fills_in_the_middle(self) -> bool:
        """Whether the model sees the text after the cursor."""
        return self.prompts.fills_in_the_middle

    def complete(
        self,
        request: CompletionRequest,
        *,
        cancelled: Callable[[], bool] = lambda: False,
        on_place: Callable[[Place], None] = lambda place: None,
        on_text: Callable[[str], None] = lambda text: None,
    ) -> Completion:
        """Return the completion at the request's cursor.

        `on_place` receives what the rules know of the cursor's place, before there is any text. `on_text` receives the
        post-processed text whenever a step made it longer. Raises CancelledError when `cancelled()` turns true,
        EngineError when the engine fails.
        """
        started = time.monotonic()
        settings, snapshot, cursor = self.settings, request.snapshot, request.cursor
        document = self._document(request)
        parse_seconds = PATIENT_PARSE_SECONDS if request.patient else FIRST_PARSE_SECONDS
        tree = document.parser.tree(snapshot.text, parse_seconds)
        document.last = request
        self._resumption.resume(request.document, document)
        place = Place.at(snapshot, cursor, request.language, tree)
        if not request.invoked and (reason := unwanted(place, settings)) is not None:
            return Completion("", reason)
        on_place(place)
        limits = self.limits(new_place=not request.patient)
        window = document.follow(snapshot, tree, cursor, limits)
        if request.patient:
            while self.sources.work(request.document) and not cancelled():
                pass
            window = document.extend(tree, self.choose_extras(request.document), self.sources.changes(request.document))
        prompt = self.prompts.build(window)
        previous = document.previous(prompt.tokens, snapshot.text, cursor, self.engine.tokenize)
        extent = choose_extent(snapshot, tree, cursor, place, request.language)
        rule = self.stop_rule(extent, snapshot, tree, cursor, place, settings.max_lines)
        growing, shown = place.while_growing(), ""
        bars = (INVOKED if request.invoked else AUTOMATIC) if settings.gate else None

        def stream(text: str, probabilities: Sequence[float], ends: Sequence[int]) -> None:
            nonlocal shown
            text = growing_text(postprocess(text, growing), Scored(text, probabilities, ends), bars)
            if len(text) > len(shown):
                shown = text
                on_text(text)

        generation = generate(
            self.cache,
            (request.document, document.slot),
            prompt,
            self.table,
            self.engine.vocabulary.pieces,
            rule,
            GenerationLimits(settings.max_tokens, request.deadline),
            context_length=self.engine.info.context_length,
            max_draft=self.max_draft,
            exact_width=self.cost.exact_width,
            drafter=self.chain if settings.drafting and self.max_draft else None,
            previous=previous,
            names=self.name_check(request, tree),
            on_step=self.cost.observe,
            on_prompt=self.cost.observe_prompt,
            cancelled=cancelled,
            on_text=stream,
        )
        document.note(prompt, generation.tokens)
        seconds = time.monotonic() - started
        return finished(generation, place, seconds, invoked=request.invoked, gate=settings.gate)

    def learn(self, text: str) -> None:
        """Take in a text that the user accepted: code repeats it."""
        self._accepted.learn(self.engine.tokenize(text))

    def forget(self, document: str, *, keep: bool = True) -> None:
        """Free what is kept for a document that was closed; without `keep`, also what is kept of it on disk."""
        known = self._documents.pop(document, None)
        if known is not None:
            known.parser.close()
            if keep:
                self._resumption.leave(document, known)
        self.sources.forget(document, private=not keep)
        self.names.forget(document)
        if not keep:
            self._resumption.discard(document)
            self._forget_extras()
        for slot in range(SLOTS):
            self.cache.forget((document, slot))

    def close(self) -> None:
        """Free the models; safe to call twice."""
        self.engine.close()
        if self._draft is not None:
            self._draft.engine.close()

    def leave(self) -> None:
        """Keep on disk what the next start can use, the latest document first, for a part of a second."""
        self._resumption.leave_all(reversed(self._documents.items()))

    def idle(self, cancelled: Callable[[], bool], look_ahead: Callable[[], bool] = lambda: False) -> bool:
        """Do one piece of background work; False if none is left.

        First the latest place, then what follows it (`look_ahead`, which tells likewise), then the costs of this
        machine once there was one, then what the draft model has to read, then the snapshots that are due, then texts
        of the workspace. Raises CancelledError when interrupted; what was computed stays.
        """
        interrupted = self.engine.interrupt.is_set
        document = next(reversed(self._documents.values()), None)
        if prepare_place(self, document, cancelled):
            return True
        if look_ahead():
            return True
        if document is not None and self.calibrator is not None and self.calibrator.work():
            return True
        if self._model is not None and self.settings.drafting and self._model.idle():
            return True
        if self._resumption.save_due(self._documents.items(), lambda: cancelled() or interrupted()):
            return True
        return self.workspace.work()

    def expect(self, request: CompletionRequest) -> None:
        """Let idle time prepare for a request at this place, which was edited."""
        document = self._document(request)
        document.last = request
        self._resumption.resume(request.document, document)

    def follow_draft(self, tokens: Sequence[int]) -> None:
        """Let the draft model read a prompt that will be used, in idle time."""
        if self._model is not None:
            self._model.follow(tokens)

    def forget_files(self) -> None:
        """Free what was read from the disk as context: other files may be private now."""
        self.sources.forget_files()
        self._forget_extras()

    def _forget_extras(self) -> None:
        for document in self._documents.values():
            if any(window is not None and window.extras for window in document.windows):
                document.forget_windows()

    def choose_extras(self, document: str) -> ChooseExtras:
        """Return the function that chooses what stands in front of a window of the document."""
        characters = extras_characters(self.cost, self.engine.info.context_length)
        return lambda tree, window: self.sources.choose(document, tree, window, characters)

    def limits(self, *, new_place: bool) -> WindowLimits:
        """Return the window bounds; somebody waits for the first window of a new place."""
        settings = self.settings
        suffix = settings.suffix_tokens if self.prompts.fills_in_the_middle else 0
        room = Room(self.engine.info.context_length, settings.prefix_tokens, suffix, settings.max_tokens)
        return window_limits(self.cost, room, new_place=new_place)

    def name_check(self, request: CompletionRequest, tree: SyntaxTree) -> MemberCheck | None:
        """Return what knows the names that may follow a dot at the cursor; None where nothing is checked."""
        if not self.settings.names or not self.engine.info.rolls_back:
            return None
        if scope_kind(tree, request.cursor) is not ScopeKind.CODE:
            return None
        return self.names.check(request.document, request.language, request.snapshot, request.cursor)

    def _use_costs(self, cost: CostModel) -> None:
        self.cost = self.chain.cost = cost
        if cost.threads is not None:
            self.engine.use_threads(*cost.threads)

    def _document(self, request: CompletionRequest) -> DocumentSession:
        document = self._documents.get(request.document)
        if document is None or document.language != request.language:
            document = self._documents[request.document] = DocumentSession(request.language)
        self._documents.move_to_end(request.document)
        if len(self._documents) > OPEN_DOCUMENTS:
            self._documents.popitem(last=False)[1].parser.close()
        return document
