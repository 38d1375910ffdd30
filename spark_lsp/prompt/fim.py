"""Context to token ids, with the boundary at the cursor prepared for token healing.

The text before the cursor may end inside what the model would write as one token (``self.assertEq|`` where it knows
``Equal``). So the tokens of the last typed word, or the last token where there is no word, are taken off the prompt,
and the first generated pieces are constrained to spell their bytes (`decoding.healing`). One token is not enough:
``.wid`` is ``.w`` and ``id``, while ``.width`` is one. The removed tokens themselves ride along as the first draft: in
the common case that the model agrees with them, healing costs no extra step.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from spark_lsp.context.extras import Extras
from spark_lsp.context.window import CompletionContext
from spark_lsp.decoding.engine import Vocabulary
from spark_lsp.prompt.files import extras_tokens
from spark_lsp.prompt.special_tokens import find_special_tokens
from spark_lsp.prompt.templates import Template, assemble, choose_template

_WORD_AT_END = re.compile(r"[^\w\r\n]?[^\W\d_]+\Z|_[^\W\d_]*\Z")
"""Letters at the end with the one character before them that byte-pair vocabularies join to a word (``.width``)."""

Tokenizer = Callable[[str], list[int]]

_REMEMBERED_TEXTS = 32
"""Tokenised window parts kept; a document has two or three, and they change only when its anchor moves."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """What the model is given."""

    tokens: tuple[int, ...]
    """The prompt without the tokens taken off for healing; never empty."""
    heal: bytes
    """Typed bytes that the first generated pieces have to spell; they are not part of the suggestion."""
    heal_tokens: tuple[int, ...]
    """The tokens taken off, which spell `heal` and are proposed as the first draft."""
    stop: frozenset[int]
    """Ids that end the generation."""
    template: Template
    above: tuple[int, ...] = ()
    tail: tuple[int, ...] = ()
    below: tuple[int, ...] = ()
    """The parts that `tokens` was made of; drafters copy from them."""


class PromptBuilder:
    """Builds prompts for one model; remembers the tokens of the parts that did not change."""

    def __init__(self, vocabulary: Vocabulary, tokenize: Tokenizer, *, layout: str, heal_tokens: int) -> None:
        self._pieces = vocabulary.pieces
        self._tokenize = tokenize
        self._heal_tokens = heal_tokens
        self._tokens = find_special_tokens(vocabulary)
        self._template = choose_template(vocabulary.special, self._tokens, layout)
        self._remembered: OrderedDict[str | Extras, list[int]] = OrderedDict()

    @property
    def template(self) -> Template:
        """The order used for this model."""
        return self._template

    @property
    def fills_in_the_middle(self) -> bool:
        """Whether the model sees the text after the cursor."""
        return self._tokens.fills_in_the_middle

    def build(self, context: CompletionContext) -> Prompt:
        """Return the prompt for `context`."""
        kept, removed = self._split_for_healing(self._tokenize(context.tail))
        above = self._part(context.above)
        below = self._part(context.below)
        extras = self._part(context.extras) if context.extras else []
        tokens = assemble(self._template, self._tokens, above, below, kept, extras)
        if not tokens:  # an empty document and a model without BOS: something has to be evaluated
            tokens = self._tokenize("\n")
        return Prompt(
            tokens=tuple(tokens),
            heal=b"".join(self._pieces[token] for token in removed),
            heal_tokens=tuple(removed),
            stop=self._tokens.stop,
            template=self._template,
            above=tuple(above),
            tail=tuple(kept),
            below=tuple(below),
        )

    def _split_for_healing(self, tail: list[int]) -> tuple[list[int], list[int]]:
        # In the plain order the tail is not at the end of the prompt, so there is no boundary to heal.
        if self._template is Template.PLAIN_PSM:
            return tail, []
        pieces = [self._pieces[token] for token in tail[-self._heal_tokens :]] if self._heal_tokens else []
        wanted = word_bytes(b"".join(pieces))
        count = length = 0
        # A token without bytes (unknown to the table) cannot be spelled again.
        while count < len(pieces) and pieces[-1 - count] and (not count or length < wanted):
            length += len(pieces[-1 - count])
            count += 1
        return tail[: len(tail) - count], tail[len(tail) - count :]

    def _part(self, part: str | Extras) -> list[int]:
        known = self._remembered.get(part)
        if known is None:
            known = self._tokenize(part) if isinstance(part, str) else self._extras(part)
            self._remembered[part] = known
            if len(self._remembered) > _REMEMBERED_TEXTS:
                self._remembered.popitem(last=False)
        else:
            self._remembered.move_to_end(part)
        return known

    def _extras(self, extras: Extras) -> list[int]:
        return extras_tokens(extras, self._tokens, self._tokenize)


def word_bytes(typed: bytes) -> int:
    """Return the length in bytes of the word that `typed` ends with, 0 if it ends with none."""
    match = _WORD_AT_END.search(typed.decode("utf-8", "ignore"))
    return len(match.group().encode()) if match is not None else 0
