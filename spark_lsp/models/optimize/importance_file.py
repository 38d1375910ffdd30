"""The importance of weights in a file of NumPy's: an array for each matrix, under its name."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray


def write_importance(importance: Mapping[str, NDArray[np.float32]], path: Path) -> None:
    """Write the arrays to `path`. Raises OSError."""
    arrays: dict[str, Any] = dict(importance)
    with path.open("wb") as stream:
        np.savez(stream, **arrays)


def read_importance(path: Path) -> dict[str, NDArray[np.float32]]:
    """Return what `write_importance` wrote. Raises OSError or ValueError."""
    with np.load(path, allow_pickle=False) as arrays:
        return {name: arrays[name] for name in arrays.files}
