"""What a run has measured so far, so that it can be interrupted and continued.

One JSON file in the work folder, replaced as a whole after each piece of work. It is only believed for the same model
file, runtime, processor and sample.
"""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from spark_lsp.models.optimize.speed import Speed

FORMAT = 1
FILE = "journal.json"
ORIGINAL = "original"
"""The name under which the unchanged model is kept."""

Hits = tuple[tuple[bool, ...], ...]


@dataclass(frozen=True, slots=True)
class Record:
    """What is known of one variant, or of the original."""

    hits: Hits = ()
    """For each task line which of its cuts were completed exactly."""
    agreed: int = 0
    predicted: int = 0
    """Offsets whose prediction was compared with the original's, 0 while none was."""
    texts: int = 0
    """Held-out texts that those offsets come from."""
    rounds: int = 0
    """Rounds that the two speeds are medians of, 0 while there are none."""
    speed: Speed | None = None
    original_speed: Speed | None = None
    """The original's speed in the same rounds."""
    bytes: int | None = None
    resident: int | None = None
    failed: str = ""
    """Why the variant cannot be used, if so."""


@dataclass(slots=True)
class Journal:
    """The records by recipe, and the original's predictions."""

    file: Path
    fingerprint: Mapping[str, Any]
    records: dict[str, Record] = field(default_factory=dict)
    predictions: list[dict[int, bytes]] = field(default_factory=list)

    @classmethod
    def open(cls, folder: Path, fingerprint: Mapping[str, Any]) -> Journal:
        """Return the journal in `folder`, empty where there is none, it is damaged or is of something else."""
        journal = cls(folder / FILE, dict(fingerprint))
        try:
            data = json.loads(journal.file.read_text("utf-8"))
            if data["format"] == FORMAT and data["fingerprint"] == journal.fingerprint:
                records = {name: _record(fields) for name, fields in data["records"].items()}
                predictions = [
                    {int(offset): piece.encode("latin-1") for offset, piece in text.items()}
                    for text in data["predictions"]
                ]
                journal.records, journal.predictions = records, predictions
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            pass
        return journal

    def of(self, name: str) -> Record:
        """Return the record of a recipe, an empty one where nothing is known."""
        return self.records.get(name, Record())

    def update(self, name: str, **changes: Any) -> Record:
        """Change the record of a recipe and save. Raises OSError."""
        record = self.records[name] = dataclasses.replace(self.of(name), **changes)
        self.save()
        return record

    def save(self) -> None:
        """Write everything, so that either the old or the new state is on the disk. Raises OSError."""
        data = {
            "format": FORMAT,
            "fingerprint": self.fingerprint,
            "records": {name: _fields(record) for name, record in self.records.items()},
            "predictions": [
                {str(offset): piece.decode("latin-1") for offset, piece in text.items()} for text in self.predictions
            ],
        }
        draft = self.file.with_name(f"{self.file.name}.{os.getpid()}.partial")
        draft.write_text(json.dumps(data) + "\n", "utf-8")
        draft.replace(self.file)


def _fields(record: Record) -> dict[str, Any]:
    fields = asdict(record)
    fields["hits"] = ["".join("01"[hit] for hit in line) for line in record.hits]
    return fields


def _record(fields: Mapping[str, Any]) -> Record:
    known = dict(fields)
    known["hits"] = tuple(tuple(mark == "1" for mark in line) for line in known["hits"])
    for name in ("speed", "original_speed"):
        if known[name] is not None:
            steps = {int(width): float(seconds) for width, seconds in known[name]["step_seconds"].items()}
            known[name] = Speed(float(known[name]["prompt_tokens_per_second"]), steps)
    return Record(**known)
