"""How much two texts share at their ends.

Slices are compared and halved, which is much faster than comparing one character after the other.
"""

from __future__ import annotations

from typing import AnyStr


def shared_start(one: AnyStr, other: AnyStr) -> int:
    """Return how many code points (of bytes: bytes) two texts share at their start."""
    low, high = 0, min(len(one), len(other))
    if one[:high] == other[:high]:
        return high
    while low < high:  # one[:low] is shared, and the first difference lies before `high`
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def shared_end(one: AnyStr, other: AnyStr, most: int) -> int:
    """Return how many code points (of bytes: bytes) two texts share at their end, at most `most`."""
    low, high = 0, most
    while low < high:  # the last `low` are shared
        middle = (low + high + 1) // 2
        if one[len(one) - middle : len(one) - low] == other[len(other) - middle : len(other) - low]:
            low = middle
        else:
            high = middle - 1
    return low
