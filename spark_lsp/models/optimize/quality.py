"""What a variant loses: exact match on infilling tasks, and agreement of the next token.

Variants with a cut vocabulary have other ids, so everything is compared by text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from spark_lsp.decoding.cost_model import SteadyCostModel
from spark_lsp.decoding.engine import Engine
from spark_lsp.documents.text import TextSnapshot
from spark_lsp.errors import ContextFullError
from spark_lsp.models.optimize.sample import InfillTask
from spark_lsp.pipeline import CompletionRequest, Pipeline
from spark_lsp.settings import CompletionSettings
from spark_lsp.syntax.languages import language_for

SETTINGS = CompletionSettings(prefix_tokens=512, suffix_tokens=128, max_tokens=64, max_lines=1, gate=False)
"""The defaults, but for one line: the longest line of the sample has 120 characters. What the model writes is compared,
however sure it is."""
CONTEXT_TOKENS = 4096
"""The largest prompt of the sample several times over, so that no task is decided by the room for it."""
_CONTROL_MARK = b"\0control "
"""Stands before the text of a control token, which has no bytes of its own."""


class _DecidedError(Exception):
    """The text has already departed from what is wanted; further tokens change nothing."""


def infill(engine: Engine, tasks: Iterable[InfillTask]) -> Iterator[tuple[bool, ...]]:
    """Yield for each task which of its cuts the model completes exactly (blanks at the line's end do not count)."""
    pipeline = Pipeline(engine, SETTINGS, cost=SteadyCostModel())
    for number, task in enumerate(tasks):
        key = f"sample-{number}"
        language = language_for("", task.file)
        hits = []
        for cut in task.cuts:
            before = task.above + task.line[:cut]
            snapshot = TextSnapshot.of(before + task.below)
            request = CompletionRequest(key, snapshot, len(before), language, patient=True)
            hits.append(_completes(pipeline, request, task.line[cut:].rstrip()))
        pipeline.forget(key)
        yield tuple(hits)


def _completes(pipeline: Pipeline, request: CompletionRequest, wanted: str) -> bool:
    def watch(text: str) -> None:
        # Post-processing only takes text away at the end, so a difference before that is final.
        first = text.partition("\n")[0]
        if not (wanted.startswith(first) or first.startswith(wanted)):
            raise _DecidedError

    try:
        completion = pipeline.complete(request, on_text=watch)
    except (_DecidedError, ContextFullError):
        return False
    return completion.text.partition("\n")[0].rstrip() == wanted


def predictions(engine: Engine, text: str) -> dict[int, bytes]:
    """Return what the model thinks comes next after each token of `text`: its bytes, by offset in the UTF-8 text.

    A control token is given by its text behind a mark. The KV cache of the engine is emptied.
    """
    for sequence in range(engine.info.sequences):
        engine.truncate(sequence, 0)
    vocabulary = engine.vocabulary
    controls = {token: name for name, token in vocabulary.special.items()}
    opening = [vocabulary.bos] if vocabulary.bos is not None else []
    tokens = opening + engine.tokenize(text)
    found: dict[int, bytes] = {}
    offset = 0
    step = min(engine.info.max_outputs, engine.info.batch_size)
    for start in range(0, len(tokens), step):
        batch = tokens[start : start + step]
        rows = engine.decode(0, start, batch, len(batch))
        for index, token in enumerate(batch):
            offset += len(vocabulary.pieces[token])
            best = int(rows.row(index).argmax())
            piece = vocabulary.pieces[best]
            found[offset] = piece or _CONTROL_MARK + controls.get(best, "").encode()
    return found


def agreement(
    original: Mapping[int, bytes], variant: Mapping[int, bytes], knows: Callable[[bytes], bool]
) -> tuple[int, int]:
    """Return at how many offsets both predict the same, and how many offsets both have.

    Where the variant has no such token (`knows` is false), a leading part of it is the same prediction.
    """
    shared = original.keys() & variant.keys()
    agreed = 0
    for offset in shared:
        wanted, given = original[offset], variant[offset]
        agreed += wanted == given or (bool(given) and wanted.startswith(given) and not knows(wanted))
    return agreed, len(shared)
