"""Sequences of the KV cache on disk, so that the first suggestion after a restart needs no prefill.

A file is what the engine wrote, followed by a seal of ours::

    engine's state | JSON: whose it is, its token ids, a note | lengths, hash of all before, magic

The engine's own format is guarded by little more than a magic number, and native code that reads nonsense may end the
process or put a wrong state in place. So nothing is given to it whose hash is not right and whose owner is another.
Files are written under another name and renamed: under its own name a file is whole, or older and whole.

They hold the user's code in a form that can be read back, hence the access rights and the bounds.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import os
import struct
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

log = logging.getLogger(__name__)

MOST_FILES = 16
"""Snapshots kept; as many documents as a pipeline keeps open."""
MOST_BYTES = 256 * 1024 * 1024
"""Room for all of them. A token takes 12 KB with the 0.5B model and 57 KB with the 7B, a document some 800 tokens:
10 to 45 MB."""
_SUFFIX, _UNFINISHED = ".kv", ".tmp"
_STALE_SECONDS = 3600.0
"""Age at which an unfinished file was left behind by a process that was killed; writing takes less than a second."""
_CHUNK_BYTES = 1 << 20
"""Bytes hashed at once, about a millisecond: so long may something more urgent wait."""
_MAGIC = b"sparkkv1"
_FOOTER = struct.Struct("<QQ32s8s")
"""Bytes of the state, bytes of the JSON, BLAKE2b-256 of everything before it, magic."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One verified file."""

    path: Path
    tokens: tuple[int, ...]
    """The token ids of the sequence in it."""
    note: dict[str, Any]
    """What was given to `SnapshotStore.keep`."""


class SnapshotStore:
    """The snapshots of one model in a folder that all models share; the least recently used ones go."""

    def __init__(
        self, folder: Path, model_key: str, *, most_files: int = MOST_FILES, most_bytes: int = MOST_BYTES
    ) -> None:
        """Use `folder`, which need not exist. `model_key` changes with everything that the state depends on."""
        self._folder = folder
        self._model_key = model_key
        self._most_files = most_files
        self._most_bytes = most_bytes
        self._complained = False

    def find(self, document: str) -> Snapshot | None:
        """Return the snapshot of `document` and count it as used; a damaged or foreign file is removed instead."""
        owner = self._owner(document)
        path = self._path(owner)
        try:
            with path.open("rb") as file:
                body = _unsealed(file)
            if body is not None and body.get("owner") == owner:
                os.utime(path)
                return Snapshot(path, tuple(map(int, body["tokens"])), dict(body["note"]))
        except FileNotFoundError:
            return None
        except (OSError, KeyError, TypeError, ValueError) as error:
            log.debug("%s: %s", path.name, error)
        log.info("The snapshot %s is damaged or of another version and is not used.", path.name)
        _remove(path)
        return None

    def keep(
        self,
        document: str,
        tokens: Sequence[int],
        note: dict[str, Any],
        write: Callable[[Path], bool],
        check: Callable[[], None] = lambda: None,
    ) -> bool:
        """Keep what `write` puts into the file it is given, in place of an older snapshot of `document`.

        `note` has to be JSON. `check` is called every few milliseconds and may raise. False if nothing was kept, the
        older snapshot then being untouched; the first failure of the disk is a line in the log.
        """
        owner = self._owner(document)
        temporary: Path | None = None
        try:
            check()
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            # Readable by the user alone from the start, as mkstemp makes it.
            descriptor, name = tempfile.mkstemp(suffix=_UNFINISHED, dir=self._folder)
            os.close(descriptor)
            temporary = Path(name)
            if not write(temporary):
                raise OSError("the engine could not write it")
            _seal(temporary, {"owner": owner, "tokens": list(tokens), "note": note}, check)
            if temporary.stat().st_size > self._most_bytes:
                return False
            temporary.replace(self._path(owner))
            self._trim()
        except OSError as error:
            self._complain(error)
            return False
        finally:
            if temporary is not None:
                _remove(temporary)
        return True

    def discard(self, document: str) -> None:
        """Remove the snapshot of `document`."""
        _remove(self._path(self._owner(document)))

    def _owner(self, document: str) -> str:
        return hashlib.sha256(f"{self._model_key}\n{document}".encode("utf-8", "surrogateescape")).hexdigest()

    def _path(self, owner: str) -> Path:
        return self._folder / f"{owner[:32]}{_SUFFIX}"

    def _trim(self) -> None:
        """Remove the least recently used snapshots beyond the bounds, and what killed processes left."""
        files: list[tuple[float, int, Path]] = []
        for path in self._folder.iterdir():
            with contextlib.suppress(FileNotFoundError):  # another server cleans up at the same time
                state = path.stat()
                if path.suffix == _SUFFIX:
                    files.append((state.st_mtime, state.st_size, path))
                elif path.suffix == _UNFINISHED and time.time() - state.st_mtime > _STALE_SECONDS:
                    _remove(path)
        total = 0
        for number, (_, size, path) in enumerate(sorted(files, reverse=True)):
            total += size
            if number >= self._most_files or total > self._most_bytes:
                _remove(path)

    def _complain(self, error: OSError) -> None:
        level = logging.DEBUG if self._complained else logging.WARNING
        self._complained = True
        reason = error.strerror or error
        log.log(level, "No snapshot can be kept, so the first suggestion after a restart takes longer: %s", reason)


def _seal(path: Path, body: dict[str, Any], check: Callable[[], None]) -> None:
    """Append `body` and the hash of everything."""
    text = json.dumps(body).encode()
    with path.open("r+b") as file:
        digest = hashlib.blake2b(digest_size=32)
        state_bytes = 0
        while chunk := file.read(_CHUNK_BYTES):
            check()
            digest.update(chunk)
            state_bytes += len(chunk)
        digest.update(text)
        file.write(text + _FOOTER.pack(state_bytes, len(text), digest.digest(), _MAGIC))


def _unsealed(file: IO[bytes]) -> dict[str, Any] | None:
    """Return the body of a file whose hash is right, else None."""
    size = file.seek(0, os.SEEK_END)
    if size < _FOOTER.size:
        return None
    file.seek(size - _FOOTER.size)
    state_bytes, text_bytes, expected, magic = _FOOTER.unpack(file.read(_FOOTER.size))
    if magic != _MAGIC or state_bytes + text_bytes + _FOOTER.size != size:
        return None
    file.seek(0)
    digest = hashlib.blake2b(digest_size=32)
    left = state_bytes
    while left and (chunk := file.read(min(_CHUNK_BYTES, left))):
        digest.update(chunk)
        left -= len(chunk)
    text = file.read(text_bytes)
    digest.update(text)
    if left or digest.digest() != expected:
        return None
    body = json.loads(text)
    return body if isinstance(body, dict) else None


def _remove(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        log.debug("Left %s behind: %s", path.name, error.strerror)
