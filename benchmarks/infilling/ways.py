"""The ways to complete a task: the raw model, the pipeline as it is, and the pipeline without one of its parts."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from benchmarks.infilling.limits import line_limit
from benchmarks.infilling.modules import index_modules
from benchmarks.infilling.neighbours import PARTS as FILE_PARTS
from benchmarks.infilling.neighbours import Parts, close_beside, open_beside, write
from benchmarks.infilling.raw import RawModel
from benchmarks.infilling.tasks import Task
from spark_lsp.completion import Completion, CompletionRequest
from spark_lsp.decoding.extent import stop_rule
from spark_lsp.decoding.generate import Generation
from spark_lsp.documents.text import TextSnapshot
from spark_lsp.errors import EngineError
from spark_lsp.gate import Scored, line_probabilities
from spark_lsp.pipeline import Pipeline
from spark_lsp.settings import CompletionSettings, Settings, load
from spark_lsp.syntax.languages import language_for

RAW, PIPELINE = "raw", "pipeline"
OTHER_FILES, POSTPROCESS, STOPPING = "other files", "postprocess", "stopping"
"""Parts that are no setting: documents open beside, everything that happens to a text after its generation, and the
rules that end it before the limits of tokens and lines do."""
PARTS: Mapping[str, Mapping[str, Any]] = {"healing": {"heal_tokens": 0}, "anchor": {"layout": "plain"}}
"""What `--without` may name besides the settings that are on or off. Without the anchored layout nothing is healed."""
NAMED_PARTS = (*PARTS, POSTPROCESS, STOPPING)
BASE = CompletionSettings(snapshots=False)
"""The defaults; one run leaves nothing on the disk for the next."""
ROUNDED = 5
"""Digits of a probability that are kept."""


@dataclass(frozen=True, slots=True)
class Way:
    """One row of the tables."""

    name: str
    settings: CompletionSettings = BASE
    raw: bool = False
    postprocess: bool = True
    stopping: bool = True
    context: Parts = None
    """Parts of the context from other files; None for the defaults."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a way made of a task."""

    text: str
    reason: str
    probabilities: tuple[float, ...]
    """The model's probability of each token of the text before the gate, those that only spell typed text left out."""
    cost: Mapping[str, Any] = field(default_factory=dict)
    """Tokens and seconds, under the names that they have in the JSON file."""
    ungated: str = ""
    """The text before the gate, of which `text` is what was shown; empty for the raw model."""
    lines: tuple[tuple[float, ...], ...] = ()
    """`probabilities` by the lines of that text."""


def ways(without: Sequence[str]) -> list[Way]:
    """Return raw model and pipeline, and for each name the pipeline without that part; ValueError for an unknown."""
    found = [Way(RAW, raw=True), Way(PIPELINE)]
    for part in without:
        name = f"without {part}"
        if part == POSTPROCESS:
            found.append(Way(name, postprocess=False))
        elif part == STOPPING:
            found.append(Way(name, stopping=False))
        else:
            found.append(Way(name, _settings_without(part)))
    return found


WITHOUT_OTHER_FILES = Way(f"without {OTHER_FILES}", context=())
"""What the ways of the multi-file set are compared with."""


def context_ways(names: Sequence[str]) -> list[Way]:
    """Return the further ways of the multi-file set: without other files, and with each of the named parts.

    A name may join several parts by `+`. ValueError for an unknown one.
    """
    found = [WITHOUT_OTHER_FILES]
    for name in names:
        parts = tuple(name.split("+"))
        if unknown := set(parts) - set(FILE_PARTS):
            raise ValueError(f"There is no context {', '.join(sorted(unknown))}; there is {', '.join(FILE_PARTS)}.")
        found.append(Way(f"with {name}", context=parts))
    return found


def _settings_without(part: str) -> CompletionSettings:
    if part in PARTS:
        return dataclasses.replace(BASE, **PARTS[part])
    changes: Any = False
    for name in reversed(part.split(".")):
        changes = {name: changes}
    settings, warnings = load({"completion": changes}, Settings(completion=BASE))
    if warnings or settings.completion == BASE:
        known = ", ".join(NAMED_PARTS)
        raise ValueError(
            f"There is no part {part!r} to switch off; there are {known} and settings that are true or false."
        )
    return settings.completion


class Runner:
    """Completes tasks in every way, with one model in one context."""

    def __init__(self, pipeline: Pipeline) -> None:
        self._pipeline = pipeline
        self._raw = RawModel(pipeline.engine, pipeline.cache)
        self._last: tuple[Task, CompletionSettings, Completion] | None = None

    def answer(self, task: Task, way: Way) -> Answer:
        """Return the answer; an engine that fails gives an empty one with the reason `failed`."""
        started = time.monotonic()
        try:
            return self._answer_raw(task, started) if way.raw else self._answer(task, way)
        except EngineError as error:
            return Answer("", "failed", (), {"failure": str(error)})

    def _answer_raw(self, task: Task, started: float) -> Answer:
        raw = self._raw.complete(task)
        seconds = round(time.monotonic() - started, 3)
        cost = {"seconds": seconds, "prompt_tokens": raw.prompt_tokens, "tokens": raw.tokens}
        cost["shortened"] = raw.shortened
        return Answer(raw.text, "shown" if raw.text.strip() else "nothing-to-add", _rounded(raw.probabilities), cost)

    def _answer(self, task: Task, way: Way) -> Answer:
        self._use_stop_rule(way)
        known = self._last
        if known is not None and known[0] is task and not task.others and _generate_alike(known[1], way.settings):
            completion, second = known[2], None
        else:
            completion, second = self._complete(task, way)
            self._last = (task, way.settings, completion)
        generation = completion.generation
        text, reason, ungated = completion.text, completion.reason.value, completion.ungated
        if not way.postprocess:
            text = ungated = generation.text if generation is not None else ""
            reason = "shown" if text.strip() else "nothing-to-add"
        elif not way.settings.gate and ungated:
            text, reason = ungated, "shown"
        cost = {"seconds": round(completion.seconds, 3), **generation_cost(generation)}
        if second is not None:
            cost["second"] = generation_cost(second)
        lines = tuple(map(_rounded, shown_probabilities(ungated, generation)))
        return Answer(text, reason, tuple(chain.from_iterable(lines)), cost, ungated, lines)

    def _use_stop_rule(self, way: Way) -> None:
        rule = stop_rule if way.stopping else line_limit
        if self._pipeline.stop_rule is not rule:
            self._pipeline.stop_rule, self._last = rule, None

    def _complete(self, task: Task, way: Way) -> tuple[Completion, Generation | None]:
        """Return the completion and, in the multi-file set, the generation one typed character later."""
        pipeline = self._pipeline
        pipeline.configure(way.settings)
        second = None
        if way.settings.names:
            index_modules(pipeline, task)
        if task.others:
            open_beside(pipeline, task, way.context)
        try:
            completion = pipeline.complete(request(task))
            if task.others:
                write(pipeline, task, task.before + task.answer[:1])
                second = pipeline.complete(request(task, typed=1)).generation
        finally:
            pipeline.forget(task.path)
            close_beside(pipeline)
        return completion, second


def request(task: Task, typed: int = 0) -> CompletionRequest:
    """Return what an editor asks for when the user asks for a completion, after `typed` characters of the answer."""
    before = task.before + task.answer[:typed]
    snapshot = TextSnapshot.of(before + task.after)
    language = language_for(task.language, task.path)
    return CompletionRequest(task.path, snapshot, len(before), language, patient=True, invoked=True)


def _generate_alike(one: CompletionSettings, other: CompletionSettings) -> bool:
    """Whether the same text is generated with both: the gate comes after that, and what it was given is known."""
    return dataclasses.replace(one, gate=True) == dataclasses.replace(other, gate=True)


def shown_probabilities(text: str, generation: Generation | None) -> tuple[tuple[float, ...], ...]:
    """Return for each line of `text`, which is what rules left of what was generated, those of its tokens."""
    if generation is None or not text:
        return ()
    return line_probabilities(text, Scored(generation.text, generation.probabilities, generation.ends))


def generation_cost(generation: Generation | None) -> dict[str, Any]:
    if generation is None:
        return {}
    first = generation.first_text_seconds
    return {
        "prompt_tokens": generation.prompt_tokens,
        "cached_tokens": generation.cached_tokens,
        "tokens": len(generation.tokens),
        "stop": generation.stop.value,
        "unknown_names": len(generation.unknown_names),
        "replaced_names": generation.replaced_names,
        "first_text_seconds": round(first, 4) if first is not None else None,
    }


def _rounded(values: Sequence[float]) -> tuple[float, ...]:
    return tuple(round(float(value), ROUNDED) for value in values)
