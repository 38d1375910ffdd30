"""What more than one test needs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from spark_lsp.decoding.cost_cache import DIRECTORY_VARIABLE
from spark_lsp.errors import DownloadError, ModelNotFoundError
from spark_lsp.models.catalogue import DEFAULT_MODEL, find
from spark_lsp.models.sources import pull
from spark_lsp.models.store import resolve
from spark_lsp.settings_files import FILE_VARIABLE
from spark_lsp.statistics.store import DIRECTORY_VARIABLE as STATE_VARIABLE


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep costs, snapshots, statistics and settings apart from the user's, and from other tests."""
    monkeypatch.setenv(DIRECTORY_VARIABLE, str(tmp_path / "cache"))
    monkeypatch.setenv(STATE_VARIABLE, str(tmp_path / "state"))
    monkeypatch.setenv(FILE_VARIABLE, str(tmp_path / "config" / "spark-lsp.toml"))


@pytest.fixture(scope="session")
def model_path() -> Path:
    """The real default model, pulled on first use. Without a network these tests are skipped, except in CI."""
    return _real(DEFAULT_MODEL)


@pytest.fixture(scope="session")
def other_model_path() -> Path:
    """A small real model of another family, with another vocabulary."""
    return _real("smollm2-135m-instruct-q4_1")


def _real(name: str) -> Path:
    try:
        return resolve(name)
    except ModelNotFoundError:
        pass
    try:
        return pull(find(name))
    except DownloadError as error:
        if os.environ.get("CI"):
            raise
        pytest.skip(f"the model cannot be pulled here: {error}")
