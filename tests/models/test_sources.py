from __future__ import annotations

import errno
import os
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable
from pathlib import Path

import huggingface_hub.constants
import pytest

from spark_lsp.errors import DownloadError, ModelFileError, ModelNotFoundError
from spark_lsp.models import checksum, disk, hub, mirror, sources
from spark_lsp.models.checksum import remembered_sha256
from spark_lsp.models.progress import Transferred
from spark_lsp.models.sources import pull, pull_from
from spark_lsp.models.store import model_path, staging_path

from .stand_ins import Events, Hub, Stopped, Wheelhouse, make_card, make_gguf, stop

CONTENT = make_gguf(3000)
OTHER = make_gguf(3000, seed=1)  # of the same size

ServeHub = Callable[[bytes], Hub]


@pytest.fixture(autouse=True)
def no_cache_of_the_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "hf-cache"))


def names_in(directory: Path) -> set[str]:
    return {path.name for path in directory.iterdir() if not path.name.endswith(".lock")}


FINISHED = {"tiny-q8_0.gguf", "tiny-q8_0.gguf.stamp.json"}


@pytest.mark.usefixtures("instant_pip")
class TestPull:
    def test_from_the_hub_the_verified_file_gets_its_final_name_and_a_stamp(
        self, serve_hub: ServeHub, directory: Path
    ) -> None:
        serve_hub(CONTENT)
        card = make_card(CONTENT)
        file = pull(card)
        assert file == model_path(card)
        assert file.read_bytes() == CONTENT
        assert remembered_sha256(file) == card.sha256
        assert names_in(directory) == FINISHED

    @pytest.mark.usefixtures("dead_hub")
    def test_from_the_mirror_likewise(self, wheelhouse: Wheelhouse, directory: Path) -> None:
        card = make_card(CONTENT, packages=wheelhouse.split(CONTENT, 2))
        assert pull(card, source="mirror").read_bytes() == CONTENT
        assert names_in(directory) == FINISHED

    def test_a_model_that_is_there_is_not_downloaded_again(self, serve_hub: ServeHub, directory: Path) -> None:
        served = serve_hub(CONTENT)
        events = Events()
        assert pull(make_card(CONTENT)) == pull(make_card(CONTENT), progress=events)
        assert len(served.ranges) == 1
        assert events.seen == []

    def test_a_wrong_file_is_replaced(self, serve_hub: ServeHub, directory: Path) -> None:
        serve_hub(CONTENT)
        card = make_card(CONTENT)
        directory.mkdir()
        model_path(card).write_bytes(OTHER)
        assert pull(card).read_bytes() == CONTENT

    def test_another_directory_can_be_given(self, serve_hub: ServeHub, directory: Path, tmp_path: Path) -> None:
        serve_hub(CONTENT)
        assert pull(make_card(CONTENT), directory=tmp_path / "there").parent == tmp_path / "there"
        assert not directory.exists()

    @pytest.mark.parametrize("source", ["hub", "mirror"])
    def test_the_wrong_content_never_gets_the_final_name(
        self, serve_hub: ServeHub, wheelhouse: Wheelhouse, directory: Path, source: sources.Source
    ) -> None:
        serve_hub(OTHER).etag = None  # without the hub's own checksum only ours is left
        card = make_card(CONTENT, packages=wheelhouse.split(OTHER, 2))
        with pytest.raises(ModelFileError, match="delivered something else than tiny-q8_0") as raised:
            pull(card, source=source)
        assert "--from PATH" in raised.value.next_step
        assert names_in(directory) <= {staging_path(card).name}
        assert not list(staging_path(card).glob(f"{source}.*"))

    def test_a_file_without_a_published_checksum_is_compared_with_the_hubs_own(
        self, serve_hub: ServeHub, directory: Path
    ) -> None:
        served = serve_hub(CONTENT)
        card = make_card(CONTENT, bytes=None, sha256=None)
        served.etag = "0" * 64
        with pytest.raises(ModelFileError, match="something else"):
            pull(card)
        assert not model_path(card).exists()
        served.etag = make_card(CONTENT).sha256
        assert pull(card).read_bytes() == CONTENT

    def test_a_file_without_any_checksum_must_be_a_complete_gguf(self, serve_hub: ServeHub, directory: Path) -> None:
        served = serve_hub(CONTENT[:-1])
        served.etag = None
        card = make_card(CONTENT, bytes=None, sha256=None)
        with pytest.raises(ModelFileError, match="something else"):
            pull(card)
        assert not model_path(card).exists()

    @pytest.mark.parametrize("source", ["hub", "mirror"])
    def test_an_interrupted_pull_goes_on_and_until_then_there_is_no_file(
        self, serve_hub: ServeHub, wheelhouse: Wheelhouse, directory: Path, source: sources.Source
    ) -> None:
        serve_hub(CONTENT)
        card = make_card(CONTENT, packages=wheelhouse.split(CONTENT, 3))
        third = len(CONTENT) // 3
        with pytest.raises(Stopped):
            pull(card, source=source, progress=Events(when=lambda event: event.done > 1.5 * third, then=stop))
        assert names_in(directory) == {"tiny-q8_0.partial"}
        events = Events()
        assert pull(card, source=source, progress=events).read_bytes() == CONTENT
        assert events.transferred[0] >= third
        assert names_in(directory) == FINISHED


@pytest.mark.usefixtures("instant_pip")
class TestAuto:
    @pytest.mark.usefixtures("dead_hub", "directory")
    def test_a_dead_hub_leads_to_the_mirror_and_that_is_said(self, wheelhouse: Wheelhouse) -> None:
        events = Events()
        card = make_card(CONTENT, packages=wheelhouse.split(CONTENT, 2))
        assert pull(card, progress=events).read_bytes() == CONTENT
        assert "The hub cannot be reached" in events.notices[0]
        assert "Going on with the package mirror" in events.notices[0]

    @pytest.mark.usefixtures("silent_hub", "directory")
    def test_so_does_a_silent_hub_which_is_asked_with_the_short_probe(
        self, wheelhouse: Wheelhouse, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        asked: list[float] = []
        within = hub._within
        monkeypatch.setattr(hub, "_within", lambda limit_s, call: (asked.append(limit_s), within(0.1, call))[1])
        card = make_card(CONTENT, packages=wheelhouse.split(CONTENT, 2))
        assert pull(card).read_bytes() == CONTENT
        assert asked == [hub.PROBE_S + hub.GRACE_S]

    def test_so_does_a_hub_that_holds_something_else(
        self, serve_hub: ServeHub, wheelhouse: Wheelhouse, directory: Path
    ) -> None:
        serve_hub(OTHER).etag = None
        card = make_card(CONTENT, packages=wheelhouse.split(CONTENT, 2))
        events = Events()
        assert pull(card, progress=events).read_bytes() == CONTENT
        assert any("something else" in notice for notice in events.notices)

    def test_so_does_offline_mode(
        self, serve_hub: ServeHub, wheelhouse: Wheelhouse, directory: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        served = serve_hub(CONTENT)
        monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
        card = make_card(CONTENT, packages=wheelhouse.split(CONTENT, 2))
        assert pull(card).read_bytes() == CONTENT
        assert served.ranges == []

    def test_a_working_hub_leaves_the_mirror_alone(
        self, serve_hub: ServeHub, wheelhouse: Wheelhouse, directory: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        serve_hub(CONTENT)
        monkeypatch.setattr(mirror, "fetch", lambda *args: pytest.fail("the mirror was asked"))
        assert pull(make_card(CONTENT, packages=wheelhouse.split(CONTENT, 2))).read_bytes() == CONTENT

    @pytest.mark.usefixtures("dead_hub", "directory")
    def test_when_both_fail_both_reasons_are_given(self, wheelhouse: Wheelhouse) -> None:
        with pytest.raises(DownloadError) as raised:
            pull(make_card(CONTENT, packages=("spark-absent==1.0",)))
        assert "The hub cannot be reached" in str(raised.value)
        assert "does not have spark-absent==1.0" in str(raised.value)
        assert "--from PATH" in raised.value.next_step

    @pytest.mark.usefixtures("dead_hub", "directory")
    def test_without_a_mirror_the_hubs_own_reason_is_given(self) -> None:
        with pytest.raises(DownloadError, match=r"^The hub cannot be reached"):
            pull(make_card(CONTENT))

    def test_a_full_disk_does_not_lead_to_the_mirror(
        self, serve_hub: ServeHub, wheelhouse: Wheelhouse, directory: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        serve_hub(CONTENT)
        monkeypatch.setattr(disk, "SPARE_BYTES", 1 << 60)
        events = Events()
        with pytest.raises(DownloadError, match="not enough room"):
            pull(make_card(CONTENT, packages=wheelhouse.split(CONTENT, 2)), progress=events)
        assert events.notices == []

    @pytest.mark.usefixtures("dead_hub")
    @pytest.mark.parametrize("good", [True, False])
    def test_the_librarys_own_cache_is_used_when_its_file_is_right(
        self, directory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, good: bool
    ) -> None:
        cached = tmp_path / "blob"
        cached.write_bytes(CONTENT if good else OTHER)
        monkeypatch.setattr(hub, "cached_copy", lambda card: cached)
        if good:
            assert pull(make_card(CONTENT)).read_bytes() == CONTENT
        else:
            with pytest.raises(DownloadError, match="cannot be reached"):
                pull(make_card(CONTENT))


class TestDiskFailures:
    @pytest.mark.parametrize(
        ("number", "sentence"),
        [
            (errno.ENOSPC, "The disk that holds .* is full"),
            (errno.EDQUOT, "The disk that holds .* is full"),
            (errno.EACCES, "cannot be written"),
            (errno.EROFS, "cannot be written"),
            (errno.EIO, "failed: Input/output error"),
        ],
    )
    def test_each_is_one_sentence_with_a_next_step(
        self, directory: Path, monkeypatch: pytest.MonkeyPatch, number: int, sentence: str
    ) -> None:
        def fail(*args: object, **options: object) -> Path:
            raise OSError(number, os.strerror(number))

        monkeypatch.setattr(hub, "fetch", fail)
        with pytest.raises(DownloadError, match=sentence) as raised:
            pull(make_card(CONTENT))
        assert "SPARK_LSP_MODELS" in raised.value.next_step
        assert str(directory) in str(raised.value)

    def test_a_models_directory_that_is_a_file_is_explained(self, directory: Path) -> None:
        directory.write_text("not a directory")
        with pytest.raises(DownloadError, match="failed: "):
            pull(make_card(CONTENT))

    def test_a_read_only_directory_serves_what_it_holds(
        self, serve_hub: ServeHub, directory: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        serve_hub(CONTENT)
        file = pull(make_card(CONTENT))
        monkeypatch.setattr(sources, "exclusive", lambda *args, **options: pytest.fail("wrote a lock"))
        assert pull(make_card(CONTENT)) == file


class TestConcurrentPulls:
    def test_the_second_thread_waits_and_then_finds_the_file(self, serve_hub: ServeHub, directory: Path) -> None:
        served = serve_hub(CONTENT)
        downloading, second_waits = threading.Event(), threading.Event()
        results: list[Path] = []

        def first_progress(event: object) -> None:
            if isinstance(event, Transferred) and not downloading.is_set():
                downloading.set()
                assert second_waits.wait(60)

        def second_progress(event: object) -> None:
            assert "waiting for it" in str(event)
            second_waits.set()

        first = threading.Thread(target=lambda: results.append(pull(make_card(CONTENT), progress=first_progress)))
        first.start()
        assert downloading.wait(60)
        second = threading.Thread(target=lambda: results.append(pull(make_card(CONTENT), progress=second_progress)))
        second.start()
        first.join(60)
        second.join(60)
        assert results == [model_path(make_card(CONTENT))] * 2
        assert served.ranges == [None]

    def test_another_process_is_waited_for(self, serve_hub: ServeHub, directory: Path) -> None:
        serve_hub(CONTENT)
        card = make_card(CONTENT)
        told: list[str] = []
        with lock_holder(directory) as holder:

            def release(event: object) -> None:
                if not told:
                    told.append(str(event))
                    assert not model_path(card).exists()
                    holder.communicate("\n", timeout=60)

            assert pull(card, progress=release).read_bytes() == CONTENT
        assert "Another process is downloading tiny-q8_0" in told[0]

    def test_the_lock_ends_with_a_process_that_is_killed(self, serve_hub: ServeHub, directory: Path) -> None:
        serve_hub(CONTENT)
        events = Events()
        with lock_holder(directory) as holder:
            holder.kill()
            holder.communicate(timeout=60)
        assert pull(make_card(CONTENT), progress=events).read_bytes() == CONTENT
        assert not any("Another process" in notice for notice in events.notices)


def lock_holder(directory: Path) -> subprocess.Popen[str]:
    """Start a process that holds the lock of the model until it reads a line; it holds it on return."""
    directory.mkdir()
    script = """
        import sys
        from spark_lsp.models.catalogue import ModelCard
        from spark_lsp.models.store import exclusive
        with exclusive(ModelCard("tiny-q8_0", "", "", None, None, "", True, "", 0)):
            print("held", flush=True)
            sys.stdin.readline()
    """
    command = [sys.executable, "-c", textwrap.dedent(script)]
    holder = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    return holder


class TestPullFrom:
    @pytest.mark.parametrize("links", [True, False], ids=["hard links", "no hard links"])
    def test_a_local_file_is_taken_in_after_a_check(
        self, directory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, links: bool
    ) -> None:
        given = tmp_path / "mine.gguf"
        given.write_bytes(CONTENT)
        if not links:

            def refuse(self: Path, target: Path) -> None:
                raise OSError(errno.EXDEV, "Invalid cross-device link")

            monkeypatch.setattr(Path, "hardlink_to", refuse)
        file = pull_from(make_card(CONTENT), given)
        assert file.read_bytes() == CONTENT
        assert file.samefile(given) == links
        assert remembered_sha256(file) == make_card(CONTENT).sha256
        assert names_in(directory) == FINISHED
        assert given.read_bytes() == CONTENT

    def test_a_symbolic_link_is_followed(self, directory: Path, tmp_path: Path) -> None:
        (tmp_path / "real.gguf").write_bytes(CONTENT)
        (tmp_path / "link.gguf").symlink_to(tmp_path / "real.gguf")
        file = pull_from(make_card(CONTENT), tmp_path / "link.gguf")
        assert not file.is_symlink()
        assert file.read_bytes() == CONTENT

    @pytest.mark.parametrize("content", [OTHER, CONTENT[:-1], b""])
    def test_another_file_is_refused(self, directory: Path, tmp_path: Path, content: bytes) -> None:
        given = tmp_path / "mine.gguf"
        given.write_bytes(content)
        card = make_card(CONTENT)
        with pytest.raises(ModelFileError, match="is not the published file of tiny-q8_0"):
            pull_from(card, given)
        assert not model_path(card).exists()
        assert names_in(directory) == set()
        assert given.exists()

    def test_a_missing_file_is_not_found(self, directory: Path, tmp_path: Path) -> None:
        with pytest.raises(ModelNotFoundError, match="There is no file"):
            pull_from(make_card(CONTENT), tmp_path / "absent.gguf")
        assert not directory.exists()

    def test_a_copy_that_does_not_fit_is_not_started(
        self, directory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        given = tmp_path / "mine.gguf"
        given.write_bytes(CONTENT)

        def refuse(self: Path, target: Path) -> None:
            raise OSError(errno.EXDEV, "Invalid cross-device link")

        monkeypatch.setattr(Path, "hardlink_to", refuse)
        monkeypatch.setattr(disk, "SPARE_BYTES", 1 << 60)
        with pytest.raises(DownloadError, match=r"not enough room .* are needed and .* are free"):
            pull_from(make_card(CONTENT), given)
        assert not model_path(make_card(CONTENT)).exists()


def test_a_crash_between_check_and_rename_leaves_no_file_under_the_final_name(
    serve_hub: ServeHub, directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    served = serve_hub(CONTENT)
    card = make_card(CONTENT)
    real = checksum.sha256_of

    def crash(path: Path) -> str:
        real(path)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(checksum, "sha256_of", crash)
        with pytest.raises(KeyboardInterrupt):
            pull(card)
    assert not model_path(card).exists()
    assert pull(card).read_bytes() == CONTENT
    assert served.ranges == [None]  # the whole file was there already; nothing was downloaded twice
