"""Other texts for a place whose first text is known.

The model's next-best tokens are put where its own text goes beyond what is typed, and each is written to its end like
any text: with the same stop rule, post-processing and gate. That happens in a fork of the document's sequence, which
shares the cells of the prompt, so an alternative costs its own tokens and nothing else, and what the next keystroke
finds in the KV cache is the first text.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from spark_lsp.completion import Completion, CompletionRequest, Reason, finished
from spark_lsp.context.session import DocumentSession
from spark_lsp.decoding.engine import Row
from spark_lsp.decoding.extent import choose_extent
from spark_lsp.decoding.generate import Generation, GenerationLimits, generate
from spark_lsp.decoding.kv_cache import FORK
from spark_lsp.decoding.sampling import Choice, greedy_among
from spark_lsp.errors import CancelledError, ContextFullError
from spark_lsp.postprocess import Place
from spark_lsp.prompt.fim import Prompt

if TYPE_CHECKING:
    from spark_lsp.pipeline import Pipeline

LEAST_PROBABILITY = 0.002
"""Of a first token. The user asked for something else, however sure the model is. Tried with the default model at five
places: 0.01 gave other texts at two, 0.002 at four, and all made sense; the gate withholds what does not."""
TRIES = 3
"""Texts written for each one that is wanted, since some come to the same or to nothing."""
PARSE_SECONDS = 0.5
"""For a document that was never parsed; the user waits for something to choose from, not for the next key."""


class Alternatives:
    """Writes them. Belongs to the engine's thread."""

    def __init__(self, pipeline: Pipeline, documents: Mapping[str, DocumentSession]) -> None:
        self._pipeline = pipeline
        self._documents = documents

    def complete(self, request: CompletionRequest, cancelled: Callable[[], bool]) -> Completion:
        """Return in `others` so many texts as the settings ask for, those of `request.beside` included.

        They differ from those and from one another in more than white space, the most probable beginning first. None
        where the engine has no sequence to spare. Raises CancelledError when `cancelled()` turns true, EngineError when
        the engine fails; `others` ends with what is there by the setting's time.
        """
        started, pipeline = time.monotonic(), self._pipeline
        document, wanted = self._documents.get(request.document), pipeline.settings.candidates - len(request.beside)
        if document is None or wanted <= 0 or not pipeline.settings.candidates_ms:
            return Completion("", Reason.OTHERS)

        def check() -> None:
            if cancelled():
                raise CancelledError

        tree = document.parser.tree(request.snapshot.text, PARSE_SECONDS)
        place = Place.at(request.snapshot, request.cursor, request.language, tree)
        window = document.follow(request.snapshot, tree, request.cursor, pipeline.limits(new_place=True))
        prompt = pipeline.prompts.build(window)
        key = (request.document, document.slot)
        if pipeline.cache.tokens(key)[: len(prompt.tokens)] != prompt.tokens:
            pipeline.cache.prefill(key, prompt.tokens, between_slices=check)
        extent = choose_extent(request.snapshot, tree, request.cursor, place, request.language)
        rule = pipeline.stop_rule(extent, request.snapshot, tree, request.cursor, place, pipeline.settings.max_lines)
        names = pipeline.name_check(request, tree)
        deadline = time.monotonic() + pipeline.settings.candidates_ms / 1000

        def write(prompt: Prompt, opening: Choice) -> Generation:
            return generate(
                pipeline.cache,
                FORK,
                prompt,
                pipeline.table,
                pipeline.engine.vocabulary.pieces,
                rule,
                GenerationLimits(pipeline.settings.max_tokens, deadline),
                context_length=pipeline.engine.info.context_length,
                max_draft=pipeline.max_draft,
                exact_width=pipeline.cost.exact_width,
                drafter=pipeline.foresight.drafters() if pipeline.settings.drafting and pipeline.max_draft else None,
                names=names,
                opening=opening,
                cancelled=cancelled,
            )

        others: list[str] = []
        with pipeline.cache.forked() as lent:
            try:
                for generation in self._texts(prompt, request.beside, TRIES * wanted, write, check) if lent else ():
                    # The opening is improbable by intent: how sure the model is of what follows it decides.
                    sure = replace(generation, probabilities=(1.0, *generation.probabilities[1:]))
                    text = finished(sure, place, invoked=True, gate=pipeline.settings.gate).text
                    if text and all(_letters(text) != _letters(known) for known in (*request.beside, *others)):
                        others.append(text)
                    if len(others) == wanted or time.monotonic() >= deadline:
                        break
            except ContextFullError:
                pass  # the open documents need the room; there are as many as there are
        return Completion("", Reason.OTHERS, seconds=time.monotonic() - started, others=tuple(others))

    def _texts(
        self,
        prompt: Prompt,
        known: tuple[str, ...],
        tries: int,
        write: Callable[[Prompt, Choice], Generation],
        check: Callable[[], None],
    ) -> Iterator[Generation]:
        """Write at most `tries` texts that do not begin like a `known` one or like one another."""
        prompt, row = self._branch(prompt, check)
        written = list(known)
        for opening, text in self._openings(prompt, row):
            if any(other.startswith(text) for other in written):
                continue  # the same text, spelled with other tokens
            if not tries:
                return
            tries -= 1
            generation = write(prompt, opening)
            written.append(generation.text)
            yield generation

    def _branch(self, prompt: Prompt, check: Callable[[], None]) -> tuple[Prompt, Row]:
        """Spell typed text as the model does, up to its first token that says something new.

        Return the prompt with what was spelled, and the logits there.
        """
        cache, pieces = self._pipeline.cache, self._pipeline.engine.vocabulary.pieces
        while True:
            row = cache.prefill(FORK, prompt.tokens, between_slices=check).logits.row(0)
            allowed = self._pipeline.table.allowed(prompt.heal) if prompt.heal else np.zeros(0, np.int32)
            if not allowed.size:
                return prompt, row.copy()
            if np.isneginf(row[allowed]).all():  # sampled in the graph, where nobody knew what was allowed here
                row, _ = cache.alone(FORK, len(prompt.tokens))
            token = greedy_among(row, allowed).token
            if len(pieces[token]) > len(prompt.heal):
                return prompt, row.copy()
            prompt = replace(
                prompt,
                tokens=(*prompt.tokens, token),
                tail=(*prompt.tail, token),
                heal=prompt.heal[len(pieces[token]) :],
                heal_tokens=(),
            )

    def _openings(self, prompt: Prompt, row: Row) -> Iterator[tuple[Choice, str]]:
        """Yield the probable tokens and what they write behind the typed text, the most probable one first."""
        pieces = self._pipeline.engine.vocabulary.pieces
        allowed = self._pipeline.table.extending(prompt.heal) if prompt.heal else np.arange(len(row), dtype=np.int32)
        if not allowed.size:
            return
        with np.errstate(invalid="ignore", over="ignore"):
            values = row[allowed]
            shares = np.exp(values - values.max(), dtype=np.float32)
            shares /= shares.sum()
        likely = [int(place) for place in np.flatnonzero(shares >= LEAST_PROBABILITY)]
        for place in sorted(likely, key=lambda place: -shares[place]):
            token = int(allowed[place])
            text = pieces[token][len(prompt.heal) :].decode("utf-8", "ignore")
            if text and token not in prompt.stop:
                yield Choice(token, float(shares[place])), text


def _letters(text: str) -> str:
    return "".join(text.split())
