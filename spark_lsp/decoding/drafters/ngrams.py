"""Drafts from text of other places: what was accepted in this session, and files of the workspace.

Tokens are kept in a ring of fixed size. For each n there is a table from the hash of n tokens to the place where they
go on; a table has as many slots as the ring has tokens, and what it points to is compared with the tokens looked for,
so a collision costs a draft but never makes a wrong one.
"""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Callable, Sequence
from typing import NamedTuple

from spark_lsp.decoding.drafters.confidence import OTHER_TEXT_PRIOR, Confidence
from spark_lsp.decoding.drafters.draft import MOST_SUPPORT, Draft, DraftContext

ACCEPTED_TOKENS = 1 << 14
"""About 500 accepted suggestions: an afternoon's work, in 0.7 MB."""
WORKSPACE_TOKENS = 1 << 17
"""About 13,000 lines, the files near the open one, in 5.2 MB. Learning that much takes less than a second."""
LONGEST, SHORTEST = 8, 2
"""Lengths of the n-grams. Beyond 8 the next token is all but certain; a single one says nothing about another file."""
MOST_VOTES = 3
"""Occurrences by which a continuation may be ahead: it takes as many others to replace it, so the frequent one stays
and an outdated one goes."""
COMPARED = 16
"""Tokens before the place that are compared to tell how long the match is; the last bucket of `confidence` begins
there."""
PENDING_CHARACTERS = 1_000_000
"""Text waiting to be tokenised: twice what `WORKSPACE_TOKENS` holds. The oldest goes first."""
PIECE_CHARACTERS = 4_000
"""Text tokenised and learned in one go, about 1,300 tokens in 10 ms, so that a request waits no longer than that."""

_BASE, _PRIME = 1_000_003, (1 << 31) - 1
"""Of a polynomial hash; a product of two values fits into 64 bits."""
_NOTHING = -1
"""Between two texts, and at the place where the ring is written next."""


class Found(NamedTuple):
    """Where a text went on."""

    tokens: tuple[int, ...]
    """Not empty."""
    length: int
    """Tokens before them that agree, `COMPARED` at most."""
    votes: int
    """By how many occurrences the first token is ahead of others, `MOST_VOTES` at most; 0 if it is contested."""


class NgramIndex:
    """Texts as tokens, found by n-grams. The memory is fixed: 40 bytes for each token of `capacity`."""

    def __init__(self, capacity: int = WORKSPACE_TOKENS) -> None:
        size = 1 << max(4, (capacity - 1).bit_length())
        self._mask = size - 1
        self._ring = array("i", [_NOTHING]) * size
        self._head = 0
        self._places = [array("i", [_NOTHING]) * size for _ in range(SHORTEST, LONGEST + 1)]
        self._votes = [bytearray(size) for _ in range(SHORTEST, LONGEST + 1)]
        self._rows = list(zip(range(SHORTEST - 1, LONGEST), self._places, self._votes, strict=True))
        self._longest_first = self._rows[::-1]

    @property
    def bytes(self) -> int:
        """Memory of the tables."""
        return len(self._ring) * 4 + sum(len(column) * 4 for column in self._places) + sum(map(len, self._votes))

    def learn(self, tokens: Sequence[int]) -> None:
        """Take in a text. The oldest text goes when the ring is full; of a longer one than that the end stays."""
        ring, mask, head = self._ring, self._mask, self._head
        rows = self._rows
        hashes = [0] * LONGEST
        last = _NOTHING
        for count, token in enumerate(tokens[-mask + 1 :]):
            for index, places, votes in rows:
                if index >= count:
                    break
                slot = hashes[index] & mask
                place = places[slot]
                if place < 0 or ring[place - 1] != last:  # free, or another n-gram's: the newest stays
                    places[slot], votes[slot] = head, 1
                elif ring[place] == token:
                    places[slot] = head
                    if votes[slot] < MOST_VOTES:
                        votes[slot] += 1
                elif votes[slot]:
                    votes[slot] -= 1
                else:
                    places[slot] = head
            ring[head] = last = token
            head = (head + 1) & mask
            hashes = next_hashes(hashes, token)
        ring[head] = _NOTHING
        self._head = (head + 1) & mask

    def find(self, hashes: Sequence[int], recent: Sequence[int], limit: int) -> Found | None:
        """Return what followed the longest known end of `recent`, of which `hashes` are the hashes.

        None if not even its last two tokens are known.
        """
        if len(recent) < SHORTEST:
            return None
        ring, mask, last = self._ring, self._mask, recent[-1]
        for index, places, votes in self._longest_first:
            slot = hashes[index] & mask
            place = places[slot]
            if place >= 0 and ring[place - 1] == last and ring[place] != _NOTHING:
                length = self._agreeing(place, recent)
                if length > index:
                    return Found(self._following(place, limit), length, votes[slot])
        return None

    def _agreeing(self, place: int, recent: Sequence[int]) -> int:
        ring, mask = self._ring, self._mask
        length = 0
        most = min(COMPARED, len(recent))
        while length < most and ring[(place - 1 - length) & mask] == recent[-1 - length]:
            length += 1
        return length

    def _following(self, place: int, limit: int) -> tuple[int, ...]:
        tokens = tuple(self._ring[place : place + limit])
        if len(tokens) < limit:
            tokens += tuple(self._ring[: limit - len(tokens)])
        return tokens[: tokens.index(_NOTHING)] if _NOTHING in tokens else tokens


def next_hashes(hashes: Sequence[int], token: int) -> list[int]:
    """Return the hashes of the last 1, 2, ... `LONGEST` tokens after `token` was appended."""
    value = token + 1
    longer = [(before * _BASE + value) % _PRIME for before in hashes]
    longer[-1] = value  # the longest one has no longer one; its place is the first one's
    return longer[-1:] + longer[:-1]


class TextBacklog:
    """Texts that wait to be tokenised and learned, a piece at a time when nothing else is to be done."""

    def __init__(self, index: NgramIndex, tokenize: Callable[[str], Sequence[int]]) -> None:
        self._index = index
        self._tokenize = tokenize
        self._texts: deque[str] = deque()
        self._characters = 0

    def __len__(self) -> int:
        return self._characters

    def add(self, text: str) -> None:
        """Queue a text, with line feeds as line ends; of a huge one the beginning."""
        text = text[:PENDING_CHARACTERS]
        self._texts.append(text)
        self._characters += len(text)
        while self._characters > PENDING_CHARACTERS:
            self._characters -= len(self._texts.popleft())

    def work(self) -> bool:
        """Learn one piece; False when nothing is left."""
        if not self._texts:
            return False
        text = self._texts.popleft()
        end = text.rfind("\n", 0, PIECE_CHARACTERS) + 1 if len(text) > PIECE_CHARACTERS else len(text)
        end = end or PIECE_CHARACTERS
        piece, rest = text[:end], text[end:]
        self._characters -= len(piece)
        if rest:
            self._texts.appendleft(rest)
        self._index.learn(self._tokenize(piece))
        return bool(self._texts)


class NgramDrafter:
    """Continues the last tokens as a text of `index` did."""

    def __init__(self, name: str, index: NgramIndex, confidence: Confidence | None = None) -> None:
        self._name = name
        self.index = index
        """May be replaced between two generations."""
        self._confidence = confidence or Confidence(OTHER_TEXT_PRIOR)
        self._recent: list[int] = []
        self._hashes = [0] * LONGEST

    @property
    def name(self) -> str:
        """Which texts these are."""
        return self._name

    def start(self, context: DraftContext) -> None:
        """Take in the last tokens before the cursor."""
        self._recent = []
        self._hashes = [0] * LONGEST
        self.append((context.above[-COMPARED:] + context.tail)[-COMPARED:])

    def append(self, tokens: Sequence[int]) -> None:
        """Take in the output."""
        for token in tokens[-COMPARED:]:
            self._hashes = next_hashes(self._hashes, token)
        self._recent = [*self._recent, *tokens][-COMPARED:]

    def propose(self, limit: int, pending: int = 1) -> Draft | None:
        """Return what followed the longest match."""
        found = self.index.find(self._hashes, self._recent, limit)
        if found is None:
            return None
        tokens, length, votes = found
        support = min(votes, MOST_SUPPORT)
        return Draft(tokens, self._confidence.estimate(length, support, len(tokens)), self._name, length, support)

    def observe(self, draft: Draft, accepted: int) -> None:
        """Count how the draft fared."""
        self._confidence.observe(draft, accepted)
