"""The file in which a measured cost model is kept, one for each model, runtime, thread count and machine."""

from __future__ import annotations

import hashlib
import logging
import os
import tempfile
from pathlib import Path

from spark_lsp.decoding.cost_model import CostModel

log = logging.getLogger(__name__)

DIRECTORY_VARIABLE = "SPARK_LSP_CACHE"
_MAX_BYTES = 65_536
"""A cost model is about 500 bytes; a larger file is something else."""


def user_cache_folder(kind: str = "costs") -> Path:
    """Return the folder of one kind of files in $SPARK_LSP_CACHE or the user's cache directory; it need not exist."""
    import platformdirs

    chosen = os.environ.get(DIRECTORY_VARIABLE)
    base = Path(chosen).expanduser() if chosen else platformdirs.user_cache_path("spark-lsp", appauthor=False)
    return base / kind


def cost_path(folder: Path, *, model: str, engine: str, threads: tuple[int, int], host: str) -> Path:
    """Return the file of the cost model for one setting, touching no file.

    `model` identifies the model file (its hash, or its size and time), `engine` the runtime and its version, `threads`
    are those for one token and for several, and `host` identifies machine and processor.
    """
    key = "\n".join([model, engine, *map(str, threads), host])
    return folder / f"{hashlib.sha256(key.encode('utf-8', 'surrogateescape')).hexdigest()[:24]}.json"


def load_costs(path: Path) -> CostModel | None:
    """Return the cost model kept in `path`; None if there is none or it cannot be read."""
    try:
        with path.open("rb") as file:
            data = file.read(_MAX_BYTES)
    except FileNotFoundError:
        return None
    except OSError as error:
        log.info("The measured speeds in %s cannot be read: %s", path.name, error.strerror)
        return None
    model = CostModel.from_json(data.decode("utf-8", "replace"))
    if model is None:
        log.info("The measured speeds in %s are damaged or of another version; measuring again.", path.name)
    return model


def save_costs(path: Path, model: CostModel) -> bool:
    """Keep `model` in `path`, whole or not at all. False, and a line in the log, if the disk refuses."""
    temporary = ""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(prefix=path.stem, suffix=".tmp", dir=path.parent)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(model.to_json())
        Path(temporary).replace(path)
    except OSError as error:
        log.warning("The measured speeds cannot be kept, so they are measured again next time: %s", error.strerror)
        if temporary:
            _remove(Path(temporary))
        return False
    return True


def _remove(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError:
        log.debug("Left %s behind", path.name)
