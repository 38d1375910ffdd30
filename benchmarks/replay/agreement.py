"""Where two texts part."""

from __future__ import annotations


def agreeing(left: str, right: str) -> int:
    """Return the number of leading characters that both texts share."""
    low, high = 0, min(len(left), len(right))
    while low < high:  # comparing slices is much faster than comparing characters one by one
        middle = (low + high + 1) // 2
        if left[:middle] == right[:middle]:
            low = middle
        else:
            high = middle - 1
    return low
