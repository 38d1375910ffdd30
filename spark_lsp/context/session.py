"""What is remembered of an open document between two requests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from spark_lsp.completion import CompletionRequest
from spark_lsp.context.extras import NO_EXTRAS, Extras
from spark_lsp.context.window import CompletionContext, WindowLimits, choose_window, outgrown, with_line_feeds
from spark_lsp.decoding.prefix import common_prefix
from spark_lsp.documents.text import TextSnapshot
from spark_lsp.prompt.fim import Prompt
from spark_lsp.syntax.languages import Language
from spark_lsp.syntax.parser import DocumentParser, SyntaxTree

ChooseExtras = Callable[[SyntaxTree, CompletionContext], Extras]
"""Chooses what a planned window has beside itself, given the window with the extras in use."""

SLOTS = 3
"""Sequences for each document: the place in use, the place before it, and a better window for the one in use."""
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
    """The parser, the windows and the last output of one document. Belongs to the engine's thread.

    A new place first gets a small window, which is computed at once; in idle time a full one is computed beside it
    (`plan`), and put to use when it is complete (`use_plan`).
    """

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
        self._small = [False] * SLOTS
        self._changes = [0] * SLOTS
        """Which of the changes of other texts the extras of a slot know of."""
        self._planned_changes = 0
        self._used = list(range(SLOTS))
        """Slots, the least recently used one first."""
        self._planned: CompletionContext | None = None
        self._text = ""
        self._removed: tuple[int, ...] = ()
        self._removed_at = range(0)

    def follow(self, snapshot: TextSnapshot, tree: SyntaxTree, cursor: int, limits: WindowLimits) -> CompletionContext:
        """Return the window for `cursor`, from the slot that continues.

        A new place gets a window within `limits` in the slot that was not in use for the longest time.
        """
        found = self._continued(snapshot, tree, cursor, limits)
        if found is not None:
            slot, window = found
        else:
            kept = self.windows[self.slot]
            window = choose_window(kept, snapshot, tree, cursor, limits)
            # Where the part above stays, the sequence in use needs the fewest new tokens.
            slot = self.slot if kept is None or window.above == kept.above else self._spare
            self._small[slot] = True
        if slot != self.slot:
            self._planned = None
        self._use(slot, window)
        return window

    def foresee(
        self, snapshot: TextSnapshot, tree: SyntaxTree, cursor: int, limits: WindowLimits
    ) -> CompletionContext | None:
        """Return the window that a request at `cursor` would get, without a change; None if it is not settled yet.

        It is settled if it continues the one in use, and idle time would not replace it.
        """
        found = self._continued(snapshot, tree, cursor, limits)
        if found is None or found[0] != self.slot or self._small[self.slot] or outgrown(found[1]):
            return None
        return found[1]

    def _continued(
        self, snapshot: TextSnapshot, tree: SyntaxTree, cursor: int, limits: WindowLimits
    ) -> tuple[int, CompletionContext] | None:
        """Return the slot whose window goes on at `cursor`, and how; None for a new place."""
        for slot in reversed(self._used):
            previous = self.windows[slot]
            if previous is not None:
                window = choose_window(previous, snapshot, tree, cursor, limits)
                if (window.above, window.below) == (previous.above, previous.below):
                    return slot, window
        return None

    @property
    def _spare(self) -> int:
        return next(slot for slot in self._used if slot != self.slot)

    def _use(self, slot: int, window: CompletionContext) -> None:
        self.slot, self.windows[slot] = slot, window
        self._used.remove(slot)
        self._used.append(slot)

    def plan(
        self,
        snapshot: TextSnapshot,
        tree: SyntaxTree,
        cursor: int,
        limits: WindowLimits,
        choose_extras: ChooseExtras = lambda tree, window: NO_EXTRAS,
        changes: int = 0,
    ) -> tuple[int, CompletionContext] | None:
        """Return a better window for `cursor` with the slot that it goes to, or None if the one in use is good.

        It is better where the one in use was chosen in a hurry, its tail has grown long, or its extras are not those
        that would be chosen after the `changes` of other texts. While somebody types, the plan stays the same, extras
        included, so that its prefill goes on where it was interrupted.
        """
        current = self.windows[self.slot]
        if current is None:
            return None
        good = not (self._small[self.slot] or outgrown(current))
        if good and self._changes[self.slot] == changes:
            return None
        base = current if good and self._planned is None else self._planned
        window = choose_window(base, snapshot, tree, cursor, limits)
        if self._planned is None or window.above != self._planned.above:
            window = replace(window, extras=current.extras)
            window = replace(window, extras=choose_extras(tree, window))
            self._planned_changes = changes
        if (window.above, window.below, window.extras) == (current.above, current.below, current.extras):
            self._small[self.slot], self._changes[self.slot], self._planned = False, self._planned_changes, None
            return None
        self._planned = window
        return self._spare, window

    def use_plan(self, slot: int, window: CompletionContext, prompt: Prompt, replaced: Prompt) -> None:
        """Put a planned window to use, now that its `prompt` is in the KV cache; `replaced` was the prompt before.

        What was suggested behind that prompt is still the latest suggestion.
        """
        self._small[slot], self._changes[slot], self._planned = False, self._planned_changes, None
        self._use(slot, window)
        suggested = self.written[len(replaced.tokens) :] if self._follows(replaced) else ()
        self.note(prompt, suggested)

    def note(self, prompt: Prompt, suggested: tuple[int, ...]) -> None:
        """Remember what was suggested at the end of `prompt`."""
        self.written = prompt.tokens + suggested
        self.frozen = max(1, len(prompt.tokens) - len(prompt.tail))

    def extend(self, tree: SyntaxTree, choose_extras: ChooseExtras, changes: int) -> CompletionContext:
        """Return the window in use, which nobody is in a hurry for, with its extras."""
        window = self.windows[self.slot]
        if window is None:
            raise ValueError("a window is extended after it was chosen")
        if self._small[self.slot]:
            window = replace(window, extras=choose_extras(tree, window))
            self.windows[self.slot], self._small[self.slot], self._changes[self.slot] = window, False, changes
        return window

    def _follows(self, prompt: Prompt) -> bool:
        return self.written[: len(prompt.tokens)] == prompt.tokens

    def adopt(self, window: CompletionContext) -> None:
        """Take over the window of an earlier session; idle time finds out whether there is a better one."""
        self.windows[self.slot], self._small[self.slot] = window, True

    def forget_windows(self) -> None:
        """Make every window anew, after settings changed."""
        self.windows = [None] * SLOTS
        self._planned = None

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
