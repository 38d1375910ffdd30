from __future__ import annotations

import errno
from collections.abc import Callable
from pathlib import Path
from typing import IO

import huggingface_hub.constants
import pytest

from spark_lsp.errors import DownloadError
from spark_lsp.models import disk, hub
from spark_lsp.models.progress import Transferred

from .stand_ins import Events, Hub, Stopped, make_card, make_gguf, stop

CONTENT = make_gguf(10_000)

ServeHub = Callable[[bytes], Hub]


@pytest.fixture
def staging(tmp_path: Path) -> Path:
    path = tmp_path / "tiny.partial"
    path.mkdir()
    return path


def test_the_file_arrives_whole_and_the_bytes_are_reported(serve_hub: ServeHub, staging: Path) -> None:
    served, events = serve_hub(CONTENT), Events()
    assert hub.fetch(make_card(CONTENT), staging, events).read_bytes() == CONTENT
    assert served.ranges == [None]
    assert events.transferred[0] == 0
    assert events.transferred[-1] == len(CONTENT)
    assert events.transferred == sorted(events.transferred)
    assert len(events.transferred) > 10
    assert {event.total for event in events.seen if isinstance(event, Transferred)} == {len(CONTENT)}


def interrupted(serve_hub: ServeHub, staging: Path) -> tuple[Hub, int]:
    """A hub, and the number of bytes that a first, interrupted download has left."""
    served = serve_hub(CONTENT)
    with pytest.raises(Stopped):
        hub.fetch(make_card(CONTENT), staging, Events(when=lambda event: event.done > 5000, then=stop))
    left = (staging / hub.PARTIAL).stat().st_size
    assert 5000 < left < len(CONTENT)
    return served, left


def test_an_interrupted_download_goes_on_where_it_stopped(serve_hub: ServeHub, staging: Path) -> None:
    served, left = interrupted(serve_hub, staging)
    events = Events()
    assert hub.fetch(make_card(CONTENT), staging, events).read_bytes() == CONTENT
    assert served.ranges[-1] == f"bytes={left}-"
    assert events.transferred[0] == left


def test_it_also_goes_on_at_another_endpoint_that_has_the_same_file(serve_hub: ServeHub, staging: Path) -> None:
    _, left = interrupted(serve_hub, staging)
    other = serve_hub(CONTENT)
    assert hub.fetch(make_card(CONTENT), staging, Events()).read_bytes() == CONTENT
    assert other.ranges == [f"bytes={left}-"]


def test_it_starts_anew_when_the_file_on_the_hub_is_another_one(serve_hub: ServeHub, staging: Path) -> None:
    _, _ = interrupted(serve_hub, staging)
    changed = make_gguf(10_000, seed=5)
    other = serve_hub(changed)
    card = make_card(changed, sha256=None, bytes=None)
    assert hub.fetch(card, staging, Events()).read_bytes() == changed
    assert other.ranges == [None]


@pytest.mark.parametrize("damage", ["", "[1]", "{}"])
def test_it_starts_anew_when_its_notes_are_lost(serve_hub: ServeHub, staging: Path, damage: str) -> None:
    served, _ = interrupted(serve_hub, staging)
    (staging / hub.JOURNAL).write_text(damage)
    assert hub.fetch(make_card(CONTENT), staging, Events()).read_bytes() == CONTENT
    assert served.ranges[-1] is None


def test_a_server_that_ignores_the_range_gives_the_whole_file_again(serve_hub: ServeHub, staging: Path) -> None:
    served, _ = interrupted(serve_hub, staging)
    served.ignore_range = True
    assert hub.fetch(make_card(CONTENT), staging, Events()).read_bytes() == CONTENT


def test_a_connection_that_breaks_is_taken_up_again(serve_hub: ServeHub, staging: Path) -> None:
    served = serve_hub(CONTENT)
    served.drop_after, served.drops = 7000, 3
    assert hub.fetch(make_card(CONTENT), staging, Events()).read_bytes() == CONTENT
    assert len(served.ranges) == 4
    assert None not in served.ranges[1:]


def test_a_connection_that_brings_nothing_any_more_is_given_up_and_what_came_is_kept(
    serve_hub: ServeHub, staging: Path
) -> None:
    served = serve_hub(CONTENT)
    with pytest.raises(Stopped):
        hub.fetch(make_card(CONTENT), staging, Events(when=lambda event: event.done > 5000, then=stop))
    before = (staging / hub.PARTIAL).stat().st_size
    served.ranges.clear()
    served.drop_after, served.drops = 0, 1000
    with pytest.raises(DownloadError, match="The connection to the hub broke off") as raised:
        hub.fetch(make_card(CONTENT), staging, Events())
    assert "what has arrived is kept" in raised.value.next_step
    assert len(served.ranges) == hub.RETRIES + 1
    assert (staging / hub.PARTIAL).stat().st_size == before


@pytest.mark.parametrize(("status", "attempts"), [(403, 1), (404, 1), (500, hub.RETRIES + 1)])
def test_a_refusal_in_the_middle_is_final_unless_the_server_itself_is_in_trouble(
    serve_hub: ServeHub, staging: Path, status: int, attempts: int
) -> None:
    served = serve_hub(CONTENT)
    served.get_status = status
    with pytest.raises(DownloadError):
        hub.fetch(make_card(CONTENT), staging, Events())
    assert len(served.ranges) == attempts


def test_the_users_token_is_sent(serve_hub: ServeHub, staging: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_of_the_user")
    served = serve_hub(CONTENT)
    hub.fetch(make_card(CONTENT), staging, Events())
    assert served.tokens == ["Bearer hf_of_the_user"]


@pytest.mark.parametrize(
    ("status", "error_code", "sentence"),
    [
        (403, "GatedRepo", "accept the terms of somebody/tiny-GGUF"),
        (401, "RepoNotFound", "does not show somebody/tiny-GGUF"),
        (404, "EntryNotFound", "has no file somebody/tiny-GGUF/tiny-q8_0.gguf"),
        (503, None, "answered 503"),
    ],
)
def test_a_refusal_is_explained(
    serve_hub: ServeHub, staging: Path, status: int, error_code: str | None, sentence: str
) -> None:
    served = serve_hub(CONTENT)
    served.status, served.error_code = status, error_code
    with pytest.raises(DownloadError, match=sentence) as raised:
        hub.fetch(make_card(CONTENT), staging, Events())
    assert raised.value.next_step
    assert served.ranges == []


@pytest.mark.parametrize("differs", ["size", "checksum"])
def test_a_file_that_was_replaced_on_the_hub_is_not_even_downloaded(
    serve_hub: ServeHub, staging: Path, differs: str
) -> None:
    served = serve_hub(CONTENT)
    expected = CONTENT + b"more" if differs == "size" else make_gguf(10_000, seed=1)
    with pytest.raises(DownloadError, match="now holds another file"):
        hub.fetch(make_card(expected), staging, Events())
    assert served.ranges == []


@pytest.mark.usefixtures("dead_hub")
def test_a_dead_network_is_one_sentence(staging: Path) -> None:
    with pytest.raises(DownloadError, match="The hub cannot be reached") as raised:
        hub.fetch(make_card(CONTENT), staging, Events())
    assert "HF_ENDPOINT" in raised.value.next_step
    assert list(staging.iterdir()) == []


@pytest.mark.usefixtures("silent_hub")
def test_a_hub_that_never_answers_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub, "GRACE_S", 0.1)
    with pytest.raises(DownloadError, match="cannot be reached"):
        hub.locate(make_card(CONTENT), 0.1)


def test_a_call_that_does_not_heed_its_timeout_is_left_behind() -> None:
    import threading

    never = threading.Event()
    with pytest.raises(TimeoutError):
        hub._within(0.05, never.wait)
    never.set()


def test_offline_mode_is_respected(serve_hub: ServeHub, staging: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    served = serve_hub(CONTENT)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(DownloadError, match="HF_HUB_OFFLINE"):
        hub.fetch(make_card(CONTENT), staging, Events())
    assert served.ranges == []


def test_a_disk_that_fills_up_is_the_disks_failure_and_what_arrived_is_kept(
    serve_hub: ServeHub, staging: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    served = serve_hub(CONTENT)
    write = hub._write_at

    def full_at_5000(target: IO[bytes], offset: int, block: bytes) -> None:
        if offset > 5000:
            raise OSError(errno.ENOSPC, "No space left on device")
        write(target, offset, block)

    with monkeypatch.context() as patch:
        patch.setattr(hub, "_write_at", full_at_5000)
        with pytest.raises(OSError, match="No space left") as raised:
            hub.fetch(make_card(CONTENT), staging, Events())
    assert raised.value.errno == errno.ENOSPC
    assert len(served.ranges) == 1
    assert hub.fetch(make_card(CONTENT), staging, Events()).read_bytes() == CONTENT
    assert served.ranges[1] is not None


def test_too_little_room_is_known_before_the_download(
    serve_hub: ServeHub, staging: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    served = serve_hub(CONTENT)
    monkeypatch.setattr(disk, "SPARE_BYTES", 1 << 60)
    with pytest.raises(disk.NotEnoughRoomError):
        hub.fetch(make_card(CONTENT), staging, Events())
    assert served.ranges == []


def test_nothing_is_printed(serve_hub: ServeHub, staging: Path, capfd: pytest.CaptureFixture[str]) -> None:
    serve_hub(CONTENT)
    hub.fetch(make_card(CONTENT), staging, Events())
    assert capfd.readouterr() == ("", "")


def test_a_file_in_the_librarys_own_cache_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path))
    card = make_card(CONTENT)
    assert hub.cached_copy(card) is None
    repository = tmp_path / "models--somebody--tiny-GGUF"
    file = repository / "snapshots" / "abc" / card.file
    file.parent.mkdir(parents=True)
    file.write_bytes(CONTENT)
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text("abc")
    assert hub.cached_copy(card) == file
