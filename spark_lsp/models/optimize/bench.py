"""The measurements of a run, each kept in the journal as soon as it is made and not made twice."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from spark_lsp.decoding.engine import Engine
from spark_lsp.models.optimize import isolated
from spark_lsp.models.optimize.events import Activity, Report
from spark_lsp.models.optimize.journal import ORIGINAL, Journal, Record
from spark_lsp.models.optimize.quality import CONTEXT_TOKENS, agreement, infill, predictions
from spark_lsp.models.optimize.sample import Sample
from spark_lsp.models.optimize.speed import compare
from spark_lsp.settings import ModelSettings

CHUNK_LINES = 10
"""Lines between two saves: at most half a minute of work is done again after an interruption."""

Load = Callable[[Path], Engine]


def load_engine(path: Path) -> Engine:
    """Return the model at `path` in this process, with room for the prompts of the sample."""
    from spark_lsp.decoding.llama import LlamaEngine

    return LlamaEngine.load(path, context_tokens=CONTEXT_TOKENS)


@dataclass(slots=True)
class Bench:
    """Measures models by name; `ORIGINAL` is the one that variants are compared with."""

    journal: Journal
    sample: Sample
    report: Report
    load: Load = load_engine
    place: tuple[int, int] = (0, 0)
    """Number of the recipe at work and of all of them, for the reports."""

    @contextmanager
    def loaded(self, path: Path) -> Iterator[Engine]:
        """Give the model at `path`, freed at the end."""
        engine = self.load(path)
        try:
            yield engine
        finally:
            engine.close()

    def tell(self, name: str, work: str, done: int = 0, total: int = 1) -> None:
        """Report a piece of work."""
        self.report(Activity(*self.place, name, work, done, total))

    def memory(self, name: str, path: Path) -> None:
        """Measure size and resident memory, with the context that the server reserves by default."""
        if self.journal.of(name).resident is None:
            self.tell(name, "memory")
            resident = isolated.resident_bytes(path, ModelSettings().context_tokens, 0)
            self.journal.update(name, resident=resident, bytes=path.stat().st_size)

    def speed(self, name: str, engine: Engine, original: Engine, rounds: int) -> None:
        """Measure the speed in turns with the original."""
        if self.journal.of(name).rounds >= rounds:
            return
        self.tell(name, "speed")
        _, text = next(self.sample.held_out(1))
        before, now = compare([original, engine], text, rounds)
        self.journal.update(name, rounds=rounds, speed=now, original_speed=before)

    def predict(self, engine: Engine, texts: int) -> None:
        """Note the original's predictions for `texts` held-out texts."""
        if len(self.journal.predictions) >= texts:
            return
        found = []
        for number, (_, text) in enumerate(self.sample.held_out(texts)):
            self.tell(ORIGINAL, "next tokens", number, texts)
            found.append(predictions(engine, text))
        self.journal.predictions = found
        self.journal.save()

    def agree(self, name: str, engine: Engine, texts: int) -> None:
        """Measure how often the next token is the original's."""
        if self.journal.of(name).texts >= texts:
            return
        pieces = frozenset(engine.vocabulary.pieces)
        agreed = predicted = 0
        pairs = zip(self.journal.predictions, self.sample.held_out(texts), strict=False)
        for number, (expected, (_, text)) in enumerate(pairs):
            self.tell(name, "next tokens", number, texts)
            same, shared = agreement(expected, predictions(engine, text), pieces.__contains__)
            agreed, predicted = agreed + same, predicted + shared
        self.journal.update(name, agreed=agreed, predicted=predicted, texts=texts)

    def infill(self, name: str, engine: Engine, lines: int, of: int = 0) -> Record:
        """Measure the exact matches of the first `lines` lines of the sample; `of` is how many there will be."""
        record = self.journal.of(name)
        while len(record.hits) < lines:
            start = len(record.hits)
            end = min(start + CHUNK_LINES, lines)
            self.tell(name, "infilling", start, of or lines)
            hits = tuple(islice(infill(engine, self.sample.tasks(end, start)), end - start))
            record = self.journal.update(name, hits=record.hits + hits)
        return record
