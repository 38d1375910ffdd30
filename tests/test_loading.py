"""Getting the model's file before it is loaded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from spark_lsp import loading
from spark_lsp.errors import CancelledError, ModelNotFoundError, UnknownModelError
from spark_lsp.models import sources
from spark_lsp.models.catalogue import DEFAULT_MODEL, ModelCard
from spark_lsp.models.progress import Notice, Progress, Transferred
from spark_lsp.models.store import DIRECTORY_VARIABLE
from spark_lsp.settings import ModelSettings


@pytest.fixture(autouse=True)
def _no_models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(DIRECTORY_VARIABLE, str(tmp_path))


def pulled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Let downloads arrive in two halves; return the names of the models that are asked for."""
    names = []

    def pull(card: ModelCard, *, progress: Progress, **_: Any) -> Path:
        names.append(card.name)
        for event in (Notice("From elsewhere."), Transferred(0, None), Transferred(50, 100), Transferred(100, 100)):
            progress(event)
        return Path("there.gguf")

    monkeypatch.setattr(sources, "pull", pull)
    return names


def get(model: ModelSettings, *, cancelled: bool = False) -> tuple[Path, list[tuple[float, str]]]:
    fractions: list[tuple[float, str]] = []

    def on_fraction(fraction: float, stage: str = "") -> None:
        fractions.append((fraction, stage))

    return loading._model_file(model, on_fraction, lambda: cancelled), fractions


def test_a_missing_model_is_downloaded_only_if_the_user_wants_that(monkeypatch: pytest.MonkeyPatch) -> None:
    names = pulled(monkeypatch)
    with pytest.raises(ModelNotFoundError):
        get(ModelSettings())
    assert names == []
    file, fractions = get(ModelSettings(download=True))
    assert (file, names) == (Path("there.gguf"), [DEFAULT_MODEL])
    assert fractions == [(0.5, loading.DOWNLOAD), (1.0, loading.DOWNLOAD)]


def test_a_download_can_be_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    pulled(monkeypatch)
    with pytest.raises(CancelledError):
        get(ModelSettings(download=True), cancelled=True)


@pytest.mark.parametrize("name", ["no-such-model", "./missing.gguf"])
def test_what_is_in_no_catalogue_is_not_downloaded(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    names = pulled(monkeypatch)
    with pytest.raises((ModelNotFoundError, UnknownModelError)):
        get(ModelSettings(name=name, download=True))
    assert names == []
