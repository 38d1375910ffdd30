from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from spark_lsp.models import checksum
from spark_lsp.models.checksum import READ_BYTES, remembered_sha256, sha256_of, stamp_path, stamped_sha256


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "model.gguf"
    path.write_bytes(b"weights")
    return path


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The files that were hashed, in order."""
    seen: list[Path] = []

    def counted(path: Path) -> str:
        seen.append(path)
        return sha256_of(path)

    monkeypatch.setattr(checksum, "sha256_of", counted)
    return seen


@pytest.mark.parametrize("size", [0, 1, READ_BYTES - 1, READ_BYTES, READ_BYTES + 1])
def test_the_checksum_is_that_of_the_whole_content(tmp_path: Path, size: int) -> None:
    content = os.urandom(size)
    (tmp_path / "data").write_bytes(content)
    assert sha256_of(tmp_path / "data") == hashlib.sha256(content).hexdigest()


def test_an_unchanged_file_is_read_once(file: Path, reads: list[Path]) -> None:
    assert stamped_sha256(file) == stamped_sha256(file) == hashlib.sha256(b"weights").hexdigest()
    assert reads == [file]


def test_a_fresh_check_reads_the_file_in_spite_of_the_stamp(file: Path, reads: list[Path]) -> None:
    stamped_sha256(file)
    stamped_sha256(file, fresh=True)
    assert reads == [file, file]


def test_a_file_of_another_size_is_read_again(file: Path, reads: list[Path]) -> None:
    stamped_sha256(file)
    before = file.stat()
    file.write_bytes(b"other weights")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert stamped_sha256(file) == hashlib.sha256(b"other weights").hexdigest()
    assert len(reads) == 2


def test_a_file_changed_later_at_the_same_size_is_read_again(file: Path, reads: list[Path]) -> None:
    stamped_sha256(file)
    before = file.stat()
    file.write_bytes(b"WEIGHTS")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns + 1))
    assert stamped_sha256(file) == hashlib.sha256(b"WEIGHTS").hexdigest()
    assert len(reads) == 2


@pytest.mark.parametrize(
    "damage",
    [
        "",
        "[]",
        "null",
        "{}",
        '{"size": "x"}',
        '{"size": 7, "mtime_ns": null}',
        '{"size": Infinity}',
        "[" * 99_999,
        "\0",
    ],
)
def test_a_damaged_stamp_counts_as_none(file: Path, damage: str) -> None:
    stamped_sha256(file)
    stamp_path(file).write_text(damage)
    assert remembered_sha256(file) is None
    assert stamped_sha256(file) == hashlib.sha256(b"weights").hexdigest()
    assert remembered_sha256(file) is not None


def test_a_stamp_that_cannot_be_written_only_costs_the_stamp(file: Path, reads: list[Path]) -> None:
    stamp_path(file).mkdir()
    assert stamped_sha256(file) == stamped_sha256(file) == hashlib.sha256(b"weights").hexdigest()
    assert len(reads) == 2


def test_a_file_that_changes_while_it_is_read_is_not_stamped(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def changing(path: Path) -> str:
        sha256 = sha256_of(path)
        path.write_bytes(b"longer than before")
        return sha256

    monkeypatch.setattr(checksum, "sha256_of", changing)
    stamped_sha256(file)
    assert remembered_sha256(file) is None
