"""From settings to a loader that the scheduler can call: the model's file, the engine, the measured costs."""

from __future__ import annotations

import importlib.metadata
import logging
import platform
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from spark_lsp.errors import CancelledError, ModelLoadError, ModelNotFoundError, SparkError
from spark_lsp.pipeline import Pipeline
from spark_lsp.scheduler import Loader
from spark_lsp.settings import ModelSettings, Settings

if TYPE_CHECKING:
    from spark_lsp.decoding.drafters import DraftModel
    from spark_lsp.decoding.llama import LlamaEngine
    from spark_lsp.decoding.snapshots import SnapshotStore

log = logging.getLogger(__name__)


DOWNLOAD = "download"
"""The stage that `OnFraction` names before the loading."""


class OnFraction(Protocol):
    """Gets the share of a stage that is done, 0 to 1, on the loading thread."""

    def __call__(self, fraction: float, stage: str = ...) -> None:
        """Take note; without a stage it is the loading itself."""


def local_loader(settings: Settings, on_fraction: OnFraction) -> Loader:
    """Return a loader for the model that `settings` name, run by llama.cpp in this process."""
    model = settings.model

    def load(cancelled: Callable[[], bool]) -> Pipeline:
        from spark_lsp.decoding.calibration import thread_candidates
        from spark_lsp.decoding.cost_cache import load_costs, save_costs
        from spark_lsp.decoding.llama import usable_cores

        def progress(fraction: float) -> bool:
            on_fraction(fraction)
            return not cancelled()

        file, engine = _load_best(_model_file(model, on_fraction, cancelled), model, progress)
        costs = _costs_file(file, model)
        draft, notice = _load_draft(engine, model, cancelled) if model.draft else (None, "")
        return Pipeline(
            engine,
            settings.completion,
            cost=load_costs(costs),
            keep_cost=lambda measured: save_costs(costs, measured),
            draft=draft,
            notice=notice,
            threads=thread_candidates(usable_cores()) if not model.threads else (),
            snapshots=_snapshots(file, model),
            context=settings.context,
        )

    return Loader(_display_name(model.name), load, lambda: _signature(model.name))


def _model_file(model: ModelSettings, on_fraction: OnFraction, cancelled: Callable[[], bool]) -> Path:
    """Return the model's file, downloaded if it is missing and the user wants that."""
    from spark_lsp.models.catalogue import find
    from spark_lsp.models.progress import Notice, Transferred
    from spark_lsp.models.sources import pull
    from spark_lsp.models.store import resolve

    def observe(event: Transferred | Notice) -> None:
        if cancelled():
            raise CancelledError
        if isinstance(event, Notice):
            log.info("%s", event.sentence)
        elif event.total:
            on_fraction(event.done / event.total, DOWNLOAD)

    try:
        return resolve(model.name)
    except ModelNotFoundError:
        if not model.download:
            raise
    return pull(find(model.name), progress=observe)


def _load_draft(
    target: LlamaEngine, model: ModelSettings, cancelled: Callable[[], bool]
) -> tuple[DraftModel | None, str]:
    """Return the draft model for `target`; None, and a sentence for the user, when it cannot be used."""
    from spark_lsp.decoding.cost_cache import load_costs, save_costs
    from spark_lsp.decoding.drafters import DraftModel, VocabularyMatch
    from spark_lsp.models.store import resolve

    # No prompt takes more than half of the target's context.
    draft = replace(model, name=model.draft, context_tokens=target.info.context_length // 2)
    engine: LlamaEngine | None = None
    try:
        if not target.info.rolls_back:
            raise ModelLoadError(f"{target.info.name} cannot take back tokens, which verifying drafts needs.")
        file, engine = _load_best(resolve(draft.name), draft, lambda fraction: not cancelled(), beside=target)
        if not engine.info.rolls_back:
            raise ModelLoadError(f"{engine.info.name} cannot take back tokens, which following another model needs.")
        match = VocabularyMatch(target, engine)
    except CancelledError:
        target.close()
        raise
    except SparkError as error:
        log.warning("Going on without a draft model: %s", error)
        if engine is not None:
            engine.close()
        return None, f"Going on without a draft model: {error}"
    costs = _costs_file(file, draft)
    return DraftModel(engine, match, load_costs(costs), lambda measured: save_costs(costs, measured)), ""


def _load_best(
    path: Path, model: ModelSettings, progress: Callable[[float], bool], *, beside: LlamaEngine | None = None
) -> tuple[Path, LlamaEngine]:
    """Return the variant that `spark-lsp optimize` kept for this file, or the file itself, loaded.

    A draft model is loaded `beside` its target.
    """
    from spark_lsp.models.optimize.variants import kept_variant

    name = _display_name(model.name)
    variant = kept_variant(path) if model.optimized else None
    if variant is not None:
        try:
            engine = _load(variant.path, f"{name} (optimized)", model, progress, beside, variant.manifest.recipe)
        except ModelLoadError as error:
            log.warning("The optimized variant is left out: %s", error)
        else:
            log.info("Using the optimized variant: %s", variant.summary())
            return variant.path, engine
    return path, _load(path, name, model, progress, beside)


def _load(
    path: Path,
    name: str,
    model: ModelSettings,
    progress: Callable[[float], bool],
    beside: LlamaEngine | None,
    variant: str = "",
) -> LlamaEngine:
    from spark_lsp.decoding.drafters import DRAFT_SEQUENCES
    from spark_lsp.decoding.llama import SEQUENCES, LlamaEngine

    log.info("Loading %s", path)
    return LlamaEngine.load(
        path,
        name=name,
        variant=variant,
        context_tokens=model.context_tokens,
        threads=model.threads,
        gpu_layers=model.gpu_layers,
        sequences=SEQUENCES if beside is None else DRAFT_SEQUENCES,
        interrupt=beside.interrupt if beside is not None else None,
        progress=progress,
    )


def _costs_file(path: Path, model: ModelSettings) -> Path:
    """Return where the measured costs of this file on this machine are kept."""
    from spark_lsp.decoding.cost_cache import cost_path, user_cache_folder
    from spark_lsp.decoding.llama import default_threads

    threads = model.threads or default_threads()
    return cost_path(
        user_cache_folder("costs"),
        model=_file_state(path),
        engine=_runtime(),
        threads=(threads, threads),
        host=f"{platform.node()} {platform.machine()} {platform.processor()}",
    )


def _snapshots(path: Path, model: ModelSettings) -> SnapshotStore:
    """Return where sequences are kept that this file computed in a context like this one."""
    from spark_lsp.decoding.cost_cache import user_cache_folder
    from spark_lsp.decoding.snapshots import SnapshotStore

    key = f"{_file_state(path)}\n{_runtime()} {platform.machine()}\n{model.context_tokens} {model.gpu_layers} cells 2"
    return SnapshotStore(user_cache_folder("snapshots"), key)


def _file_state(path: Path) -> str:
    state = path.stat()
    return f"{path.name} {state.st_size} {state.st_mtime_ns}"


def _runtime() -> str:
    return f"llama-cpp-python {importlib.metadata.version('llama-cpp-python')}"


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
