from __future__ import annotations

import os
from pathlib import Path

import pytest

from spark_lsp.errors import ModelFileError, ModelNotFoundError, UnknownModelError
from spark_lsp.models import catalogue, checksum, store, verify
from spark_lsp.models.catalogue import ModelCard
from spark_lsp.models.checksum import sha256_of, stamp_path
from spark_lsp.models.store import FileState, exclusive, installed, model_path, models_directory, remove, resolve

from .stand_ins import make_card, make_gguf

CONTENT = make_gguf()


@pytest.fixture
def card(monkeypatch: pytest.MonkeyPatch) -> ModelCard:
    """The only model of the catalogue."""
    return in_catalogue(monkeypatch, make_card(CONTENT))


def in_catalogue(monkeypatch: pytest.MonkeyPatch, card: ModelCard) -> ModelCard:
    for module in (catalogue, store, verify):
        monkeypatch.setattr(module, "CATALOGUE", (card,))
    return card


def install(card: ModelCard, directory: Path, content: bytes = CONTENT) -> Path:
    directory.mkdir(exist_ok=True)
    file = model_path(card, directory)
    file.write_bytes(content)
    return file


class TestDirectory:
    def test_an_override_wins_over_the_environment(self, directory: Path, tmp_path: Path) -> None:
        assert models_directory(tmp_path / "mine") == tmp_path / "mine"
        assert models_directory() == directory

    def test_without_either_it_is_in_the_users_data_directory(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("SPARK_LSP_MODELS", " ")
        assert models_directory().parts[-2:] == ("spark-lsp", "models")
        assert models_directory().is_absolute()

    def test_home_and_relative_paths_are_made_absolute(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.setenv("SPARK_LSP_MODELS", "~/models")
        assert models_directory() == Path("~/models").expanduser()
        monkeypatch.chdir(tmp_path)
        assert models_directory(Path("here")) == tmp_path / "here"


class TestResolve:
    def test_a_name_gives_the_verified_file(self, card: ModelCard, directory: Path) -> None:
        file = install(card, directory)
        assert resolve("tiny-q8_0") == resolve("TINY") == resolve("tiny-q8_0.gguf") == file

    def test_the_second_time_nothing_is_read(
        self, card: ModelCard, directory: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        file = install(card, directory)
        resolve("tiny")
        monkeypatch.setattr(checksum, "sha256_of", lambda path: pytest.fail(f"{path} was read again"))
        assert resolve("tiny") == file

    def test_a_file_that_was_changed_after_the_check_is_refused(self, card: ModelCard, directory: Path) -> None:
        file = install(card, directory)
        resolve("tiny")
        before = file.stat()
        file.write_bytes(CONTENT[:-1] + b"\1")
        os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns + 1000))
        with pytest.raises(ModelFileError, match="not the published tiny-q8_0: its sha256 is") as raised:
            resolve("tiny")
        assert raised.value.next_step == "Run `spark-lsp models pull tiny-q8_0` to get it again."

    def test_a_file_of_the_wrong_size_is_refused_unread(
        self, card: ModelCard, directory: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        install(card, directory, CONTENT[:-5])
        monkeypatch.setattr(checksum, "sha256_of", lambda path: pytest.fail("was read"))
        with pytest.raises(ModelFileError, match=rf"it has {len(CONTENT) - 5:,} bytes, not {len(CONTENT):,}"):
            resolve("tiny")

    def test_a_model_that_is_not_there_names_the_command(self, card: ModelCard, directory: Path) -> None:
        with pytest.raises(ModelNotFoundError, match="tiny-q8_0 is not on this machine") as raised:
            resolve("tiny")
        assert raised.value.next_step == "Run `spark-lsp models pull tiny-q8_0`."

    def test_without_a_published_checksum_the_file_must_at_least_be_complete(
        self, directory: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        card = in_catalogue(monkeypatch, make_card(CONTENT, bytes=None, sha256=None))
        file = install(card, directory)
        assert resolve("tiny") == file
        file.write_bytes(CONTENT[:-1])
        with pytest.raises(ModelFileError, match="cut off"):
            resolve("tiny")

    def test_a_path_is_returned_as_it_is_after_a_look_at_its_header(self, tmp_path: Path) -> None:
        file = tmp_path / "my model.gguf"
        file.write_bytes(CONTENT)
        assert resolve(file) == resolve(str(file)) == file
        assert list(tmp_path.iterdir()) == [file]  # no stamp in a directory of the user's

    @pytest.mark.parametrize("content", [CONTENT[:-1], b"no model", b""])
    def test_a_path_to_something_else_is_refused(self, tmp_path: Path, content: bytes) -> None:
        file = tmp_path / "model.gguf"
        file.write_bytes(content)
        with pytest.raises(ModelFileError):
            resolve(file)

    @pytest.mark.parametrize("path", ["absent.gguf", "./absent", "~/absent/model"])
    def test_a_missing_path_is_told_from_an_unknown_name(self, path: str, directory: Path) -> None:
        with pytest.raises(ModelNotFoundError, match="There is no file"):
            resolve(path)
        with pytest.raises(UnknownModelError):
            resolve("absent")

    def test_a_file_in_the_working_directory_cannot_take_the_place_of_a_catalogue_model(
        self, card: ModelCard, directory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        file = install(card, directory)
        (tmp_path / "tiny-q8_0").write_bytes(make_gguf(seed=9))
        monkeypatch.chdir(tmp_path)
        assert resolve("tiny-q8_0") == file
        assert resolve("./tiny-q8_0") == Path("tiny-q8_0")


class TestVerify:
    def test_a_good_file_is_read_in_full_and_described(
        self, card: ModelCard, directory: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        file = install(card, directory)
        resolve("tiny")
        read: list[Path] = []
        monkeypatch.setattr(checksum, "sha256_of", lambda path: read.append(path) or sha256_of(path))
        result = store.verify(card)
        assert (result.path, result.bytes, result.sha256) == (file, len(CONTENT), card.sha256)
        assert result.card is card
        assert result.published
        assert read == [file]

    def test_a_wrong_file_is_refused(self, card: ModelCard, directory: Path) -> None:
        install(card, directory, make_gguf(seed=1))
        with pytest.raises(ModelFileError, match="its sha256 is"):
            store.verify(card)

    def test_without_a_published_checksum_that_is_said(self, directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        card = in_catalogue(monkeypatch, make_card(CONTENT, sha256=None))
        install(card, directory)
        result = store.verify(card)
        assert not result.published
        assert result.sha256 == sha256_of(result.path)

    def test_a_path_is_recognised_by_its_checksum(self, card: ModelCard, tmp_path: Path) -> None:
        known, other = tmp_path / "a.gguf", tmp_path / "b.gguf"
        known.write_bytes(CONTENT)
        other.write_bytes(make_gguf(seed=1))
        assert store.verify(known).card is card
        assert store.verify(other).card is None
        assert not store.verify(other).published


class TestInstalled:
    @pytest.mark.parametrize(
        ("content", "checked", "state"),
        [
            (CONTENT, False, FileState.UNVERIFIED),
            (CONTENT, True, FileState.VERIFIED),
            (CONTENT[:-1], False, FileState.WRONG),
            (make_gguf(seed=3), True, FileState.WRONG),
        ],
    )
    def test_the_state_is_what_size_and_stamp_tell(
        self, card: ModelCard, directory: Path, content: bytes, checked: bool, state: FileState
    ) -> None:
        file = install(card, directory, content)
        if checked:
            checksum.stamped_sha256(file)
        (model,) = installed()
        assert (model.card, model.path, model.bytes, model.state) == (card, file, len(content), state)

    def test_nothing_is_installed_in_a_directory_that_does_not_exist(self, directory: Path) -> None:
        assert installed() == ()


class TestRemove:
    def test_the_file_its_stamp_and_unfinished_parts_are_deleted(self, card: ModelCard, directory: Path) -> None:
        file = install(card, directory)
        resolve("tiny")
        part = store.staging_path(card) / "mirror.partial"
        part.parent.mkdir()
        part.write_bytes(b"part")
        assert remove(card)
        assert not file.exists()
        assert not stamp_path(file).exists()
        assert not part.parent.exists()

    def test_removing_what_is_not_there_says_so(self, card: ModelCard, directory: Path) -> None:
        assert not remove(card)
        assert not directory.exists()

    def test_a_model_that_is_being_downloaded_is_left_alone(self, card: ModelCard, directory: Path) -> None:
        file = install(card, directory)
        with exclusive(card), pytest.raises(ModelFileError, match="Another process is downloading tiny-q8_0"):
            remove(card)
        assert file.exists()

    def test_a_file_that_the_system_keeps_is_one_sentence(
        self, card: ModelCard, directory: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        file = install(card, directory)

        def refuse(self: Path, missing_ok: bool = False) -> None:
            raise PermissionError(13, "Permission denied", str(self))

        monkeypatch.setattr(Path, "unlink", refuse)
        with pytest.raises(ModelFileError, match="cannot be removed: Permission denied"):
            remove(card)
        assert file.exists()
