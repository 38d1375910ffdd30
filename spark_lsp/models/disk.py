"""Room on the disk, and what a failed write means to the user."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from spark_lsp.errors import DownloadError

SPARE_BYTES = 64 * 1024 * 1024  # bytes left free, so that a download never fills the disk to the last block

FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
FORBIDDEN = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})

ANOTHER_DIRECTORY = "set SPARK_LSP_MODELS to another directory"


class NotEnoughRoomError(OSError):
    """The free space was counted before the write and is too small."""


def size_text(count: int | None) -> str:
    """Return a byte count as people read it (decimal units), "-" when it is unknown."""
    if count is None:
        return "-"
    if count >= 1_000_000_000:
        return f"{count / 1e9:.1f} GB"
    return f"{count / 1e6:.0f} MB" if count >= 10_000_000 else f"{count / 1e6:.1f} MB"


def require_room(directory: Path, needed: int) -> None:
    """Return when `needed` bytes fit into `directory`. Raises NotEnoughRoomError."""
    free = shutil.disk_usage(directory).free
    if free < needed + SPARE_BYTES:
        raise NotEnoughRoomError(errno.ENOSPC, f"{size_text(needed)} are needed and {size_text(free)} are free")


def flush_to_disk(stream: IO[bytes]) -> None:
    """Return when what was written to `stream` is on the disk, so that a later rename cannot overtake the data."""
    stream.flush()
    os.fsync(stream.fileno())


@contextmanager
def disk_failures_explained(directory: Path) -> Iterator[None]:
    """Turn every OSError inside into a DownloadError that names `directory` and the next step."""
    try:
        yield
    except OSError as error:
        sentence, next_step = _explanation(error, directory)
        raise DownloadError(sentence, next_step=next_step) from error


def _explanation(error: OSError, directory: Path) -> tuple[str, str]:
    if isinstance(error, NotEnoughRoomError):
        return f"There is not enough room in {directory}: {error.strerror}.", f"Free some, or {ANOTHER_DIRECTORY}."
    if error.errno in FULL:
        return f"The disk that holds {directory} is full.", f"Free some space, or {ANOTHER_DIRECTORY}; then pull again."
    if error.errno in FORBIDDEN:
        return f"{error.filename or directory} cannot be written.", f"Allow it, or {ANOTHER_DIRECTORY}."
    return f"Writing to {directory} failed: {error.strerror or error}.", f"Check the disk, or {ANOTHER_DIRECTORY}."
