"""The plugin's extra context: chunks of places where the user was, the oldest replaced first."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

CHUNKS = 16
CHUNK_LINES = 64
"""A chunk is half of that, at a random place of what was picked; a shorter text is taken whole."""
QUEUED = 16
LEAST_LINES = 3
SIMILAR = 0.9
"""A chunk that resembles a new one more than that makes way for it."""
LIKE_HERE = 0.5
"""A chunk that resembles the text at the cursor more than that is dropped: the model would only repeat it."""


@dataclass(slots=True)
class Ring:
    """Queued chunks, and those that are sent along."""

    chance: random.Random
    chunks: list[tuple[str, ...]] = field(default_factory=list)
    queued: list[tuple[str, ...]] = field(default_factory=list)

    def pick(self, lines: Sequence[str], *, evict: bool) -> None:
        """Queue a chunk of `lines`. Similar ones make way for it with `evict`, else it is left out for them."""
        if len(lines) < LEAST_LINES:
            return
        chunk = tuple(lines) if len(lines) + 1 < CHUNK_LINES else self._part(lines)
        if chunk in self.chunks or chunk in self.queued:
            return
        for kept in (self.queued, self.chunks):
            for number in range(len(kept) - 1, 0, -1):  # the plugin never looks at the first one
                if similarity(kept[number], chunk) > SIMILAR:
                    if not evict:
                        return
                    del kept[number]
        if len(self.queued) == QUEUED:
            del self.queued[0]
        self.queued.append(chunk)

    def promote(self) -> bool:
        """Move one queued chunk to those that are sent along; whether there was one."""
        if not self.queued:
            return False
        if len(self.chunks) == CHUNKS:
            del self.chunks[0]
        self.chunks.append(self.queued.pop(0))
        return True

    def drop_similar(self, lines: Sequence[str]) -> None:
        """Drop chunks that resemble a random part of `lines`, the text at the cursor."""
        here = self._part(lines)
        for number in range(len(self.chunks) - 1, 0, -1):
            if similarity(self.chunks[number], here) > LIKE_HERE:
                del self.chunks[number]

    def extra(self, name: str) -> list[dict[str, str]]:
        """Return the chunks as the server takes them."""
        return [{"text": "\n".join(chunk) + "\n", "filename": name} for chunk in self.chunks]

    def _part(self, lines: Sequence[str]) -> tuple[str, ...]:
        begin = self.chance.randint(0, max(0, len(lines) - CHUNK_LINES // 2))
        return tuple(lines[begin : begin + CHUNK_LINES // 2 + 1])


def similarity(first: Sequence[str], second: Sequence[str]) -> float:
    """Return how much two chunks resemble each other: the share of words of both that they have in common."""
    ours, theirs = (re.split(r"\W+", "\n".join(chunk)) for chunk in (first, second))
    ours, theirs = [word for word in ours if word], [word for word in theirs if word]
    if not ours and not theirs:
        return 1.0
    known = set(ours)
    return 2.0 * sum(word in known for word in theirs) / (len(ours) + len(theirs))
