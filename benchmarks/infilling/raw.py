"""The raw model: the plain prompt, greedy, one token at a time, cut as is usual for the data set (`Cut`).

The whole prefix and suffix go into the prompt (what is farthest from the cursor is left out only where the context is
too small), in the order that the model was trained on; nothing is healed, filtered or drafted.
"""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.infilling.damage import Marks, with_line_feeds
from benchmarks.infilling.tasks import Cut, Task
from spark_lsp.decoding.engine import Engine
from spark_lsp.decoding.kv_cache import KVCache
from spark_lsp.decoding.sampling import greedy
from spark_lsp.prompt.special_tokens import find_special_tokens
from spark_lsp.prompt.templates import assemble, choose_template
from spark_lsp.syntax.languages import Language, language_for

MOST_TOKENS = 256
"""The longest answer of the multi-line set has about 250 tokens; without an end of generation every task takes them."""
RESERVED_TOKENS = 8
"""Cells for control tokens, besides prompt and text."""
_KEY = "raw"


@dataclass(frozen=True, slots=True)
class RawText:
    """What the raw model wrote."""

    text: str
    """Cut; empty if nothing was left."""
    probabilities: tuple[float, ...]
    """Of the tokens that the text was cut from, as far as they reach into it."""
    prompt_tokens: int
    tokens: int
    shortened: bool
    """Whether the context was too small for the whole prefix and suffix."""


class RawModel:
    """The model without everything that the pipeline does, in the same context as the pipeline."""

    def __init__(self, engine: Engine, cache: KVCache) -> None:
        self._engine = engine
        self._cache = cache
        self._special = find_special_tokens(engine.vocabulary)
        self._template = choose_template(engine.vocabulary.special, self._special, "plain")

    def complete(self, task: Task) -> RawText:
        """Return the text for `task`. Raises EngineError."""
        prompt, shortened = self._prompt(task)
        language = language_for(task.language, task.path)
        written = bytearray()
        probabilities: list[float] = []
        starts: list[int] = []
        text = ""
        row = self._cache.prefill(_KEY, prompt).logits.row(0)
        while len(probabilities) < MOST_TOKENS and not finished(task.cut, text, language):
            choice = greedy(row)
            if choice.token in self._special.stop:
                break
            starts.append(len(text))
            probabilities.append(choice.probability)
            written += self._engine.vocabulary.pieces[choice.token]
            text = written.decode("utf-8", "ignore")
            row = self._cache.extend(_KEY, [choice.token]).row(0)
        self._cache.forget(_KEY)
        kept = cut_text(task, text, language)
        reached = text.find(kept) + len(kept) if kept else 0
        known = tuple(value for start, value in zip(starts, probabilities, strict=True) if start < reached)
        return RawText(kept, known, len(prompt), len(probabilities), shortened)

    def _prompt(self, task: Task) -> tuple[list[int], bool]:
        before = self._engine.tokenize(with_line_feeds(task.before))
        after = self._engine.tokenize(with_line_feeds(task.published_after))
        room = self._engine.info.context_length - MOST_TOKENS - RESERVED_TOKENS
        shortened = len(before) + len(after) > room
        if shortened:
            after = after[: max(room // 4, room - len(before))]
            before = before[-(room - len(after)) :]
        return assemble(self._template, self._special, before, after, []), shortened


def finished(cut: Cut, text: str, language: Language) -> bool:
    """Return whether more text would be cut off anyway."""
    if cut is Cut.FIRST_LINE or (cut is Cut.CONDITION and language.name == "python"):
        return bool(text.rpartition("\n")[0].strip())
    if cut is Cut.LINE_END:
        return "\n" in text
    if cut is Cut.CALL:
        return _call_end(text) is not None
    return cut is Cut.CONDITION and _closing(text) is not None


def cut_text(task: Task, text: str, language: Language) -> str:
    """Return what is judged; where whole lines are missing, without the last line end.

    That line end is added to the document in any case, so a model that forgets it loses nothing.
    """
    if task.cut is Cut.FIRST_LINE or (task.cut is Cut.CONDITION and language.name == "python"):
        text = next((line for line in text.split("\n") if line.strip()), "")
    elif task.cut is Cut.LINE_END:
        text = text.partition("\n")[0]
    elif task.cut is Cut.CALL:
        text = text[: _call_end(text)]
    elif task.cut is Cut.CONDITION:
        text = text[: _closing(text)]
    elif task.cut is Cut.PARSABLE:
        text = _parsable(task, text, language)
    return text.removesuffix("\n") if task.whole_lines else text


def _call_end(text: str) -> int | None:
    """Return where the first call ends: behind the parenthesis that closes the first one, or one that opened before."""
    depth = 0
    for index, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if character == ")" and depth <= 0:
            return index + 1
    return None


def _closing(text: str) -> int | None:
    """Return where a parenthesis closes that the text did not open."""
    depth = 0
    for index, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth < 0:
            return index
    return None


def _parsable(task: Task, text: str, language: Language) -> str:
    """Return the most lines of `text` with which the file has no more errors than with the author's text."""
    before, after = with_line_feeds(task.before), with_line_feeds(task.after)
    least = Marks.of(before + with_line_feeds(task.answer) + after, language).errors
    lines = text.split("\n")
    while lines and Marks.of(before + "\n".join(lines) + after, language).errors > least:
        lines.pop()
    return "\n".join(lines)
