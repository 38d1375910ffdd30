"""The counts on disk: nothing lost, nothing broken, whatever the disk does."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from spark_lsp.errors import StatisticsError
from spark_lsp.statistics import report, store
from spark_lsp.statistics.counts import MOST_ROWS, OTHER, Counts, Row, added, from_json, to_json, total

PYTHON = Row("python", "document")
ONE = {PYTHON: Counts(shown=4, accepted=1, partially_accepted=2, kept=1, shown_characters=40, accepted_characters=9)}
ROOT = Path(__file__).parents[2]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "statistics.json"


def test_what_is_added_is_there_afterwards(path: Path) -> None:
    assert store.load(path).table == {}
    assert store.add(path, ONE)
    assert store.add(path, {PYTHON: Counts(shown=1), Row("rust", "none"): Counts(shown=2)})
    statistics = store.load(path)
    assert statistics.table[PYTHON].shown == 5
    assert statistics.table[Row("rust", "none")] == Counts(shown=2)
    assert len(statistics.since) == len("2026-01-31")
    assert {file.name for file in path.parent.iterdir()} <= {"statistics.json", "statistics.lock"}


def test_nothing_to_add_touches_no_disk(path: Path) -> None:
    assert store.add(path, {})
    assert not path.parent.exists()


def test_several_processes_lose_nothing(path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from spark_lsp.statistics import store;"
        "from spark_lsp.statistics.counts import Counts, Row;"
        "[store.add(Path(sys.argv[1]), {Row('python', 'document'): Counts(shown=1)}, seconds=60) or sys.exit(1)"
        " for _ in range(20)]"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    running = [subprocess.Popen([sys.executable, "-c", code, str(path)], env=environment) for _ in range(4)]
    assert [process.wait(120) for process in running] == [0] * 4
    assert store.load(path).table == {PYTHON: Counts(shown=80)}


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"\xff\xfe",
        b'{"format": 2, "since": "2026-01-01", "rows": []}',
        b'{"format": 1, "since": 5}',
        b"[" * 100_000,
    ],
)
def test_a_damaged_file_is_set_aside(path: Path, content: bytes) -> None:
    path.parent.mkdir()
    path.write_bytes(content)
    assert store.load(path).table == {}
    assert store.add(path, ONE)
    assert store.load(path).table == ONE
    assert path.with_suffix(".damaged").read_bytes() == content


@pytest.mark.parametrize(
    "row",
    [
        5,
        {"language": 5, "drafter": "x", "shown": 1},
        {"language": "python"},
        {"language": "python", "drafter": "document", "shown": -1},
        {"language": "python", "drafter": "document", "shown": True},
        {"language": "python", "drafter": "document", "shown": 2**60},
        {"language": "python", "drafter": "document", "shown": "many"},
    ],
)
def test_a_row_that_is_no_row_counts_nothing_and_the_others_stay(row: Any) -> None:
    assert total(from_json([row, *to_json(ONE)]).values()) == ONE[PYTHON]


def test_a_disk_that_refuses_loses_nothing_that_is_there(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store.add(path, ONE)

    def full(*arguments: Any, **options: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(json, "dump", full)
    assert not store.add(path, ONE)
    monkeypatch.undo()
    assert store.load(path).table == ONE
    assert not list(path.parent.glob("*.tmp"))


def test_a_directory_that_cannot_be_made_is_no_failure(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file")
    path = tmp_path / "state" / "statistics.json"
    assert store.load(path).table == {}
    assert not store.add(path, ONE)
    assert not store.reset(path)


def test_a_server_that_does_not_let_go_of_the_file_is_not_waited_for_long(path: Path) -> None:
    store.add(path, ONE)
    with store.FileLock(path.with_suffix(".lock")):
        assert not store.add(path, ONE, seconds=0)
    assert store.load(path).table == ONE


def test_resetting(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not store.reset(path)
    store.add(path, ONE)
    assert store.reset(path)
    assert store.load(path).table == {}
    store.add(path, ONE)

    def refused(*arguments: Any, **options: Any) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "unlink", refused)
    with pytest.raises(StatisticsError, match=r"cannot be deleted: Permission denied\. Delete it yourself"):
        store.reset(path)


def test_a_table_has_a_greatest_size() -> None:
    many = {Row(f"language {number}", "none"): Counts(shown=1) for number in range(2 * MOST_ROWS)}
    table = added({}, many)
    assert len(table) == MOST_ROWS + 1
    assert table[Row(OTHER, OTHER)].shown == MOST_ROWS
    assert total(table.values()).shown == 2 * MOST_ROWS


def test_the_report_shows_shares_by_language_and_by_drafter() -> None:
    table = {**ONE, Row("python", "none"): Counts(shown=6, accepted=2), Row("rust", "none"): Counts(shown=1)}
    text = report.as_text(store.Statistics("2026-01-31", table))
    assert text.splitlines() == [
        "Since 2026-01-31, on this machine only:",
        "",
        "language  shown  accepted  in part      kept",
        "python       10  3 (30 %)        2  1 (33 %)",
        "rust          1   0 (0 %)        0         0",
        "all          11  3 (27 %)        2  1 (33 %)",
        "",
        "drafter   shown  accepted  in part       kept",
        "none          7  2 (29 %)        0    0 (0 %)",
        "document      4  1 (25 %)        2  1 (100 %)",
        "all          11  3 (27 %)        2   1 (33 %)",
    ]
    assert report.as_text(store.Statistics("", {})) == "Nothing was counted yet."


def test_the_report_as_json_has_rates_and_rows() -> None:
    data = json.loads(json.dumps(report.as_json(store.Statistics("2026-01-31", ONE))))
    assert (data["since"], data["acceptanceRate"], data["keptRate"]) == ("2026-01-31", 0.25, 1.0)
    assert from_json(data["rows"]) == ONE
    assert report.as_json(store.Statistics("", {}))["acceptanceRate"] is None
