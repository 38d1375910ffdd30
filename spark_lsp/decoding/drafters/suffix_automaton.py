"""A suffix automaton of token ids that also forgets: the newest tokens can be taken back.

After each token it knows the longest suffix of the text that also occurs earlier, and where. Construction: A. Blumer
et al., "The smallest automaton recognizing the subwords of a text", 1985. A state stands for all substrings that end at
the same places; `link` leads to the next shorter suffix that ends at more places.

Taking tokens back is what makes typing cheap: with each key only the last tokens of the document differ, and what the
last generation appended goes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import NamedTuple

JOURNAL_TOKENS = 512
"""So many of the newest tokens can be taken back, 0.5 KB each: a suggestion and a few typed lines."""
RECENCY_STEPS = 64
"""Shorter suffixes whose place is brought up to date with each token. Only text that repeats itself more often than
this within its longest match has more; there an older place of a shorter match is as good."""
SHORTEST_RECENT = 2
"""Places of single tokens are not brought up to date: nobody asks for them, and they would take half of the steps."""


class Match(NamedTuple):
    """The end of the text equals the `length` tokens before `position`."""

    length: int
    position: int
    """Index of the token that follows the match."""
    support: int
    """Number of earlier places, if all of them go on with the same token, else 0; without `recent` not above 1."""


class _Undo(NamedTuple):
    """What one token changed."""

    last: int
    match: Match
    states: int
    added: list[int]
    """States that got a transition for the token."""
    redirected: list[int]
    """States whose transition was led to the clone."""
    cloned: int
    """The state that was split, -1 if none."""
    cloned_link: int
    places: list[tuple[int, int]]
    """States with the place that they had."""


class SuffixAutomaton:
    """All substrings of a growing text; `append` costs O(1) amortised.

    With `recent` the place of a match is the latest one, else the earliest.
    """

    def __init__(self, tokens: Iterable[int] = (), *, recent: bool = True) -> None:
        self._recent = recent
        self._tokens: list[int] = []
        self._next: list[dict[int, int]] = [{}]
        self._link = [-1]
        self._length = [0]
        self._end = [-1]
        self._count = [1]
        self._last = 0
        self._match = Match(0, 0, 0)
        self._journal: deque[_Undo] = deque(maxlen=JOURNAL_TOKENS)
        self.extend(tokens)

    @property
    def tokens(self) -> list[int]:
        """The text. Not to be changed by the caller."""
        return self._tokens

    @property
    def match(self) -> Match:
        """The longest suffix of the text that also ends earlier; length 0 if there is none."""
        return self._match

    def extend(self, tokens: Iterable[int]) -> None:
        """Append several tokens."""
        for token in tokens:
            self.append(token)

    def append(self, token: int) -> None:
        """Append one token."""
        following, links, lengths, ends = self._next, self._link, self._length, self._end
        counts = self._count
        place = len(self._tokens)
        current = states = len(lengths)
        last = state = self._last
        following.append({})
        lengths.append(place + 1)
        ends.append(place)
        counts.append(1)
        added: list[int] = []
        while state >= 0 and token not in following[state]:
            following[state][token] = current
            added.append(state)
            state = links[state]
        redirected: list[int] = []
        cloned = cloned_link = -1
        if state < 0:
            links.append(0)
        else:
            target = following[state][token]
            if lengths[target] == lengths[state] + 1:
                links.append(target)
            else:
                clone = current + 1
                cloned, cloned_link = target, links[target]
                links.append(clone)
                following.append(following[target].copy())
                links.append(cloned_link)
                lengths.append(lengths[state] + 1)
                ends.append(ends[target])
                counts.append(counts[target])
                links[target] = clone
                while state >= 0 and following[state].get(token) == target:
                    following[state][token] = clone
                    redirected.append(state)
                    state = links[state]
        self._journal.append(_Undo(last, self._match, states, added, redirected, cloned, cloned_link, []))
        state = links[current]
        self._match = Match(lengths[state], ends[state] + 1, counts[state] if len(following[state]) == 1 else 0)
        if self._recent:
            self._bring_up_to_date(state, place)
        self._last = current
        self._tokens.append(token)

    def cut(self, length: int) -> bool:
        """Keep the first `length` tokens; False means that this goes too far back and nothing was changed."""
        if len(self._tokens) - length > len(self._journal):
            return False
        while len(self._tokens) > length:
            self._take_back()
        return True

    def step(self, token: int, state: int, length: int) -> tuple[int, int]:
        """Return where a reader of another text comes to with `token`: its state, and how many tokens agree.

        A reader starts with ``(0, 0)``. It stands for the longest suffix of what it read that occurs in this text.
        """
        while state and token not in self._next[state]:
            state = self._link[state]
            length = self._length[state]
        target = self._next[state].get(token)
        return (0, 0) if target is None else (target, length + 1)

    def match_of(self, state: int, length: int) -> Match:
        """Return where the text goes on after what a reader with this state has read."""
        return Match(length, self._end[state] + 1, self._count[state] if len(self._next[state]) == 1 else 0)

    def _bring_up_to_date(self, state: int, place: int) -> None:
        links, lengths, ends, counts = self._link, self._length, self._end, self._count
        places = self._journal[-1].places
        for _ in range(RECENCY_STEPS):
            if lengths[state] < SHORTEST_RECENT:
                return
            places.append((state, ends[state]))
            ends[state] = place
            counts[state] += 1
            state = links[state]

    def _take_back(self) -> None:
        token = self._tokens.pop()
        undo = self._journal.pop()
        for state, place in reversed(undo.places):
            self._end[state] = place
            self._count[state] -= 1
        for state in undo.redirected:
            self._next[state][token] = undo.cloned
        for state in undo.added:
            del self._next[state][token]
        if undo.cloned >= 0:
            self._link[undo.cloned] = undo.cloned_link
        for column in (self._next, self._link, self._length, self._end, self._count):
            del column[undo.states :]
        self._last, self._match = undo.last, undo.match
