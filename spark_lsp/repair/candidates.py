"""Edits that may repair a fault, as the model proposes them.

=========  ===================================================================================================
stage      proposes
=========  ===================================================================================================
`import`   the missing import of a name of the standard library (Python)
`lines`    the statement of the fault, written again
`words`    other names in the place of one that is not defined
`line`     the line of the fault with one other token, where the model would most rather write another one, and
           the rest of the line as it goes on from there
`block`    the block around the fault, written again
=========  ===================================================================================================

A small model often copies a faulty line although it would nearly have written the right one. So after the greedy answer
its next-best tokens are tried: all those of a line come from one decode of the old tokens.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from spark_lsp.context.window import with_line_feeds
from spark_lsp.decoding.stopping import Extent, Stop, StopReason, StopRule
from spark_lsp.documents.text import TextSnapshot
from spark_lsp.repair.answer import ending, lines_for
from spark_lsp.repair.difference import Edit, in_document, smallest_edit, too_much
from spark_lsp.repair.fault import Fault, asks_for_less
from spark_lsp.repair.imports import import_in, place_of_import
from spark_lsp.repair.prompts import Passage, Question, Questions
from spark_lsp.repair.region import surroundings
from spark_lsp.repair.rewriting import Departure, Rewriting
from spark_lsp.syntax.languages import Language
from spark_lsp.syntax.offsets import Span

if TYPE_CHECKING:
    from spark_lsp.decoding.engine import Engine

OTHER_WORDS = 5
"""Words that are tried in the place of a name."""
OTHER_TOKENS = 6
"""Places and tokens of a line that are tried."""
_WORD = re.compile(r"\w*")


@dataclass(frozen=True, slots=True)
class Candidate:
    """An edit, or why a proposal is none."""

    edit: Edit | None
    probability: float = 1.0
    """Of the token that was not the model's first choice; 1 where all were."""
    refused: str = ""


class Candidates:
    """Asks the model for edits of one document."""

    def __init__(
        self,
        engine: Engine,
        snapshot: TextSnapshot,
        language: Language,
        fault: Fault,
        writing: Rewriting,
        may_ask: Callable[[], bool],
    ) -> None:
        """Ask for another answer only while `may_ask()`, which counts them."""
        self._snapshot, self._language, self._fault = snapshot, language, fault
        self._questions = Questions(engine)
        self._tokenize = engine.tokenize
        self._pieces = engine.vocabulary.pieces
        self._writing = writing
        self._may_ask = may_ask
        self._tried: set[str] = set()
        self._line = snapshot.line_of(fault.start)

    def lines(self, span: Span) -> Iterator[Candidate]:
        """Propose the lines of `span` as the model writes them, from the first one that may be wrong on."""
        passage, question = self._ask(span)
        old = passage.text
        line_start = self._start_of_line(span)
        # A line above the fault is right, and shows where to begin and how deep.
        given = old[:line_start] if "\n" in old[:line_start] else ""
        given = given[: given.find("\n") + 1] if given else given
        rest = f"{old[len(given) :]}\n{question.fence}"
        if self._may_ask():
            rule = replace(ending(old, question.fence, passage.below), begun=given)
            answer = self._writing.write(question, self._tokenize(given), rest, rule)
            yield self._candidate(span, old, None if answer is None else given + answer)

    def words(self, span: Span, name: str) -> Iterator[Candidate]:
        """Propose other words in the place of `name` in the line of the fault; the rest of the lines stays."""
        passage, question = self._ask(span)
        old, line_start = passage.text, self._start_of_line(span)
        place = self._place_of(name)
        if place is None:
            return
        start = line_start + place
        tokens, lengths = self._line_tokens(old, line_start)
        index, before = 0, line_start
        while index < len(tokens) and before + lengths[index] <= start:
            before += lengths[index]
            index += 1
        begun = [*self._tokenize(old[:line_start]), *tokens[:index]]
        asked = 0
        for departure in self._writing.departures(question, begun, tokens[index : index + 1]):
            head = old[:before] + self._text(departure.token)
            if not head.startswith(old[:start]) or _WORD.fullmatch(head, start) is None or len(head) == start:
                continue  # not a word in the same place
            if asked == OTHER_WORDS or not self._may_ask():
                return
            asked += 1
            rest = self._writing.write(question, [*begun, departure.token], "", _WordEnd())
            word = head[start:] + (rest or "")
            if re.match(rf"\s*{re.escape(word)}\s*=(?!=)", old[line_start:]):
                continue  # the line is what binds it
            answer = old[:start] + word + old[start + len(name) :]
            yield self._candidate(span, old, answer, departure.probability)

    def line(self, span: Span, line: int) -> Iterator[Candidate]:
        """Propose `line`, which is one of `span`, with one other token and what follows from it."""
        passage, question = self._ask(span)
        old, line_start = passage.text, self._start_of_line(span, line)
        line_end = old.find("\n", line_start)
        line_end = line_end if line_end >= 0 else len(old)
        tokens, _ = self._line_tokens(old, line_start)
        begun = self._tokenize(old[:line_start])
        departures = self._writing.departures(question, begun, tokens)
        rule = StopRule(Extent.LINE, 0)
        for departure in departures[:OTHER_TOKENS]:
            if not self._may_ask():
                return
            written = self._after(question, begun, tokens, departure, rule)
            if written is not None:
                answer = old[:line_start] + written + old[line_end:]
                yield self._candidate(span, old, answer, departure.probability)

    def missing_import(self, name: str) -> Iterator[Candidate]:
        """Propose an import of `name`."""
        place = place_of_import(self._snapshot)
        line = self._snapshot.line_text(self._line).strip()
        question = self._questions.missing_import(name, line)
        if place is None or question is None or not self._may_ask():
            return
        rule = ending("", question.fence, "")
        answer = self._writing.write(question, (), f"import {name}\n{question.fence}", rule)
        statement = import_in(answer or "", name)
        if statement is None:
            yield Candidate(None, refused=f"The model knows no import of the standard library for `{name}`.")
            return
        offset, before, behind = place
        yield Candidate(Edit(offset, offset, before + statement + behind))

    def _after(
        self, question: Question, begun: list[int], tokens: list[int], departure: Departure, rule: StopRule
    ) -> str | None:
        """Return the whole line with the departure in it."""
        before = [*tokens[: departure.index], departure.token]
        head = b"".join(self._pieces[token] for token in before).decode("utf-8", "replace")
        if "\n" in head:
            return head.partition("\n")[0]
        left = b"".join(self._pieces[token] for token in tokens[departure.index + 1 :]).decode("utf-8", "replace")
        rest = self._writing.write(question, [*begun, *before], left, rule)
        return None if rest is None else head + rest

    def _ask(self, span: Span) -> tuple[Passage, Question]:
        old = with_line_feeds(self._snapshot.text[span.start : span.end])
        above, below = surroundings(self._snapshot, span)
        faulty = self._snapshot.line_text(self._line).strip()
        passage = Passage(old, above, below, faulty, self._language)
        return passage, self._questions.rewrite(passage, self._fault.message)

    def _candidate(self, span: Span, old: str, answer: str | None, probability: float = 1.0) -> Candidate:
        if answer is None:
            return Candidate(None, refused="The model came to no end.")
        new = lines_for(old, answer)
        if new == old or new in self._tried:
            return Candidate(None, refused="The model would change nothing.")
        self._tried.add(new)
        much = too_much(old, new, may_delete=asks_for_less(self._fault.message))
        if much is not None:
            return Candidate(None, refused=much)
        edit = in_document(smallest_edit(old, new), self._snapshot.text, span.start, self._snapshot.eol)
        return Candidate(edit, probability)

    def _start_of_line(self, span: Span, line: int | None = None) -> int:
        """Return where a line, or that of the fault, begins in the text of `span` with LF line ends."""
        start = self._snapshot.line_span(self._line if line is None else line)[0]
        return len(with_line_feeds(self._snapshot.text[span.start : start]))

    def _line_tokens(self, old: str, line_start: int) -> tuple[list[int], list[int]]:
        """Return the tokens of the line, its end included, and their lengths in characters."""
        line = old[line_start:].partition("\n")[0]
        tokens = self._tokenize(f"{line}\n")
        return tokens, [len(self._text(token)) for token in tokens]

    def _text(self, token: int) -> str:
        return self._pieces[token].decode("utf-8", "replace")

    def _place_of(self, name: str) -> int | None:
        """Return the column of `name` in the line of the fault, the place of the fault preferred."""
        line = self._snapshot.line_text(self._line)
        column = self._fault.start - self._snapshot.line_span(self._line)[0]
        places = [match.start() for match in re.finditer(rf"\b{re.escape(name)}\b", line)]
        return min(places, key=lambda place: abs(place - column)) if places else None


class _WordEnd:
    """Ends a text at the first character that belongs to no word."""

    def check(self, text: str) -> Stop | None:
        """Return where `text` has to end, or None if it may go on."""
        match = _WORD.match(text)
        end = match.end() if match is not None else 0
        return Stop(StopReason.STATEMENT, end) if end < len(text) else None
