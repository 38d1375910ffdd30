"""The model of a server: loading it, trying again when that makes sense, and what is said of it."""

from __future__ import annotations

import logging
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field, replace

from spark_lsp.errors import CancelledError, SparkError
from spark_lsp.jobs import EngineState, Loader, Status
from spark_lsp.pipeline import Pipeline

log = logging.getLogger(__name__)

UNEXPECTED = (
    "A completion failed for a reason that was not foreseen; the next one is tried anew. The log has the details."
)


@dataclass(slots=True, eq=False)
class ModelSwitch:
    """A model that is to take the place of the one in use."""

    loader: Loader
    done: Future[str] = field(default_factory=Future)
    """Empty if it did, else what went wrong as a sentence."""
    cancelled: bool = False
    """Whether another model is wanted by now."""

    def give_up(self) -> None:
        """Answer that nothing came of it, unless it is answered."""
        if not self.done.done():
            self.done.set_result(f"The switch to {self.loader.model} was cancelled.")


class ResidentModel:
    """Holds the pipeline once it is there. Loaded on the engine's thread; the status is read from any."""

    def __init__(self, loader: Loader, on_status: Callable[[Status], None]) -> None:
        """Report each status to `on_status`."""
        self._loader = loader
        self._on_status = on_status
        self._tried: object = None
        self._loads = 0
        self._loading = ""
        """The model that is to take the place of another."""
        self._complained: set[type[Exception]] = set()
        self.pipeline: Pipeline | None = None
        self.status = Status(EngineState.LOADING, loader.model)

    def load(self, cancelled: Callable[[], bool]) -> None:
        """Load the model. A failure becomes the status, with what the user can do about it."""
        self._tried = self._loader.signature()
        self.become(EngineState.LOADING)
        try:
            self.pipeline = self._loader.load(cancelled)
            self._loads += 1
        except CancelledError:
            self.become(EngineState.FAILED, "Loading was cancelled.")
        except SparkError as error:
            log.warning("%s", error)
            self.become(EngineState.FAILED, str(error))
        except Exception:
            log.exception("The model could not be loaded")
            self.become(EngineState.FAILED, "The model could not be loaded; the log has the details.")
        else:
            self.become(EngineState.IDLE)

    def load_if_changed(self, cancelled: Callable[[], bool]) -> None:
        """Try again where a file has changed since the last failure; a loaded model stays."""
        if self.pipeline is None and self._loader.signature() != self._tried:
            self.load(cancelled)

    def replace_loader(self, loader: Loader) -> None:
        """Use another loader where there is no model yet; safe from any thread, and one that loads goes on."""
        self._loader = loader

    def switch(self, switch: ModelSwitch, stop: Callable[[], bool]) -> None:
        """Load another model and let go of the old one; where it cannot be loaded the old one stays.

        Both are in memory for a moment. The time of loading is `loading` to everybody who asks.
        """
        old, loader = self.pipeline, switch.loader
        if switch.cancelled or stop():
            switch.give_up()
            return
        sentence, self._loading = "", loader.model
        self.become(EngineState.LOADING)
        try:
            new = loader.load(lambda: switch.cancelled or stop())
        except CancelledError:
            switch.give_up()
        except SparkError as error:
            log.warning("%s", error)
            sentence = str(error)
        except Exception:
            log.exception("The model could not be loaded")
            sentence = f"{loader.model} could not be loaded; the log has the details."
        else:
            self._loader, self._tried, self.pipeline = loader, loader.signature(), new
            self._loads += 1
            if old is not None:
                new.cache.prompt_tokens, new.cache.steps = old.cache.prompt_tokens, old.cache.steps
                old.leave()
                old.close()
        self._loading = ""
        if sentence and old is not None:
            sentence = f"{sentence} {old.engine.info.name} stays in use."
        if self.pipeline is not None:
            self.become(EngineState.IDLE)
        else:
            self.become(EngineState.FAILED, sentence or "Loading was cancelled.")
        if not switch.done.done():
            switch.done.set_result(sentence)

    def measured(self) -> None:
        """Say how far the measuring of the machine is, by whole percents."""
        fraction = self._calibrated()
        if fraction != self.status.calibrated:
            self.become(self.status.state)

    def _calibrated(self) -> float | None:
        calibrator = self.pipeline.calibrator if self.pipeline is not None else None
        fraction = calibrator.fraction if calibrator is not None else None
        return round(fraction, 2) if fraction is not None else None

    def become(self, state: EngineState, message: str = "") -> None:
        """Change the status; without a message it says what is particular about the model."""
        pipeline = self.pipeline
        if not message and pipeline is not None:
            message = pipeline.notice
            if not message and not pipeline.fills_in_the_middle:
                message = "The model has no fill-in-the-middle tokens: it completes left to right only."
        model = pipeline.engine.info.name if pipeline is not None else self._loader.model
        variant = pipeline.engine.info.variant if pipeline is not None else ""
        if state is EngineState.LOADING:
            model, variant, message = self._loading or model, "", ""
        self.status = Status(state, model, message, variant, self._calibrated(), self._loads)
        self._on_status(self.status)

    def complain(self, error: Exception) -> None:
        """Tell the user why a request came to nothing, once for each kind of failure; the next one is tried anew."""
        if type(error) not in self._complained:
            self._complained.add(type(error))
            sentence = str(error) if isinstance(error, SparkError) else UNEXPECTED
            self._on_status(replace(self.status, message=sentence))

    def interrupt(self) -> None:
        """Stop the running decode at its next graph node."""
        if self.pipeline is not None:
            self.pipeline.engine.interrupt.set()

    def resume(self) -> None:
        """Let decodes run again."""
        if self.pipeline is not None:
            self.pipeline.engine.interrupt.clear()
