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


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep costs and snapshots out of the user's cache, and out of other tests."""
    monkeypatch.setenv(DIRECTORY_VARIABLE, str(tmp_path / "cache"))


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
