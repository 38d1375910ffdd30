"""The model of a server: loading it, trying again when that makes sense, and what is said of it."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace

from spark_lsp.errors import CancelledError, SparkError
from spark_lsp.jobs import EngineState, Loader, Status
from spark_lsp.pipeline import Pipeline

log = logging.getLogger(__name__)

UNEXPECTED = (
    "A completion failed for a reason that was not foreseen; the next one is tried anew. The log has the details."
)


class ResidentModel:
    """Holds the pipeline once it is there. Loaded on the engine's thread; the status is read from any."""

    def __init__(self, loader: Loader, on_status: Callable[[Status], None]) -> None:
        """Report each status to `on_status`."""
        self._loader = loader
        self._on_status = on_status
        self._tried: object = None
        self._complained: set[type[Exception]] = set()
        self.pipeline: Pipeline | None = None
        self.status = Status(EngineState.LOADING, loader.model)

    def load(self, cancelled: Callable[[], bool]) -> None:
        """Load the model. A failure becomes the status, with what the user can do about it."""
        self._tried = self._loader.signature()
        self.become(EngineState.LOADING)
        try:
            self.pipeline = self._loader.load(cancelled)
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

    def become(self, state: EngineState, message: str = "") -> None:
        """Change the status; without a message it says what is particular about the model."""
        pipeline = self.pipeline
        if not message and pipeline is not None:
            message = pipeline.notice
            if not message and not pipeline.fills_in_the_middle:
                message = "The model has no fill-in-the-middle tokens: it completes left to right only."
        model = pipeline.engine.info.name if pipeline is not None else self._loader.model
        self.status = Status(state, model, message)
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
