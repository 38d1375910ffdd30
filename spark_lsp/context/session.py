"""What is remembered of an open document between two requests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from spark_lsp.completion import CompletionRequest
from spark_lsp.context.window import CompletionContext, WindowLimits, choose_window, with_line_feeds
from spark_lsp.decoding.kv_cache import common_prefix
from spark_lsp.documents.text import TextSnapshot
from spark_lsp.syntax.languages import Language
from spark_lsp.syntax.parser import DocumentParser, SyntaxTree

SLOTS = 2
"""Sequences for each document: the one in use, and the one that the last place or the next anchor lives in."""
REALIGNED_TOKENS = 8
"""Tokens that may have been typed differently from the last suggestion for the rest of it to be worth re-aligning."""
REMOVED_CHARACTERS = 16
"""Shorter deletions are corrections, not code that is about to be written anew."""


@dataclass(frozen=True, slots=True)
class Saved:
    """What of a document's sequence is on disk, or was last tried to be put there."""

    tokens: tuple[int, ...]
    at: float
    """When, by the monotonic clock in seconds; for no tokens, since when the document is known."""


class DocumentSession:
    """The parser, the windows and the last output of one document. Belongs to the engine's thread."""

    def __init__(self, language: Language) -> None:
        self.parser = DocumentParser(language)
        self.language = language
        self.windows: list[CompletionContext | None] = [None] * SLOTS
        self.slot = 0
        """The slot in use; the KV cache knows it as (document, slot)."""
        self.last: CompletionRequest | None = None
        """The latest request, as long as there may be something to prepare for the next."""
        self.written: tuple[int, ...] = ()
        """Prompt and output of the latest generation."""
        self.frozen = 0
        """How many of those are the prompt without its tail."""
        self.saved: Saved | None = None
        self._text = ""
        self._removed: tuple[int, ...] = ()
        self._removed_at = range(0)

    def follow(self, snapshot: TextSnapshot, tree: SyntaxTree, cursor: int, limits: WindowLimits) -> CompletionContext:
        """Return the window for `cursor`, from the slot that continues; a new place goes to the slot not in use."""
        for slot in (self.slot, 1 - self.slot):
            previous = self.windows[slot]
            if previous is not None:
                window = choose_window(previous, snapshot, tree, cursor, limits)
                if (window.above, window.below) == (previous.above, previous.below):
                    break
        else:
            kept = self.windows[self.slot]
            window = choose_window(kept, snapshot, tree, cursor, limits)
            # Where the part above stays, the sequence in use needs the fewest new tokens.
            slot = self.slot if kept is None or window.above == kept.above else 1 - self.slot
        self.slot, self.windows[slot] = slot, window
        return window

    def forget_windows(self) -> None:
        """Make every window anew, after settings changed."""
        self.windows = [None] * SLOTS

    def previous(
        self, prompt: Sequence[int], text: str, cursor: int, tokenize: Callable[[str], list[int]]
    ) -> tuple[int, ...]:
        """Return the tokens that stood or were suggested from the end of `prompt` on.

        That is code deleted at the cursor, as long as the cursor is where it stood; else the rest of the last output.
        """
        removed = removed_text(self._text, text, cursor)
        self._text = text
        if removed:
            self._removed = tuple(tokenize(with_line_feeds(removed)))
            self._removed_at = range(cursor, cursor + 2 * len(removed))
        if self._removed and cursor in self._removed_at:
            return self._removed
        self._removed = ()
        shared = common_prefix(self.written, prompt)
        return self.written[shared:] if shared >= len(prompt) - REALIGNED_TOKENS else ()


def removed_text(old: str, new: str, cursor: int) -> str:
    """Return what was deleted at the cursor to get from `old` to `new`; empty if that was little or not all."""
    behind = len(new) - cursor
    removed = old[cursor : len(old) - behind]
    if len(removed) < REMOVED_CHARACTERS or new[:cursor] + removed + new[cursor:] != old:
        return ""
    return removed
