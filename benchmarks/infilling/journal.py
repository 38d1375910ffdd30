"""The answers so far, one JSON object a line, so that a run can be interrupted and continued.

The first line says what was measured: answers of another model, seed or version of the program are never mixed in.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, TextIO

import spark_lsp

Record = dict[str, Any]
Key = tuple[str, str, str]


class JournalError(Exception):
    """The journal cannot be continued; one sentence for the user."""


def journal_path(result: Path) -> Path:
    """Return where the journal of a result file is kept."""
    return result.with_name(f"{result.name}.journal")


def code_digest(folder: Path | None = None) -> str:
    """Return a value that changes when a module of the program does."""
    root = folder if folder is not None else Path(spark_lsp.__file__).parent
    digest = hashlib.sha256()
    for file in sorted(root.rglob("*.py")):
        digest.update(file.relative_to(root).as_posix().encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def key_of(record: Mapping[str, Any]) -> Key:
    """Return what makes an answer one of a kind: set, task and way."""
    return record["set"], record["id"], record["way"]


class Journal:
    """Answers by set, task and way; kept in a file where one is given. A context manager that closes the file."""

    def __init__(self, file: Path | None, about: Mapping[str, Any], *, resume: bool) -> None:
        """Read the `file` of an earlier run with `resume`, or begin it. Raises JournalError."""
        self.records: dict[Key, Record] = {}
        self._stream: TextIO | None = None
        if file is None:
            return
        try:
            if file.exists() and file.stat().st_size:
                if not resume:
                    raise JournalError(f"{file} holds an earlier run. Add --resume to continue it, or delete it.")
                self._read(file, dict(about))
            self._stream = file.open("a", encoding="utf-8")
            if not file.stat().st_size:
                self._write({"about": dict(about)})
        except OSError as error:
            raise JournalError(f"{file} cannot be used: {error.strerror}.") from error

    def add(self, record: Record) -> None:
        """Keep an answer; it is on the disk when this returns."""
        self.records[key_of(record)] = record
        self._write(record)

    def _write(self, value: Mapping[str, Any]) -> None:
        if self._stream is not None:
            self._stream.write(json.dumps(value) + "\n")
            self._stream.flush()

    def _read(self, file: Path, about: Record) -> None:
        data = file.read_bytes()
        whole = data[: data.rfind(b"\n") + 1]
        try:
            first, *rest = [json.loads(line) for line in whole.splitlines()] or [{}]
            changed = [name for name in about if first["about"].get(name) != about[name]]
            self.records = {key_of(record): record for record in rest}
        except (ValueError, KeyError, TypeError, AttributeError):
            raise JournalError(f"{file} is not a journal of this benchmark. Delete it or name another file.") from None
        if changed:
            raise JournalError(f"{file} is of another {' and '.join(changed)}. Delete it or name another file.")
        if len(whole) < len(data):  # the last line was being written when the run ended
            with file.open("r+b") as stream:
                stream.truncate(len(whole))

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._stream is not None:
            self._stream.close()
