"""How much the model gets to read: what this machine computes in the time there is.

Somebody waits for the first window of a new place, so it is small and has no extras. The better window that follows in
idle time has both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from spark_lsp.context.window import CHARACTERS_PER_TOKEN, WindowLimits
from spark_lsp.decoding.cost_model import CostModel

NEW_PLACE_SECONDS = 1.5
"""Somebody waits for the prefill of a new place: it bounds the first window there on slow machines."""
WINDOW_SECONDS = 5.0
"""The better window that follows in idle time may take so long to compute."""
EXTRAS_SECONDS = 5.0
"""So long may the extras of that window take besides."""
TAIL_TOKENS = 150
"""What the tail usually takes of it: ten lines and a part of the block."""
NEW_PREFIX_LEAST, NEW_SUFFIX_LEAST = 48, 32
"""Tokens above the anchor and below the cursor that the first window has on any machine."""
PREFIX_LEAST = 192
"""Tokens above the anchor of the better window: with fewer, names from the same file are missed."""
EXTRAS_MOST = 1024
"""Tokens of extras on any machine: beyond, small models lose more to distraction than they win."""
EXTRAS_SHARE = 8
"""Extras take at most the eighth part of the context, which all documents and places share."""
EXTRAS_LEAST = 48
"""Fewer tokens are not worth a prefill of the whole prompt."""


@dataclass(frozen=True, slots=True)
class Room:
    """What the model and the user's settings allow at most, in tokens."""

    context: int
    prefix: int
    suffix: int
    """0 if the model does not see the text after the cursor."""
    generated: int


def window_limits(cost: CostModel, room: Room, *, new_place: bool) -> WindowLimits:
    """Return the window bounds: what fits the context of the model and the time that this machine needs for it."""
    free = max(64, room.context // 2 - room.generated)
    suffix = min(room.suffix, free // 4)
    in_time = cost.tokens_within(NEW_PLACE_SECONDS if new_place else WINDOW_SECONDS) - TAIL_TOKENS
    least_prefix, least_suffix = (NEW_PREFIX_LEAST, NEW_SUFFIX_LEAST) if new_place else (PREFIX_LEAST, suffix)
    suffix = min(suffix, max(in_time // 4, least_suffix))
    prefix = min(room.prefix, free - suffix, max(in_time - suffix, least_prefix))
    return WindowLimits(prefix_tokens=prefix, suffix_tokens=suffix)


def extras_characters(cost: CostModel, context: int) -> int:
    """Return how many characters of extras a window has that is computed in idle time; 0 if too few to be worth it."""
    tokens = min(cost.tokens_within(EXTRAS_SECONDS), EXTRAS_MOST, context // EXTRAS_SHARE)
    return int(tokens * CHARACTERS_PER_TOKEN) if tokens >= EXTRAS_LEAST else 0


def share(weights: Sequence[float], place: int, left: int) -> int:
    """Return what the part at `place` may use of the characters `left`; what parts before left over is divided anew."""
    return int(left * weights[place] / sum(weights[place:]))
