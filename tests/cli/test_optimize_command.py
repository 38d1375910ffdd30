"""`spark-lsp optimize`: what it shows, and that every failure is one sentence."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest

from spark_lsp.cli.commands import run
from spark_lsp.cli.optimize_report import HEADINGS, conclusion, shown_activity, table_rows
from spark_lsp.models.checksum import sha256_of
from spark_lsp.models.optimize import gguf_source, session
from spark_lsp.models.optimize.choose import Measured
from spark_lsp.models.optimize.events import Activity
from spark_lsp.models.optimize.host import cpu_name, runtime_version
from spark_lsp.models.optimize.journal import Record
from spark_lsp.models.optimize.recipes import standard_recipes
from spark_lsp.models.optimize.run import Outcome, Plan
from spark_lsp.models.optimize.session import Result
from spark_lsp.models.optimize.speed import Speed
from spark_lsp.models.optimize.statistics import PairedLoss
from spark_lsp.models.optimize.variants import Manifest, Variant, keep, kept_variant, source_facts
from spark_lsp.models.optimize.work_folder import work_path
from spark_lsp.models.progress import Notice
from tests.models.stand_ins import make_gguf


@pytest.fixture
def model(tmp_path: Path) -> Path:
    file = tmp_path / "tiny.gguf"
    file.write_bytes(make_gguf())
    return file


def with_variant(model: Path, *, cpu: str = "") -> Variant:
    made = model.with_name("made.gguf")
    made.write_bytes(make_gguf(500))
    manifest = Manifest(
        **source_facts(model),
        variant_size=made.stat().st_size,
        variant_sha256=sha256_of(made),
        recipe="vocab-48k",
        gains={"prompt": 1.5, "1": 1.25, "4": 1.4, "16": 1.6},
        loss=0.4,
        loss_low=-0.3,
        loss_high=1.1,
        tasks=1800,
        max_loss=1.5,
        agreement=95.0,
        resident=None,
        cpu=cpu or cpu_name(),
        llama_cpp=runtime_version(),
        made=datetime.date(2025, 1, 31).isoformat(),
    )
    return keep(made, model, manifest)


def measured(name: str, speed: float, loss: float, half: float, *, complete: bool = True) -> Measured:
    paired = PairedLoss(600, 60.0, 60.0 - loss, loss, loss - half, loss + half, 0.05, 1.0)
    gains = dict.fromkeys(("prompt", "1", "4", "16"), speed)
    return Measured(name, 326_000_000, 410_000_000, gains, 95.2, paired, complete)


def result(*variants: Measured, kept: Variant | None = None, max_loss: float = 1.5) -> Result:
    original = Record(hits=((True, False),) * 30, bytes=491_000_000, resident=600_000_000)
    speed = Speed(92.0, {1: 0.046, 4: 0.120, 16: 0.334})
    outcome = Outcome(original, speed, variants, {"broken": "llama.cpp refused it."}, kept)
    return Result(Plan((), 20, 1, 1, max_loss), {"vocab-96k": "the vocabulary has only 49,152 tokens"}, outcome)


class TestTable:
    def test_the_original_comes_first_and_then_the_variants_from_slow_to_fast(self) -> None:
        rows = table_rows(result(measured("fast", 1.6, 2.0, 0.3), measured("mild", 1.1, 0.1, 0.3)))
        assert [row[0] for row in rows] == ["original", "mild *", "fast *"]
        assert all(len(row) == len(HEADINGS) for row in rows)
        assert rows[0][1:8] == ("491 MB", "600 MB", "92/s", "46 ms", "120 ms", "334 ms", "1.00x")
        fast = dict(zip(HEADINGS, rows[2], strict=True))
        assert (fast["PROMPT"], fast["T(1)"], fast["SPEED"]) == ("1.60x", "0.62x", "1.60x")
        assert (fast["AGREES"], fast["EXACT"], fast["LOSS"]) == ("95.2 %", "58.0 %", "2.0 (1.7 to 2.3)")
        assert fast[""] == "loses too much"

    def test_a_pipe_gets_plain_columns_and_the_reason_of_every_recipe_without_a_row(
        self, model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        shown = result(measured("mild", 1.3, 0.1, 0.3))
        monkeypatch.setattr(session, "run_session", lambda *_, **__: shown)
        with pytest.raises(SystemExit) as ended:
            run(["optimize", str(model)])
        out = capsys.readouterr().out
        assert ended.value.code == 0
        assert "\x1b" not in out
        assert out.splitlines()[0].split() == list(HEADINGS[:-1])
        assert "broken was not measured: llama.cpp refused it." in out
        assert "vocab-96k was not measured: the vocabulary has only 49,152 tokens." in out


class TestConclusion:
    def test_what_was_kept_is_named_with_its_place(self, model: Path) -> None:
        variant = with_variant(model)
        text = conclusion(model, result(measured("vocab-48k", 1.3, 0.4, 0.7), kept=variant))
        assert "vocab-48k" in text
        assert str(variant.path) in text

    @pytest.mark.parametrize(
        ("variants", "words"),
        [
            ((measured("a", 1.4, 0.4, 2.0), measured("b", 1.2, 0.0, 2.0)), ["shown to lose at most 1.5", "--tasks"]),
            ((measured("a", 1.4, 5.0, 1.0),), ["lose more than 1.5 points", "--max-loss"]),
            ((measured("a", 1.0, 0.0, 0.1),), ["no recipe is faster"]),
            ((), ["no recipe could be measured"]),
        ],
        ids=["sample too small", "all lose", "none faster", "none measured"],
    )
    def test_that_nothing_was_kept_is_said_with_the_next_step(
        self, model: Path, variants: tuple[Measured, ...], words: list[str]
    ) -> None:
        text = conclusion(model, result(*variants))
        assert text.startswith("Nothing was kept: ")
        assert "earlier run" not in text
        for word in words:
            assert word in text

    def test_a_variant_of_an_earlier_run_is_mentioned(self, model: Path) -> None:
        with_variant(model)
        assert "The variant of an earlier run stays." in conclusion(model, result(measured("a", 1.4, 5.0, 1.0)))


class TestStatusAndRemove:
    def called(self, capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> str:
        with pytest.raises(SystemExit) as ended:
            run(["optimize", *map(str, arguments)])
        assert ended.value.code == 0
        return capsys.readouterr().out

    def test_status_without_a_variant(self, model: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert "There is no variant of tiny.gguf." in self.called(capsys, model, "--status")

    def test_status_shows_place_recipe_sizes_and_date(self, model: Path, capsys: pytest.CaptureFixture[str]) -> None:
        variant = with_variant(model)
        out = self.called(capsys, model, "--status")
        for part in (str(variant.path), "vocab-48k", "1800 tasks", "2025-01-31"):
            assert part in out
        assert "measured on" not in out

    def test_status_tells_that_it_was_made_on_another_machine(
        self, model: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        with_variant(model, cpu="A Much Older Processor")
        assert "measured on A Much Older Processor" in self.called(capsys, model, "--status")

    def test_status_tells_that_the_variant_belongs_to_another_file(
        self, model: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        with_variant(model)
        model.write_bytes(make_gguf(2000))
        assert "is not used" in self.called(capsys, model, "--status")

    def test_remove_deletes_variant_and_measurements(self, model: Path, capsys: pytest.CaptureFixture[str]) -> None:
        with_variant(model)
        work_path(model).mkdir()
        assert "removed" in self.called(capsys, model, "--remove")
        assert kept_variant(model) is None
        assert [path.name for path in model.parent.iterdir()] == ["tiny.gguf"]
        assert "no variant" in self.called(capsys, model, "--remove")


RECIPES = ", ".join(recipe.name for recipe in standard_recipes())


class TestFailures:
    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            (["no-such-model.gguf"], "There is no file no-such-model.gguf."),
            (["MODEL", "--recipe", "magic"], "There is no recipe called 'magic'. There are: " + RECIPES),
        ],
        ids=["no such model", "no such recipe"],
    )
    def test_one_sentence_and_exit_code_1(
        self, model: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
    ) -> None:
        with pytest.raises(SystemExit) as ended:
            run(["optimize", *(str(model) if argument == "MODEL" else argument for argument in arguments)])
        assert ended.value.code == 1
        error = capsys.readouterr().err
        assert words in error
        assert len(error.splitlines()) == 1

    def test_a_missing_package_names_the_extra(
        self, model: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(gguf_source, "PACKAGES", ("no_such_package",))
        with pytest.raises(SystemExit) as ended:
            run(["optimize", str(model)])
        assert ended.value.code == 1
        assert "needs the Python package no_such_package" in (error := capsys.readouterr().err)
        assert "pip install 'spark-lsp[optimize]'" in error

    def test_ctrl_c_says_that_the_same_command_goes_on(
        self, model: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def interrupted(*_: object, **__: object) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr(session, "run_session", interrupted)
        with pytest.raises(SystemExit) as ended:
            run(["optimize", str(model)])
        assert ended.value.code == 130
        assert "the same command goes on" in capsys.readouterr().err


def test_progress_in_a_pipe_is_a_line_for_each_quarter(capsys: pytest.CaptureFixture[str]) -> None:
    with shown_activity() as report:
        report(Notice("Reading the model."))
        report(Activity(1, 9, "vocab-48k", "building", 0, 1))
        for done in range(0, 100, 5):
            report(Activity(1, 9, "vocab-48k", "infilling", done, 100))
    assert capsys.readouterr().err.splitlines() == [
        "Reading the model.",
        "[1/9] vocab-48k: building",
        "[1/9] vocab-48k: infilling, 0 %",
        "[1/9] vocab-48k: infilling, 25 %",
        "[1/9] vocab-48k: infilling, 50 %",
        "[1/9] vocab-48k: infilling, 75 %",
    ]
