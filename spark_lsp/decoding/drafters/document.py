"""Drafts copied from the open document: code repeats what stands above and below it."""

from __future__ import annotations

from collections.abc import Sequence

from spark_lsp.decoding.drafters.confidence import DOCUMENT_PRIOR, Confidence
from spark_lsp.decoding.drafters.draft import MOST_SUPPORT, Draft, DraftContext
from spark_lsp.decoding.drafters.suffix_automaton import SuffixAutomaton
from spark_lsp.decoding.prefix import common_prefix

MIN_MATCH = 2
"""Tokens that must agree. After a single one the next token was right in 26 % of 9,331 cases, which pays nowhere."""
MAX_TOKENS = 8192
"""Tokens indexed on each side of the cursor: about 800 lines, more than the default window has. An automaton takes
0.5 KB a token, and building one of this size about 40 ms."""
_OUTPUT_ROOM = 1024
"""Tokens of `MAX_TOKENS` that the document leaves to the output."""
_START_STEP = 2048
"""A longer document is cut at the front on multiples of this, so that it goes on extending what is indexed."""
_READ_BEFORE = 32
"""Tokens before the cursor that are looked for in the text below it."""


class DocumentDrafter:
    """Continues the longest, then most recent match of the last tokens in the text before the cursor and the output.

    The text below the cursor is searched apart from it, since the tokens at the cursor do not follow each other there;
    it wins only with a longer match, and of several places the one nearest to the cursor. What is indexed stays between
    generations, as far as the document is the same.
    """

    name = "document"

    def __init__(self, confidence: Confidence | None = None) -> None:
        self._confidence = confidence or Confidence(DOCUMENT_PRIOR)
        self._text = SuffixAutomaton()
        self._below = SuffixAutomaton(recent=False)
        self._reader = (0, 0)

    def start(self, context: DraftContext) -> None:
        """Index what is new of the document."""
        before = _newest(context.above + context.tail)
        shared = common_prefix(self._text.tokens, before)
        if self._text.cut(shared):
            self._text.extend(before[shared:])
        else:
            self._text = SuffixAutomaton(before)
        below = context.below[:MAX_TOKENS]
        shared = common_prefix(self._below.tokens, below)
        if self._below.cut(shared):
            self._below.extend(below[shared:])
        else:
            self._below = SuffixAutomaton(below, recent=False)
        self._reader = (0, 0)
        for token in before[-_READ_BEFORE:]:
            self._reader = self._below.step(token, *self._reader)

    def append(self, tokens: Sequence[int]) -> None:
        """Index the output."""
        if len(self._text.tokens) + len(tokens) > MAX_TOKENS:
            self._text = SuffixAutomaton(self._text.tokens[-MAX_TOKENS // 2 :])
        for token in tokens:
            self._text.append(token)
            self._reader = self._below.step(token, *self._reader)

    def propose(self, limit: int, pending: int = 1) -> Draft | None:
        """Return what followed the best match."""
        match = self._text.match
        state, length = self._reader
        if length > match.length:
            match = self._below.match_of(state, length)
            tokens = self._below.tokens[match.position : match.position + limit]
        else:
            tokens = self._text.tokens[match.position : match.position + limit]
            # A match that reaches up to the end of the text is a period, which goes on.
            if 0 < len(tokens) < limit:
                tokens = (tokens * -(-limit // len(tokens)))[:limit]
        if match.length < MIN_MATCH or not tokens:
            return None
        support = min(match.support, MOST_SUPPORT)
        confidences = self._confidence.estimate(match.length, support, len(tokens))
        return Draft(tuple(tokens), confidences, self.name, match.length, support)

    def observe(self, draft: Draft, accepted: int) -> None:
        """Count how the draft fared."""
        self._confidence.observe(draft, accepted)


def _newest(tokens: tuple[int, ...]) -> tuple[int, ...]:
    """Return the end of `tokens`, so much of it that there is room for an output."""
    excess = len(tokens) - (MAX_TOKENS - _OUTPUT_ROOM)
    return tokens[-(-excess // _START_STEP) * _START_STEP :] if excess > 0 else tokens
