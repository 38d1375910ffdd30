"""Sequences of the KV cache on disk, so that the first suggestion after a restart needs no prefill.

::

    magic, lengths, hash of the rest | JSON: whose it is, its token ids, a note | the engine's bytes

Native code that is given nonsense may end the process or put a wrong state in place: `llama_state_seq_load_file` was
seen to abort on a truncated file. So a file is read into memory and its hash and owner are compared first, and what the
engine gets are those same bytes, which no other process can change any more. Files are written under another name and
renamed: under its own name a file is whole, or older and whole.

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
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import Any

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
"""Bytes hashed or written at once, a few milliseconds: so long may something more urgent wait."""
_MAGIC = b"sparkkv1"
_HEADER = struct.Struct("<8sQQ32s")
"""Magic, bytes of the JSON, bytes of the state, BLAKE2b-256 of both."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One verified file."""

    tokens: tuple[int, ...]
    """The token ids of the sequence."""
    note: dict[str, Any]
    """What was given to `SnapshotStore.keep`."""
    state: bytearray
    """What the engine gave."""


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
                found = _read(file, owner)
            if found is not None:
                os.utime(path)
                return found
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
        state: bytearray,
        check: Callable[[], None] = lambda: None,
    ) -> bool:
        """Keep a sequence in place of an older snapshot of `document`; False if the disk refuses or it is too large.

        `note` has to be JSON. `check` is called every few milliseconds and may raise. Unless this returns True the
        older snapshot is untouched. The first failure of the disk is a line in the log.
        """
        owner = self._owner(document)
        text = json.dumps({"owner": owner, "tokens": list(tokens), "note": note}).encode()
        if _HEADER.size + len(text) + len(state) > self._most_bytes:
            return False
        temporary: Path | None = None
        try:
            check()
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            # mkstemp makes a file that is readable by the user alone from the start.
            descriptor, name = tempfile.mkstemp(suffix=_UNFINISHED, dir=self._folder)
            temporary = Path(name)
            with os.fdopen(descriptor, "wb") as file:
                file.write(_HEADER.pack(_MAGIC, len(text), len(state), _hash(text, state, check)) + text)
                for chunk in _chunks(state):
                    check()
                    file.write(chunk)
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


def _read(file: BufferedReader, owner: str) -> Snapshot | None:
    """Return the content of a file that is complete and belongs to `owner`, else None."""
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    if size < _HEADER.size:
        return None
    magic, text_bytes, state_bytes, expected = _HEADER.unpack(file.read(_HEADER.size))
    if magic != _MAGIC or _HEADER.size + text_bytes + state_bytes != size:
        return None
    text, state = file.read(text_bytes), bytearray(state_bytes)
    if file.readinto(state) != state_bytes or _hash(text, state) != expected:
        return None
    body = json.loads(text)
    return Snapshot(tuple(body["tokens"]), body["note"], state) if body["owner"] == owner else None


def _hash(text: bytes, state: bytearray, check: Callable[[], None] = lambda: None) -> bytes:
    digest = hashlib.blake2b(b"%d " % len(text) + text, digest_size=32)
    for chunk in _chunks(state):
        check()
        digest.update(chunk)
    return digest.digest()


def _chunks(state: bytearray) -> Iterator[memoryview]:
    with memoryview(state) as view:
        for start in range(0, len(view), _CHUNK_BYTES):
            yield view[start : start + _CHUNK_BYTES]


def _remove(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        log.debug("Left %s behind: %s", path.name, error.strerror)
