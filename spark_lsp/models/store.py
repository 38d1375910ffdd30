"""The models directory: where model files are, which of them are there, and which may be loaded."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from spark_lsp.errors import ModelFileError, ModelNotFoundError, UnknownModelError
from spark_lsp.models.catalogue import CATALOGUE, ModelCard, find
from spark_lsp.models.checksum import remembered_sha256, stamp_path
from spark_lsp.models.gguf_header import check_gguf
from spark_lsp.models.verify import Verification, check_file, verify_file

DIRECTORY_VARIABLE = "SPARK_LSP_MODELS"


class FileState(Enum):
    """What is known about an installed file without reading it."""

    VERIFIED = "verified"
    UNVERIFIED = "not verified"
    WRONG = "wrong file"


@dataclass(frozen=True, slots=True)
class InstalledModel:
    """A catalogue model whose file is in the models directory; `bytes` is the size on the disk."""

    card: ModelCard
    path: Path
    bytes: int
    state: FileState


def models_directory(override: Path | None = None) -> Path:
    """Return the directory of the models: `override`, else $SPARK_LSP_MODELS, else one in the user's data directory.

    The path is absolute; the directory need not exist yet.
    """
    if override is not None:
        return override.expanduser().absolute()
    if named := os.environ.get(DIRECTORY_VARIABLE, "").strip():
        return Path(named).expanduser().absolute()
    import platformdirs

    return platformdirs.user_data_path("spark-lsp", appauthor=False) / "models"


def model_path(card: ModelCard, directory: Path | None = None) -> Path:
    """Where the file of `card` is, or would be."""
    return models_directory(directory) / f"{card.name}.gguf"


def staging_path(card: ModelCard, directory: Path | None = None) -> Path:
    """The directory in which an unfinished download of `card` is kept, beside the finished files."""
    return models_directory(directory) / f"{card.name}.partial"


def resolve(name_or_path: str | os.PathLike[str], directory: Path | None = None) -> Path:
    """Return the file to load for a catalogue name or for the path of a GGUF file.

    A full catalogue name comes first, so that a file which happens to lie in the working directory cannot take its
    place; then a file of that path; then the start of a catalogue name. What is returned has passed a check: a
    catalogue file by size and sha256 (remembered while the file stays the same), any other by its GGUF header.

    Raises UnknownModelError, ModelNotFoundError or ModelFileError.
    """
    text = os.fspath(name_or_path)
    path = Path(text).expanduser()
    if not _is_full_name(text) and path.is_file():
        check_gguf(path)
        return path
    try:
        card = find(text)
    except UnknownModelError:
        if not _looks_like_path(text):
            raise
        raise ModelNotFoundError(
            f"There is no file {path}.",
            next_step="Give the path of a GGUF file, or a name from `spark-lsp models list`.",
        ) from None
    file = model_path(card, directory)
    check_file(card, file)
    return file


def verify(target: ModelCard | Path, directory: Path | None = None) -> Verification:
    """Read the whole file of a catalogue model, or any GGUF file, and return what it is.

    Raises ModelNotFoundError or ModelFileError.
    """
    if isinstance(target, ModelCard):
        return verify_file(model_path(target, directory), target)
    return verify_file(target)


def installed(directory: Path | None = None) -> tuple[InstalledModel, ...]:
    """Return the catalogue models in the directory, in the order of the catalogue; no file content is read."""
    found = []
    for card in CATALOGUE:
        path = model_path(card, directory)
        try:
            size = path.stat().st_size
        except OSError:
            continue
        found.append(InstalledModel(card, path, size, _state(card, path, size)))
    return tuple(found)


def remove(card: ModelCard, directory: Path | None = None) -> bool:
    """Delete the file of `card`, its stamp and any unfinished download; return whether there was a file or a part.

    Raises ModelFileError when the system refuses, for instance while a server on Windows has the file open.
    """
    file, staging = model_path(card, directory), staging_path(card, directory)
    if not file.exists() and not staging.exists():
        return False
    try:
        with exclusive(card, directory, wait=False):
            file.unlink(missing_ok=True)
            stamp_path(file).unlink(missing_ok=True)
            if staging.exists():
                shutil.rmtree(staging)
    except OSError as error:
        raise ModelFileError(
            f"{error.filename or file} cannot be removed: {error.strerror or error}.",
            next_step="Stop the editors that use it and try again.",
        ) from error
    return True


@contextmanager
def exclusive(
    card: ModelCard, directory: Path | None = None, *, wait: bool = True, waiting: Callable[[], None] | None = None
) -> Iterator[None]:
    """Hold the only right on this machine to change the file of `card`; the directory must exist.

    `waiting` is called once when someone else holds it. With `wait` False that is a ModelFileError instead.
    The lock is the system's: it ends with its process, and the empty lock file may stay.
    """
    from filelock import FileLock, Timeout

    lock = FileLock(models_directory(directory) / f".{card.name}.lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        if not wait:
            raise ModelFileError(
                f"Another process is downloading {card.name}.", next_step="Try again when it has ended."
            ) from None
        if waiting is not None:
            waiting()
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


def _state(card: ModelCard, path: Path, size: int) -> FileState:
    if card.bytes is not None and size != card.bytes:
        return FileState.WRONG
    known = remembered_sha256(path)
    if known is None or card.sha256 is None:
        return FileState.UNVERIFIED
    return FileState.VERIFIED if known == card.sha256 else FileState.WRONG


def _is_full_name(text: str) -> bool:
    try:
        return find(text).name == text.strip().lower()
    except UnknownModelError:
        return False


def _looks_like_path(text: str) -> bool:
    return text.lower().endswith(".gguf") or any(mark and mark in text for mark in ("/", os.sep, os.altsep))
