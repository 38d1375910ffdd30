"""Completions by place: a text that was computed once is not computed again, and typing into it costs nothing.

An entry holds what the model saw around the cursor (at most `SEEN_BEFORE` and `SEEN_AFTER` characters) and what it
suggested. It answers as long as the text around is the same and everything typed since is how the suggestion begins.
A result computed for an older text is never given as if it were for the newer one.

What an invoked request would be shown is kept beside what was shown, so asking by hand for what was withheld computes
nothing. What was shown stays: an automatic request that follows an invoked one finds the text that the user is typing.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

from spark_lsp.context.window import with_line_feeds

SEEN_BEFORE = 4000
"""Characters before the cursor that have to be the same; the default window holds about 2,500 above the anchor."""
SEEN_AFTER = 600
"""Characters after the cursor that have to be the same; the default window holds about 500."""
CAPACITY = 250
"""Entries kept, over all documents; each is at most a few kilobytes."""


@dataclass(frozen=True, slots=True)
class CachedCompletion:
    """What is left to show."""

    text: str
    """The suggestion after what was typed of it; empty where it is known to be withheld."""
    typed: int
    """Characters of it that the user typed since."""


@dataclass(frozen=True, slots=True)
class _Entry:
    offset: int
    before: str
    after: str
    text: str
    if_invoked: str


class CompletionCache:
    """Least recently used entries go first. Not thread safe: it belongs to the event loop."""

    def __init__(self, capacity: int = CAPACITY) -> None:
        self._capacity = capacity
        self._entries: OrderedDict[tuple[str, int], _Entry] = OrderedDict()

    def __len__(self) -> int:
        return len(self._entries)

    def put(self, document: str, text: str, offset: int, suggestion: str, if_invoked: str | None = None) -> None:
        """Remember that `suggestion` belongs at `offset` of `text`, and `if_invoked` where it is asked for by hand.

        An empty `suggestion` is withheld: an automatic request right there gets nothing.
        """
        before, after = text[max(0, offset - SEEN_BEFORE) : offset], text[offset : offset + SEEN_AFTER]
        entry = _Entry(offset, before, after, suggestion, suggestion if if_invoked is None else if_invoked)
        key = (document, offset)
        self._entries[key] = entry
        self._entries.move_to_end(key)
        if len(self._entries) > self._capacity:
            self._entries.popitem(last=False)

    def get(self, document: str, text: str, offset: int, *, invoked: bool = False) -> CachedCompletion | None:
        """Return what is left of the latest suggestion that fits `offset` of `text`, or None."""
        withheld = None
        for key in reversed(self._entries):
            if key[0] != document:
                continue
            entry = self._entries[key]
            suggestion = entry.if_invoked if invoked else entry.text
            rest = _rest(entry, suggestion, text, offset)
            if rest:
                self._entries.move_to_end(key)
                typed = offset - entry.offset
                return CachedCompletion(rest, typed)
            if rest is not None and not suggestion and entry.offset == offset:
                withheld = CachedCompletion("", 0)
        return withheld

    def forget(self, document: str) -> None:
        """Drop every entry of a document that was closed."""
        for key in [key for key in self._entries if key[0] == document]:
            del self._entries[key]

    def clear(self) -> None:
        """Drop everything, after the model or a setting changed."""
        self._entries.clear()


def _rest(entry: _Entry, suggestion: str, text: str, offset: int) -> str | None:
    """Return the part of one of the entry's suggestions after what was typed, or None if it does not fit here."""
    typed = text[entry.offset : offset]
    # Line ends may have been typed as CR LF, so the typed text can be longer than its share of the suggestion.
    if not 0 <= offset - entry.offset <= 2 * len(suggestion):
        return None
    typed = with_line_feeds(typed)
    if not suggestion.startswith(typed):
        return None
    begin = entry.offset - len(entry.before)
    if text[begin : entry.offset] != entry.before:
        return None
    if text[offset : offset + SEEN_AFTER] != entry.after:
        return None
    return suggestion[len(typed) :]
