"""`spark-lsp.toml`: settings in files, of the user and of a workspace."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FILE_NAME = "spark-lsp.toml"
FILE_VARIABLE = "SPARK_LSP_CONFIG"
NO_FILE = {FILE_VARIABLE: os.devnull}
"""Environment of a server that the user's file does not reach: what it does is measured."""
MOST_BYTES = 1_000_000
"""The file with all settings has 10 KB."""


def user_file() -> Path:
    """Return the user's file: $SPARK_LSP_CONFIG, or the one in the config directory; it need not exist."""
    if chosen := os.environ.get(FILE_VARIABLE):
        return Path(chosen).expanduser()
    import platformdirs

    return platformdirs.user_config_path("spark-lsp", appauthor=False) / FILE_NAME


def read_file(path: Path) -> tuple[Mapping[str, Any] | None, str]:
    """Return what the file holds and an empty sentence; None if there is none; else None and what is wrong with it."""
    try:
        with path.open("rb") as file:
            text = file.read(MOST_BYTES).decode("utf-8-sig")
        return tomllib.loads(text), ""
    except (FileNotFoundError, NotADirectoryError):
        return None, ""
    except OSError as error:
        return None, f"The settings in {path} cannot be read: {error.strerror}."
    except (ValueError, RecursionError) as error:
        return None, f"The settings in {path} were ignored, since the file is not TOML: {error}."
