"""Repairs one fault: asks the model for other lines until a check is content, a few times at most.

The stages (`candidates`) come in an order that depends on the fault. Of the first stage that has edits of which a check
proves that the fault is gone, the smallest one is taken. For a fault that no check knows, the first edit that nothing
speaks against is; there a token that was not the model's first choice has to be a likely one.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from spark_lsp.documents.text import TextSnapshot
from spark_lsp.names.stdlib import is_standard
from spark_lsp.repair.candidates import Candidate, Candidates
from spark_lsp.repair.difference import Edit
from spark_lsp.repair.fault import Fault, undefined_name
from spark_lsp.repair.region import regions
from spark_lsp.repair.rewriting import Rewriting
from spark_lsp.repair.verdict import Judge, Judged, Verdict
from spark_lsp.syntax.languages import Language
from spark_lsp.syntax.offsets import Span
from spark_lsp.syntax.parser import SyntaxTree, parse

if TYPE_CHECKING:
    from spark_lsp.pipeline import Pipeline

MOST_ANSWERS = 12
"""Answers that are asked for one fault. Most of them are the rest of a line or of a word."""
SECONDS = 60.0
"""Time for one fault; reading the question is most of it. The user sees the progress and may cancel."""
PARSE_SECONDS = 2.0
SMALL = 2
"""Characters taken out and put in of an edit that is not compared with others: there is hardly a smaller one."""
LIKELY = 0.1
"""Least probability of a token that the model did not choose, in an edit that no check proves, and of a name
that is not like the one in whose place it stands."""
LEAST_ALIKE = 0.6
"""From here on a name is taken for the one that was misspelt, as `difflib` compares them."""
_WORD_AT = re.compile(r"\w+")
NO_REPAIR = "The model found no repair."


@dataclass(frozen=True, slots=True)
class RepairRequest:
    """One fault in one version of a document."""

    document: str
    """A key for the document, its URI."""
    snapshot: TextSnapshot
    language: Language
    fault: Fault


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of it."""

    edit: Edit | None
    """In code points of the snapshot; None if there is no repair."""
    proven: bool = False
    """Whether a check shows that the fault is gone."""
    sentence: str = ""
    """Why there is no repair."""
    answers: int = 0
    """How often the model was asked."""
    tokens: int = 0
    """Tokens that it wrote."""
    steps: int = 0
    """Decode steps that this took; fewer than tokens, thanks to the old text."""


def repair(
    pipeline: Pipeline,
    request: RepairRequest,
    *,
    cancelled: Callable[[], bool] = lambda: False,
    on_answer: Callable[[int], None] = lambda number: None,
    seconds: float = SECONDS,
) -> Outcome:
    """Return the repair of the request's fault, or why there is none.

    `on_answer` is called before each answer of the model, with its number. Raises CancelledError when `cancelled()`
    turns true, EngineError when the engine fails. Nothing of it stays in the KV cache.
    """
    writing = Rewriting(pipeline, request.document, time.monotonic() + seconds, cancelled)
    try:
        return _Search(pipeline, request, writing, on_answer).outcome()
    finally:
        writing.close()


class _Search:
    """One way through the candidates."""

    def __init__(
        self, pipeline: Pipeline, request: RepairRequest, writing: Rewriting, on_answer: Callable[[int], None]
    ) -> None:
        snapshot, language, fault = request.snapshot, request.language, request.fault
        self._snapshot, self._fault = snapshot, fault
        self._tree: SyntaxTree = parse(snapshot.text, language, PARSE_SECONDS)
        self._judge = Judge(self._tree, fault)
        self._name = undefined_name(fault.message)
        self._candidates = Candidates(pipeline.engine, snapshot, language, fault, writing, self._may_ask)
        self._writing = writing
        self._on_answer = on_answer
        self._answers = 0
        self._reason = ""
        """Why the first candidate was refused; it is the model's best one."""

    def outcome(self) -> Outcome:
        """Go through the stages."""
        for stage in self._stages():
            proven: list[tuple[Edit, Judged]] = []
            for candidate in stage:
                edit, judged = candidate.edit, self._judged(candidate)
                if edit is None:
                    continue
                if judged.verdict is Verdict.UNKNOWN and candidate.probability >= LIKELY:
                    return self._found(edit)
                if judged.verdict is Verdict.REMOVED and self._is_meant(candidate, edit):
                    proven.append((edit, judged))
                    if self._name is None and _size(edit) <= SMALL:
                        break
            if proven:
                return self._found(min(proven, key=self._order)[0], proven=True)
        return self._found(None)

    def _stages(self) -> Iterator[Iterable[Candidate]]:
        candidates, name = self._candidates, self._name
        python = self._judge.knows_bound_names
        well_known = name is not None and is_standard(name)
        if name is not None and python and well_known:
            yield candidates.missing_import(name)
        spans = regions(self._snapshot, self._tree, self._fault)
        if not spans:
            return
        yield candidates.lines(spans[0])
        if name is not None:
            yield candidates.words(spans[0], name)
        if name is not None and python and not well_known:
            yield candidates.missing_import(name)
        if name is None:
            line = self._snapshot.line_of(self._fault.start)
            yield candidates.line(spans[0], line)
            if spans[0].start < self._snapshot.line_span(line)[0] and self._judge.is_syntax_error:
                yield candidates.line(spans[0], line - 1)
        for span in spans[1:]:
            yield candidates.lines(span)

    def _order(self, found: tuple[Edit, Judged]) -> tuple[bool, bool, int]:
        """Order edits by what they change; other names by how likely they were meant, then as the model has them."""
        edit, judged = found
        if self._name is None:
            return False, False, _size(edit)
        return not judged.puts_to_use, not self._looks_misspelt(edit, self._name), 0

    def _is_meant(self, candidate: Candidate, edit: Edit) -> bool:
        """Whether another name in the place of one may be what was meant: a check is content with any that is bound."""
        return self._name is None or candidate.probability >= LIKELY or self._looks_misspelt(edit, self._name)

    def _looks_misspelt(self, edit: Edit, name: str) -> bool:
        """Whether the word that an edit puts in the place of `name` is much like it."""
        text = edit.applied(self._snapshot.text)
        word = _WORD_AT.match(text, self._fault.start)
        return word is not None and SequenceMatcher(None, name, word.group(), autojunk=False).ratio() >= LEAST_ALIKE

    def _found(self, edit: Edit | None, *, proven: bool = False) -> Outcome:
        written = self._writing.generations
        return Outcome(
            edit,
            proven,
            "" if edit is not None else self._reason or NO_REPAIR,
            self._answers,
            sum(len(generation.tokens) for generation in written),
            sum(generation.steps for generation in written),
        )

    def _judged(self, candidate: Candidate) -> Judged:
        if candidate.edit is None:
            judged = Judged(Verdict.STAYS, candidate.refused)
        else:
            edit = candidate.edit
            judged = self._judge.judge(edit.applied(self._snapshot.text), Span(edit.start, edit.end))
        if judged.verdict in (Verdict.WORSE, Verdict.STAYS):
            self._reason = self._reason or judged.sentence
        return judged

    def _may_ask(self) -> bool:
        """Whether the model may be asked once more, and count that."""
        if self._answers >= MOST_ANSWERS or not self._writing.in_time:
            return False
        self._answers += 1
        self._on_answer(self._answers)
        return True


def _size(edit: Edit) -> int:
    return edit.end - edit.start + len(edit.text)
