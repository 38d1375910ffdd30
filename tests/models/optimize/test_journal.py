"""The journal: what an interrupted run knows when it goes on."""

from __future__ import annotations

from pathlib import Path

import pytest

from spark_lsp.models.optimize.journal import FILE, Journal
from spark_lsp.models.optimize.speed import Speed

FINGERPRINT = {"source_sha256": "ab", "cpu": "x", "better_sha256": None}


def filled(folder: Path) -> Journal:
    journal = Journal.open(folder, FINGERPRINT)
    journal.predictions = [{3: b"\xff\0a", 9: b""}]
    journal.update("a", hits=((True, False), (True,)), agreed=3, predicted=4, texts=2, resident=7)
    journal.update("a", speed=Speed(90.0, {1: 0.05, 4: 0.1}), rounds=3)
    journal.update("b", failed="It did not load.")
    return journal


def test_everything_is_there_after_a_restart(tmp_path: Path) -> None:
    journal = filled(tmp_path)
    again = Journal.open(tmp_path, FINGERPRINT)
    assert again.records == journal.records
    assert again.predictions == journal.predictions
    assert again.of("a").hits == ((True, False), (True,))


@pytest.mark.parametrize("changed", [{"source_sha256": "cd"}, {"cpu": "y"}, {"better_sha256": "ef"}])
def test_measurements_of_something_else_are_not_believed(tmp_path: Path, changed: dict[str, str]) -> None:
    filled(tmp_path)
    assert Journal.open(tmp_path, {**FINGERPRINT, **changed}).records == {}


@pytest.mark.parametrize("content", ["", "{", "[]", '{"format": 1}', "null"])
def test_a_damaged_journal_is_an_empty_one(tmp_path: Path, content: str) -> None:
    (tmp_path / FILE).write_text(content)
    journal = Journal.open(tmp_path, FINGERPRINT)
    assert (journal.records, journal.predictions) == ({}, [])
