"""What is read back from the disk is exactly what was written for this model and document, or nothing."""

from __future__ import annotations

import logging
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spark_lsp.decoding.snapshots import SnapshotStore
from spark_lsp.errors import CancelledError

STATE = bytearray(bytes(range(256)) * 40)
NOTE = {"above": "naïve = '😀'\n", "start": 3, "end": None}
TOKENS = [5, 0, 151_659]


def keep(store: SnapshotStore, document: str = "a", **changes: Any) -> bool:
    return store.keep(document, **{"tokens": TOKENS, "note": NOTE, "state": STATE, **changes})


def only_file(folder: Path) -> Path:
    (file,) = folder.iterdir()
    return file


def test_what_was_kept_is_found_with_tokens_note_and_state(tmp_path: Path) -> None:
    assert keep(SnapshotStore(tmp_path / "new" / "folder", "model"))
    found = SnapshotStore(tmp_path / "new" / "folder", "model").find("a")
    assert found is not None
    assert (found.tokens, found.note, found.state) == (tuple(TOKENS), NOTE, STATE)


def test_nothing_is_found_where_nothing_was_kept(tmp_path: Path) -> None:
    assert SnapshotStore(tmp_path / "missing", "model").find("a") is None


@pytest.mark.parametrize(("model", "document"), [("another", "a"), ("model", "b")])
def test_another_model_or_document_finds_nothing_and_removes_nothing(tmp_path: Path, model: str, document: str) -> None:
    store = SnapshotStore(tmp_path, "model")
    keep(store)
    assert SnapshotStore(tmp_path, model).find(document) is None
    assert store.find("a") is not None


def test_a_file_under_the_name_of_another_is_not_believed(tmp_path: Path) -> None:
    store = SnapshotStore(tmp_path, "model")
    keep(store)
    content = only_file(tmp_path).read_bytes()
    keep(store, "b", tokens=[1])
    for file in tmp_path.iterdir():
        file.write_bytes(content)
    assert [store.find(document) is not None for document in "ab"] == [True, False]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no permission bits; the folder is the user's there")
def test_only_the_user_can_read_the_files(tmp_path: Path) -> None:
    folder = tmp_path / "snapshots"
    keep(SnapshotStore(folder, "model"))
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(only_file(folder).stat().st_mode) == 0o600


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_any_damage_is_noticed_and_the_file_removed(tmp_path: Path, data: st.DataObject) -> None:
    store = SnapshotStore(tmp_path / "damage", "model")
    keep(store)
    file = only_file(tmp_path / "damage")
    content = bytearray(file.read_bytes())
    kind = data.draw(st.sampled_from(["cut", "flipped", "longer", "shuffled"]))
    where = data.draw(st.integers(0, len(content) - 1) | st.integers(len(content) - 300, len(content) - 1))
    if kind == "cut":
        del content[where:]
    elif kind == "flipped":
        content[where] ^= 1 << data.draw(st.integers(0, 7))
    elif kind == "longer":
        content[where:where] = data.draw(st.binary(min_size=1, max_size=80))
    else:
        content = content[where:] + content[:where] if where else content + b"\0"
    file.write_bytes(content)
    assert store.find("a") is None
    assert not file.exists()


def test_a_folder_in_place_of_the_file_is_survived(tmp_path: Path) -> None:
    store = SnapshotStore(tmp_path, "model")
    keep(store)
    file = only_file(tmp_path)
    file.unlink()
    file.mkdir()
    assert store.find("a") is None


def test_the_least_recently_used_go_when_there_are_too_many(tmp_path: Path) -> None:
    store = SnapshotStore(tmp_path, "model", most_files=2)
    for second, document in enumerate("ab"):
        keep(store, document)
        newest = max(tmp_path.iterdir(), key=lambda path: path.stat().st_mtime_ns)
        os.utime(newest, (1000 + second, 1000 + second))
    assert store.find("a") is not None  # used now
    keep(store, "c")
    assert [store.find(document) is not None for document in "abc"] == [True, False, True]


def test_the_bytes_of_all_models_together_are_bounded(tmp_path: Path) -> None:
    for second, model in enumerate(["first", "second", "third"]):
        keep(SnapshotStore(tmp_path, model, most_bytes=int(2.5 * len(STATE))))
        for file in tmp_path.iterdir():
            if file.stat().st_mtime > 5000:
                os.utime(file, (1000 + second, 1000 + second))
    found = [SnapshotStore(tmp_path, model).find("a") is not None for model in ("first", "second", "third")]
    assert found == [False, True, True]


def test_one_that_alone_exceeds_the_bound_is_not_kept(tmp_path: Path) -> None:
    assert not keep(SnapshotStore(tmp_path, "model", most_bytes=len(STATE)))
    assert not list(tmp_path.iterdir())


@pytest.fixture
def full_disk() -> Callable[[], AbstractContextManager[None]]:
    """Let no file grow beyond 4 KB for a while: the system then refuses as it does when the disk is full."""
    resource = pytest.importorskip("resource")

    @contextmanager
    def limited() -> Iterator[None]:
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

    return limited


def test_a_full_disk_is_one_line_in_the_log_and_the_older_snapshot_stays(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, full_disk: Callable[[], AbstractContextManager[None]]
) -> None:
    store = SnapshotStore(tmp_path, "model")
    keep(store)
    with full_disk(), caplog.at_level(logging.INFO):
        kept = [keep(store, tokens=[9]) for _ in range(3)]
    assert kept == [False] * 3
    assert ["No snapshot can be kept" in record.getMessage() for record in caplog.records] == [True]
    found = store.find("a")
    assert found is not None
    assert found.tokens == tuple(TOKENS)
    assert len(list(tmp_path.iterdir())) == 1


def test_a_folder_that_cannot_be_made_is_survived(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    store = SnapshotStore(tmp_path / "file" / "snapshots", "model")
    assert not keep(store)
    assert store.find("a") is None


@pytest.mark.parametrize("calls", [0, 1, 2])
def test_an_interrupted_save_leaves_nothing(tmp_path: Path, calls: int) -> None:
    left = iter([None] * calls)

    def check() -> None:
        if next(left, "interrupted") is not None:
            raise CancelledError

    with pytest.raises(CancelledError):
        keep(SnapshotStore(tmp_path, "model"), check=check)
    assert not list(tmp_path.iterdir())


def test_what_a_killed_process_left_is_removed_after_a_while(tmp_path: Path) -> None:
    for name, age in [("old.tmp", 7200), ("new.tmp", 0), ("other.txt", 7200)]:
        (tmp_path / name).write_text("")
        then = (tmp_path / name).stat().st_mtime - age
        os.utime(tmp_path / name, (then, then))
    keep(SnapshotStore(tmp_path, "model"))
    names = {path.name for path in tmp_path.iterdir() if path.suffix != ".kv"}
    assert names == {"new.tmp", "other.txt"}


def test_a_discarded_one_is_gone(tmp_path: Path) -> None:
    store = SnapshotStore(tmp_path, "model")
    keep(store)
    store.discard("a")
    store.discard("a")
    assert store.find("a") is None
