"""The counts on disk: one small file that several servers add to.

Every change reads, adds and replaces the file under a lock, so nothing that one server counted is lost to another. A
file that cannot be read is set aside. Where the disk refuses, the caller keeps the counts and tries again later.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

from filelock import FileLock, Timeout

from spark_lsp.errors import StatisticsError
from spark_lsp.statistics.counts import Table, added, from_json, to_json

log = logging.getLogger(__name__)

DIRECTORY_VARIABLE = "SPARK_LSP_STATE"
FILE_NAME = "statistics.json"
FORMAT = 1
LOCK_SECONDS = 2.0
"""How long another server is waited for; it holds the lock for some milliseconds."""
_MOST_BYTES = 1_000_000
"""A full table is about 100 KB; a larger file is something else."""


@dataclass(frozen=True, slots=True)
class Statistics:
    """All that was counted, and since when (a date such as 2026-01-31; empty if nothing was)."""

    since: str
    table: Table


_NOTHING = Statistics("", {})


def statistics_path() -> Path:
    """Return the file of the counts: in $SPARK_LSP_STATE, or in the user's state directory; it need not exist."""
    import platformdirs

    chosen = os.environ.get(DIRECTORY_VARIABLE)
    base = Path(chosen).expanduser() if chosen else platformdirs.user_state_path("spark-lsp", appauthor=False)
    return base / FILE_NAME


def load(path: Path) -> Statistics:
    """Return what is in the file; nothing where there is none or it is damaged."""
    try:
        return _load(path)
    except OSError as error:
        log.info("The statistics in %s cannot be read: %s", path.name, error)
        return _NOTHING


def add(path: Path, table: Table, *, seconds: float = LOCK_SECONDS) -> bool:
    """Add `table` to the file, whole or not at all. False, and a line in the log, if the disk refuses.

    Waits for other servers for `seconds` at most.
    """
    if not table:
        return True
    try:
        with _alone(path, seconds):
            known = _load(path)
            if not known.since and path.exists():
                path.replace(path.with_suffix(".damaged"))
            today = datetime.now(timezone.utc).date().isoformat()
            _write(path, Statistics(known.since or today, added(known.table, table)))
    except (OSError, Timeout) as error:
        log.info("The statistics cannot be kept for now: %s", error)
        return False
    return True


def reset(path: Path) -> bool:
    """Delete the counts; whether there were any. Raises StatisticsError if the disk refuses."""
    if not path.exists():
        return False
    try:
        with _alone(path, LOCK_SECONDS):
            path.unlink(missing_ok=True)
    except (OSError, Timeout) as error:
        raise StatisticsError(
            f"{path} cannot be deleted: {getattr(error, 'strerror', None) or 'another server has locked it'}.",
            next_step="Delete it yourself.",
        ) from error
    return True


@contextlib.contextmanager
def _alone(path: Path, seconds: float) -> Iterator[None]:
    path.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(path.with_suffix(".lock"), timeout=seconds):
        yield


def _load(path: Path) -> Statistics:
    """Return what is in the file, nothing where there is none or it is damaged. Raises OSError."""
    try:
        with path.open("rb") as file:
            data = json.loads(file.read(_MOST_BYTES))
    except (FileNotFoundError, ValueError, RecursionError):
        return _NOTHING
    if not isinstance(data, dict) or data.get("format") != FORMAT or not isinstance(data.get("since"), str):
        return _NOTHING
    return Statistics(data["since"][:10], from_json(data.get("rows")))


def _write(path: Path, statistics: Statistics) -> None:
    value = {"format": FORMAT, "since": statistics.since, "rows": to_json(statistics.table)}
    descriptor, temporary = tempfile.mkstemp(prefix=path.stem, suffix=".tmp", dir=path.parent)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(value, file)
            file.flush()
            os.fsync(file.fileno())  # else a crash of the machine may leave an empty file under the final name
        Path(temporary).replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(temporary).unlink(missing_ok=True)
        raise
