"""Completions by place: a text that was computed once is not computed again, and typing into it costs nothing.

A place is known by the text near the cursor, the lines above and below it, and not by its offset: edits elsewhere and
scrolling leave it what it was. An entry answers at its own place, and wherever the text near it is the same and
everything put in at the cursor since is how the suggestion begins. Two things that editors add are no contradiction:
white space on a line that the suggestion leaves blank (indentation after Enter), and closers behind the cursor with
which a line of the suggestion, or all of it, ends anyway.

So a hit is a text that, put in at the cursor, makes the document hold the suggestion or its first lines. In doubt it is
a miss: a wrong text costs the user more than the wait for a new one.

What an invoked request would be shown is kept beside what was shown, so asking by hand for what was withheld computes
nothing. What was shown stays: an automatic request that follows an invoked one finds the text that the user is typing.
The other texts that an invoked request was offered are kept too, and typing along one of them is typing into it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, replace

from spark_lsp.context.window import with_line_feeds

LINES_BEFORE = 24
"""Lines up to the cursor's that have to be the same, more than the least that stands between anchor and cursor. What
is changed further up (an import, another function) seldom changes what comes next."""
LINES_AFTER = 8
"""Lines from the cursor's on that have to be the same."""
NEAR_CHARACTERS = 2000
"""Most characters of each side that have to be the same, for long lines."""
CAPACITY = 250
"""Entries kept, over all documents; each is at most a few kilobytes."""
MOST_TYPED = 4000
"""Most characters typed into a suggestion that are looked at; the longest suggestion is shorter."""
MOST_CLOSERS = 64
"""Closers and white space that an editor may have put behind the cursor: a bracket for each one typed, and a new line
with its indentation in front of a brace."""
_CLOSERS = frozenset(")]}>\"'`; \t\n")


@dataclass(frozen=True, slots=True)
class CachedCompletion:
    """What is left to show."""

    text: str
    """The suggestion after what was typed of it; empty where it is known to be withheld."""
    typed: int
    """Characters of it that the user typed since."""
    foreseen: bool = False
    """Whether it was computed in advance and is asked for for the first time."""
    others: tuple[str, ...] | None = None
    """Other texts to choose from right here; None if nobody asked for any."""


@dataclass(frozen=True, slots=True)
class _Near:
    """The text near a place, with LF line ends."""

    before: str
    """From the end of the line above the first one, if there is one, to the place."""
    at_start: bool
    """Whether the document begins there."""
    after: str
    at_end: bool
    """Whether the document ends there."""

    @staticmethod
    def at(text: str, offset: int) -> _Near:
        reach = max(0, offset - 2 * NEAR_CHARACTERS)
        before = with_line_feeds(text[reach:offset])
        start, at_start = _start_of_lines(before, LINES_BEFORE, reach == 0)
        around = with_line_feeds(text[offset : offset + 2 * NEAR_CHARACTERS])
        end, at_end = _end_of_lines(around, LINES_AFTER, offset + 2 * NEAR_CHARACTERS >= len(text))
        return _Near(before[start:], at_start, around[:end], at_end)


@dataclass(frozen=True, slots=True)
class _Entry:
    near: _Near
    text: str
    if_invoked: str
    foreseen: bool
    others: tuple[str, ...] | None = None


class CompletionCache:
    """Least recently used entries go first. Not thread safe: it belongs to the event loop."""

    def __init__(self, capacity: int = CAPACITY) -> None:
        self._capacity = capacity
        self._entries: OrderedDict[tuple[str, _Near], _Entry] = OrderedDict()

    def __len__(self) -> int:
        return len(self._entries)

    def put(
        self,
        document: str,
        text: str,
        offset: int,
        suggestion: str,
        if_invoked: str | None = None,
        *,
        foreseen: bool = False,
    ) -> None:
        """Remember that `suggestion` belongs at `offset` of `text`, and `if_invoked` where it is asked for by hand.

        An empty `suggestion` is withheld: an automatic request right there gets nothing. One that was `foreseen` does
        not take the place of another.
        """
        near = _Near.at(text, offset)
        key = (document, near)
        known = self._entries.get(key)
        if foreseen and known is not None:
            return
        entry = _Entry(near, suggestion, suggestion if if_invoked is None else if_invoked, foreseen)
        same = known is not None and known.if_invoked == entry.if_invoked
        self._entries[key] = replace(entry, others=known.others if known is not None and same else None)
        self._entries.move_to_end(key)
        if len(self._entries) > self._capacity:
            self._entries.popitem(last=False)

    def add_others(self, document: str, text: str, offset: int, others: tuple[str, ...]) -> None:
        """Remember the texts to choose from beside the one that is known at `offset` of `text`."""
        key = (document, _Near.at(text, offset))
        entry = self._entries.get(key)
        if entry is not None:
            self._entries[key] = replace(entry, others=others)

    def get(self, document: str, text: str, offset: int, *, invoked: bool = False) -> CachedCompletion | None:
        """Return what is left of the latest suggestion that fits `offset` of `text`, or None."""
        place = _Surroundings.at(text, offset)
        withheld = None
        for key in reversed(self._entries):
            if key[0] != document:
                continue
            entry = self._entries[key]
            found = place.choices(entry, entry.if_invoked if invoked else entry.text)
            if found is None:
                continue
            if found.text:
                if entry.foreseen:
                    self._entries[key] = replace(entry, foreseen=False)
                self._entries.move_to_end(key)
                return replace(found, foreseen=entry.foreseen)
            if not (found.typed or entry.text or invoked):
                withheld = found
        return withheld

    def forget(self, document: str) -> None:
        """Drop every entry of a document that was closed."""
        for key in [key for key in self._entries if key[0] == document]:
            del self._entries[key]

    def clear(self) -> None:
        """Drop everything, after the model or a setting changed."""
        self._entries.clear()


@dataclass(frozen=True, slots=True)
class _Surroundings:
    """So much of a text around a cursor as any entry may ask for, with LF line ends."""

    before: str
    from_start: bool
    after: str
    to_end: bool

    @staticmethod
    def at(text: str, offset: int) -> _Surroundings:
        reach = 2 * (2 * NEAR_CHARACTERS + MOST_TYPED)
        start = max(0, offset - reach)
        before, after = with_line_feeds(text[start:offset]), with_line_feeds(text[offset : offset + reach])
        return _Surroundings(before, start == 0, after, offset + reach >= len(text))

    def choices(self, entry: _Entry, suggestion: str) -> CachedCompletion | None:
        """Return what is left of `suggestion`, or of another text of the entry that the user types along."""
        found = self.rest(entry.near, suggestion)
        if entry.others is None or (found is not None and found.typed):
            return found
        rests = [rest for other in entry.others if (rest := self.rest(entry.near, other)) is not None and rest.text]
        if found is None:
            return next((rest for rest in rests if rest.typed), None)
        return replace(found, others=tuple(rest.text for rest in rests))

    def rest(self, near: _Near, suggestion: str) -> CachedCompletion | None:
        """Return what is left of a suggestion made near `near`, or None if it does not belong here."""
        added = self._added_closers(near)
        if added is None:
            return None
        for place in self._places(near, 2 * len(suggestion) + MOST_CLOSERS):
            typed = self.before[place:]
            count = typed_of(suggestion, typed)
            if count is not None:
                rest = before_closers(suggestion[count:], added)
                return CachedCompletion(rest, len(typed)) if rest is not None else None
        return None

    def _places(self, near: _Near, most: int) -> Iterator[int]:
        """Where the text before `near` ends, at most `most` characters before the cursor; the nearest first."""
        size = len(near.before)
        if near.at_start:
            if self.from_start and self.before.startswith(near.before):
                yield size
            return
        least, end = max(0, len(self.before) - size - min(most, MOST_TYPED)), len(self.before)
        while end - size >= least and (begin := self.before.rfind(near.before, least, end)) != -1:
            yield begin + size
            end = begin + size - 1

    def _added_closers(self, near: _Near) -> str | None:
        """Return what stands between the cursor and the text that was after it; None if that is not there."""
        for count in range(min(MOST_CLOSERS, len(self.after)) + 1):
            if count and self.after[count - 1] not in _CLOSERS:
                return None
            if self.after.startswith(near.after, count):
                ends = self.to_end and len(self.after) == count + len(near.after)
                if not near.at_end or ends:
                    return self.after[:count]
        return None


def typed_of(suggestion: str, typed: str) -> int | None:
    """Return how much of `suggestion` was `typed`, in characters; None if it begins otherwise.

    White space on a line that the suggestion leaves blank does not count.
    """
    if suggestion.startswith(typed):
        return len(typed)
    wanted, written = suggestion.split("\n"), typed.split("\n")
    if len(written) > len(wanted):
        return None
    for number, (line, other) in enumerate(zip(wanted, written, strict=False)):
        last = number == len(written) - 1
        blank = number > 0 and not other.strip(" \t") and not line.strip(" \t")
        if blank and last and number == len(wanted) - 1:
            return None  # what is left would be white space
        if not blank and (line != other if not last else not line.startswith(other)):
            return None
    done = sum(len(line) + 1 for line in wanted[: len(written) - 1])
    begun = wanted[len(written) - 1]
    return done + (len(written[-1]) if begun.startswith(written[-1]) else len(begun))


def before_closers(rest: str, added: str) -> str | None:
    """Return what of `rest` goes in front of closers that the editor `added`; None where they do not belong there.

    The text together with the closers is the first line of `rest`, or all of it.
    """
    if not added:
        return rest
    line = rest.partition("\n")[0]
    for whole in (line, rest):
        if whole.endswith(added):
            return whole[: len(whole) - len(added)]
    return None


def _start_of_lines(text: str, lines: int, complete: bool) -> tuple[int, bool]:
    """Return where the last `lines` lines of `text` begin, the line end before them included.

    The flag tells whether that is the start of the document, given that `text` is `complete` in front.
    """
    start = len(text)
    for _ in range(lines):
        previous = text.rfind("\n", 0, start)
        if previous == -1:
            return (0, complete) if len(text) <= NEAR_CHARACTERS else (len(text) - NEAR_CHARACTERS, False)
        if len(text) - previous > NEAR_CHARACTERS:
            return (start if start < len(text) else len(text) - NEAR_CHARACTERS), False
        start = previous
    return start, False


def _end_of_lines(text: str, lines: int, complete: bool) -> tuple[int, bool]:
    """Return where the first `lines` lines of `text` end, and whether the document ends there."""
    end = 0
    for _ in range(lines):
        following = text.find("\n", end)
        if following == -1 or following >= NEAR_CHARACTERS:
            end = min(len(text), NEAR_CHARACTERS)
            break
        end = following + 1
    return end, complete and end == len(text)
