"""Token healing: which tokens may spell the bytes that were typed before the cursor.

A sorted table over the vocabulary answers in two binary searches plus one lookup for each typed byte; nothing scans
the vocabulary. While typed bytes remain, a token is allowed if it begins with them (and so goes beyond the cursor) or
if it spells a leading part of them.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


class PieceTable:
    """The vocabulary sorted by bytes."""

    def __init__(self, pieces: Sequence[bytes]) -> None:
        order = sorted((token for token, piece in enumerate(pieces) if piece), key=pieces.__getitem__)
        self._sorted = [pieces[token] for token in order]
        self._ids: NDArray[np.int32] = np.array(order, dtype=np.int32)
        self._by_piece: dict[bytes, int] = {}
        for token in order:
            self._by_piece.setdefault(pieces[token], token)

    def extending(self, typed: bytes) -> NDArray[np.int32]:
        """Return the ids of all tokens whose bytes begin with `typed`, which is not empty."""
        first = bisect_left(self._sorted, typed)
        following = _successor(typed)
        last = len(self._sorted) if following is None else bisect_left(self._sorted, following, lo=first)
        return self._ids[first:last]

    def within(self, typed: bytes) -> list[int]:
        """Return the ids of the tokens that spell a proper leading part of `typed`."""
        found = (self._by_piece.get(typed[:length]) for length in range(1, len(typed)))
        return [token for token in found if token is not None]

    def allowed(self, typed: bytes) -> NDArray[np.int32]:
        """Return the ids that may come next while `typed` remains to be spelled; shape (count,), maybe empty."""
        inside = self.within(typed)
        extending = self.extending(typed)
        return np.concatenate([extending, np.array(inside, dtype=np.int32)]) if inside else extending


def _successor(prefix: bytes) -> bytes | None:
    """Return the smallest byte string greater than everything that begins with `prefix`; None if there is none."""
    stripped = prefix.rstrip(b"\xff")
    return stripped[:-1] + bytes([stripped[-1] + 1]) if stripped else None
