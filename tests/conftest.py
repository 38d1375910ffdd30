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
    try:
        return resolve(DEFAULT_MODEL)
    except ModelNotFoundError:
        pass
    try:
        return pull(find(DEFAULT_MODEL))
    except DownloadError as error:
        if os.environ.get("CI"):
            raise
        pytest.skip(f"the model cannot be pulled here: {error}")
