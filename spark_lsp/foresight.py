"""A completion for a place that the document has not reached yet, computed without a trace.

`foresee` does what `Pipeline.complete` does, in a fork of the document's sequence: the window, the latest output, the
syntax tree and the drafters of the document stay as they are. So the text is the one that the request would get once
the document is there, and what that request has to compute is the same whether it was foreseen or not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from spark_lsp.background import PLAN_PARSE_SECONDS
from spark_lsp.completion import Completion, CompletionRequest, finished, unwanted
from spark_lsp.context.session import DocumentSession
from spark_lsp.decoding.drafters import DocumentDrafter, DraftChain, Drafter, NgramDrafter, NgramIndex
from spark_lsp.decoding.drafters.confidence import DOCUMENT_PRIOR, OTHER_TEXT_PRIOR, Confidence
from spark_lsp.decoding.extent import choose_extent
from spark_lsp.decoding.generate import GenerationLimits, generate
from spark_lsp.decoding.kv_cache import FORK
from spark_lsp.errors import ContextFullError
from spark_lsp.postprocess import Place

if TYPE_CHECKING:
    from spark_lsp.pipeline import Pipeline


class Foresight:
    """Computes in advance, with drafters of its own: those of the pipeline index the document as it is.

    They go again with each completion, since an index takes 0.5 KB a token and is made in some milliseconds.
    """

    def __init__(self, pipeline: Pipeline, documents: Mapping[str, DocumentSession], accepted: NgramIndex) -> None:
        self._pipeline = pipeline
        self._documents = documents
        self._accepted = accepted
        self._confidences = Confidence(DOCUMENT_PRIOR), Confidence(OTHER_TEXT_PRIOR)

    def foresee(self, request: CompletionRequest, cancelled: Callable[[], bool]) -> Completion | None:
        """Return what `request` would be answered; None where that is not known yet or there is no room for it.

        It is not known where the request would begin a new window, or idle time has not settled the one in use. Raises
        CancelledError when interrupted; then nothing is left of it.
        """
        pipeline, document = self._pipeline, self._documents.get(request.document)
        if document is None:
            return None
        settings, engine = pipeline.settings, pipeline.engine
        snapshot, cursor = request.snapshot, request.cursor
        tree = document.parser.branch(snapshot.text, PLAN_PARSE_SECONDS)
        place = Place.at(snapshot, cursor, request.language, tree)
        if (reason := unwanted(place, settings)) is not None:
            return Completion("", reason)
        window = document.foresee(snapshot, tree, cursor, pipeline.limits(new_place=True))
        if window is None:
            return None
        extent = choose_extent(snapshot, tree, cursor, place, request.language)
        with pipeline.cache.forked() as lent:
            if not lent:
                return None
            try:
                generation = generate(
                    pipeline.cache,
                    FORK,
                    pipeline.prompts.build(window),
                    pipeline.table,
                    engine.vocabulary.pieces,
                    pipeline.stop_rule(extent, snapshot, tree, cursor, place, settings.max_lines),
                    GenerationLimits(settings.max_tokens),
                    context_length=engine.info.context_length,
                    max_draft=pipeline.max_draft,
                    exact_width=pipeline.cost.exact_width,
                    drafter=self.drafters() if settings.drafting and pipeline.max_draft else None,
                    names=pipeline.name_check(request, tree),
                    cancelled=cancelled,
                )
            except ContextFullError:
                return None
        return finished(generation, place, gate=settings.gate)

    def drafters(self) -> DraftChain:
        """Return drafters for one text."""
        document, accepted = self._confidences
        drafters: list[Drafter] = [DocumentDrafter(document), NgramDrafter("accepted", self._accepted, accepted)]
        return DraftChain(drafters, self._pipeline.cost)
