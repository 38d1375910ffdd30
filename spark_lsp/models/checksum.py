"""The sha256 of a file, remembered in a stamp beside it so that a server start does not read gigabytes."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

READ_BYTES = 1 << 20  # bytes per read: large enough that the loop costs nothing beside the hash


@dataclass(frozen=True, slots=True)
class Stamp:
    """The checksum a file had when it was `size` bytes long and was last changed at `mtime_ns`."""

    size: int
    mtime_ns: int
    sha256: str


def stamp_path(file: Path) -> Path:
    """Where the stamp of `file` is kept."""
    return file.with_name(file.name + ".stamp.json")


def sha256_of(file: Path) -> str:
    """Return the sha256 of the file's content as 64 lower-case hex digits. Raises OSError."""
    digest = hashlib.sha256()
    block = memoryview(bytearray(READ_BYTES))
    with file.open("rb", buffering=0) as stream:
        while count := stream.readinto(block):
            digest.update(block[:count])
    return digest.hexdigest()


def remembered_sha256(file: Path) -> str | None:
    """Return the stamped checksum if `file` has not changed since, else None."""
    try:
        fields = json.loads(stamp_path(file).read_text("utf-8"))
        stamp = Stamp(int(fields["size"]), int(fields["mtime_ns"]), str(fields["sha256"]))
        now = file.stat()
    except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError):
        return None
    return stamp.sha256 if (stamp.size, stamp.mtime_ns) == (now.st_size, now.st_mtime_ns) else None


def stamped_sha256(file: Path, *, fresh: bool = False) -> str:
    """Return the checksum from the stamp, or read the file and stamp it; `fresh` reads it in any case.

    Raises OSError when the file cannot be read. A directory that cannot be written only costs the stamp.
    """
    if not fresh and (known := remembered_sha256(file)) is not None:
        return known
    before = file.stat()
    sha256 = sha256_of(file)
    after = file.stat()
    if (before.st_size, before.st_mtime_ns) == (after.st_size, after.st_mtime_ns):
        _write(stamp_path(file), Stamp(after.st_size, after.st_mtime_ns, sha256))
    return sha256


def _write(path: Path, stamp: Stamp) -> None:
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    with contextlib.suppress(OSError):
        draft.write_text(json.dumps(asdict(stamp)) + "\n", "utf-8")
        draft.replace(path)
