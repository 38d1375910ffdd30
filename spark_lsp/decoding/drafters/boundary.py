"""Where the text after the cursor begins, a suggestion is complete: no draft runs past that point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from spark_lsp.decoding.drafters.draft import Draft, DraftContext

BOUNDARY_TOKENS = 3
"""Tokens by which the text after the cursor is recognised. One or two (a line end and an indentation, a bracket and a
line end) end many lines; three rarely occur by chance."""
MIN_BOUNDARY_TOKENS = 2
"""A shorter rest of the document is not recognised at all: often it is a line end alone."""


class SuffixBoundary:
    """Ends drafts at the text after the cursor."""

    def __init__(self, context: DraftContext) -> None:
        self._mark = context.below[:BOUNDARY_TOKENS] if len(context.below) >= MIN_BOUNDARY_TOKENS else ()
        self._end_token = context.end_token
        self._output: tuple[int, ...] = ()

    def append(self, tokens: Sequence[int]) -> None:
        """Take in the output, of which the mark's first tokens may be the last."""
        self._output = (*self._output, *tokens)[-BOUNDARY_TOKENS:]

    def cut(self, draft: Draft, limit: int) -> Draft | None:
        """Return `draft` up to where the text after the cursor begins, and then the end token if there is one.

        The result has at most `limit` tokens. None means that nothing is left to propose.
        """
        begin = self._find(draft.tokens)
        if begin is None:
            return draft.cut(limit)
        kept = max(begin, 0)
        if self._end_token is None or kept >= limit:
            return draft.cut(min(kept, limit)) if kept else None
        # The end is as likely as the first token of the text after the cursor, which the source would have written.
        return replace(draft.cut(kept + 1), tokens=(*draft.tokens[:kept], self._end_token))

    def _find(self, tokens: tuple[int, ...]) -> int | None:
        """Return the index at which the mark begins, negative if in the output; None if it does not occur."""
        mark, before = self._mark, self._output
        if not mark or (mark[0] not in tokens and mark[0] not in before):
            return None
        text = before + tokens
        size = len(mark)
        index = -1
        while True:
            try:
                index = text.index(mark[0], index + 1, len(text) - size + 1)
            except ValueError:
                return None
            if text[index : index + size] == mark:
                return index - len(before)
