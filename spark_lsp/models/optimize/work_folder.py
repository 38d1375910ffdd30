"""The folder in which a run works: beside the model, owned by one process at a time."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from spark_lsp.errors import ModelError
from spark_lsp.models.disk import ANOTHER_DIRECTORY, FORBIDDEN, FULL

ENDING = ".optimize"
LOCK = ".lock"
AGAIN = "then run it again: what is finished is kept"


def work_path(model: Path) -> Path:
    """Where variants of `model` and the journal are while a run is under way."""
    return model.with_name(model.name.removesuffix(".gguf") + ENDING)


@contextmanager
def work_folder(model: Path) -> Iterator[Path]:
    """Give the work folder of `model`, for this process alone.

    Raises ModelError when another process has it, and for every OSError inside, with what to do.
    """
    from filelock import FileLock, Timeout

    folder = work_path(model)
    with disk_failures_explained(folder):
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder / LOCK)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            raise ModelError(
                f"Another process is optimizing {model.name}.", next_step="Try again when it has ended."
            ) from None
        try:
            yield folder
        finally:
            lock.release()


def remove_work(model: Path) -> bool:
    """Delete the work folder of `model`; return whether there was one. Raises OSError."""
    folder = work_path(model)
    if not folder.exists():
        return False
    shutil.rmtree(folder)
    return True


@contextmanager
def disk_failures_explained(folder: Path) -> Iterator[None]:
    """Turn every OSError inside into a ModelError that names the place and the next step."""
    try:
        yield
    except OSError as error:
        place = folder.parent
        if error.errno in FULL:
            raise ModelError(
                f"The disk that holds {place} is full.", next_step=f"Free some space, or {ANOTHER_DIRECTORY}; {AGAIN}."
            ) from error
        if error.errno in FORBIDDEN:
            raise ModelError(
                f"{error.filename or place} cannot be written.", next_step=f"Allow it, or {ANOTHER_DIRECTORY}."
            ) from error
        raise ModelError(
            f"Working in {place} failed: {error.strerror or error}.", next_step=f"Check the disk, {AGAIN}."
        ) from error
