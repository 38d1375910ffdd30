"""From settings to a loader that the scheduler can call."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path

from spark_lsp.errors import SparkError
from spark_lsp.pipeline import Pipeline
from spark_lsp.scheduler import Loader
from spark_lsp.settings import Settings

log = logging.getLogger(__name__)


def local_loader(settings: Settings, on_fraction: Callable[[float], None]) -> Loader:
    """Return a loader for the model that `settings` name, run by llama.cpp in this process."""
    model = settings.model

    def load(cancelled: Callable[[], bool]) -> Pipeline:
        from spark_lsp.decoding.llama import LlamaEngine
        from spark_lsp.models.store import resolve

        def progress(fraction: float) -> bool:
            on_fraction(fraction)
            return not cancelled()

        path = resolve(model.name)
        log.info("Loading %s", path)
        engine = LlamaEngine.load(
            path,
            name=_display_name(model.name),
            context_tokens=model.context_tokens,
            threads=model.threads,
            gpu_layers=model.gpu_layers,
            progress=progress,
        )
        return Pipeline(engine, settings.completion)

    return Loader(_display_name(model.name), load, lambda: _signature(model.name))


def _display_name(name: str) -> str:
    """Return the model's name without the folders of its file, which are nobody's business."""
    return Path(name).name


def _signature(name: str) -> object:
    """Return what changes when the model's file does: path, size and time, or None while it is missing."""
    from spark_lsp.models.catalogue import find
    from spark_lsp.models.store import model_path

    path = Path(name).expanduser()
    try:
        if not path.is_file():
            path = model_path(find(name))
        state = path.stat()
    except (OSError, SparkError):
        return None
    return str(path), state.st_size, state.st_mtime_ns
