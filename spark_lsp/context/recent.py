"""The places that were edited or visited last.

A place becomes a chunk when it is left: then its text is what the user made of it. Where the user is now is no chunk
yet, so that the area around the cursor never comes back as context.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Container
from dataclasses import dataclass

from spark_lsp.context.extras import Chunk
from spark_lsp.context.similarity import contained, jaccard, words
from spark_lsp.documents.text import TextSnapshot

RADIUS_LINES = 16
"""A chunk has so many lines on either side of the place; further away begins another place."""
MOST_CHUNKS = 16
NEAR_COPY = 0.6
"""A chunk this similar to a later one (plain Jaccard index) is an older version of it."""
CONTAINED = 0.8
"""A chunk of whose words the prompt has this share already adds little, and is likely the same code."""


@dataclass(frozen=True, slots=True)
class _Place:
    document: str
    name: str
    snapshot: TextSnapshot
    line: int


@dataclass(frozen=True, slots=True)
class RecentChunk:
    """What a place looked like when it was left."""

    document: str
    chunk: Chunk
    words: frozenset[str]


class RecentRing:
    """The latest chunks of all documents, the oldest first."""

    def __init__(self) -> None:
        self._place: _Place | None = None
        self._chunks: deque[RecentChunk] = deque(maxlen=MOST_CHUNKS)

    def touch(self, document: str, name: str, snapshot: TextSnapshot, offset: int) -> bool:
        """Take note that the user is at `offset`; True if another place was left for it, which is a chunk now."""
        place, left = _Place(document, name, snapshot, snapshot.line_of(offset)), self._place
        self._place = place
        if left is None or (left.document == document and abs(left.line - place.line) <= RADIUS_LINES):
            return False
        return self._keep(left)

    def keep(self, documents: Container[str]) -> None:
        """Drop every chunk of other documents: they may be private now."""
        if self._place is not None and self._place.document not in documents:
            self._place = None
        kept = [recent for recent in self._chunks if recent.document in documents]
        self._chunks = deque(kept, maxlen=MOST_CHUNKS)

    def choose(self, visible: frozenset[str], query: frozenset[str], characters: int) -> list[Chunk]:
        """Return the latest chunks that fit `characters`, the oldest first.

        Left out is what the window shows (`visible` are its words) and what is a near-copy of the cursor's surroundings
        (`query`).
        """
        chosen: list[Chunk] = []
        for recent in reversed(self._chunks):
            fits = recent.chunk.characters <= characters
            if fits and contained(recent.words, visible) < CONTAINED and jaccard(recent.words, query) < NEAR_COPY:
                chosen.append(recent.chunk)
                characters -= recent.chunk.characters
        return chosen[::-1]

    def _keep(self, place: _Place) -> bool:
        chunk = _cut(place)
        its_words = words(chunk.text)
        if not its_words:
            return False
        kept = [recent for recent in self._chunks if jaccard(recent.words, its_words) < NEAR_COPY]
        self._chunks = deque([*kept, RecentChunk(place.document, chunk, its_words)], maxlen=MOST_CHUNKS)
        return True


def _cut(place: _Place) -> Chunk:
    lines = range(max(0, place.line - RADIUS_LINES), min(place.snapshot.line_count, place.line + RADIUS_LINES + 1))
    return Chunk(place.name, "\n".join(place.snapshot.line_text(line) for line in lines).strip("\n"))
