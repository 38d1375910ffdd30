"""Where two token sequences part."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def common_prefix(left: Sequence[int], right: Sequence[int]) -> int:
    """Return the number of leading tokens that both sequences share."""
    length = min(len(left), len(right))
    if not length:
        return 0
    a = np.asarray(left[:length], dtype=np.int32)
    b = np.asarray(right[:length], dtype=np.int32)
    different = np.flatnonzero(a != b)
    return int(different[0]) if different.size else length
