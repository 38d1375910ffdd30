"""What the engine's thread is given and what it says of itself."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from enum import Enum

from spark_lsp.pipeline import Completion, CompletionRequest, Pipeline
from spark_lsp.postprocess import Place


class EngineState(str, Enum):
    """What the engine is doing."""

    LOADING = "loading"
    IDLE = "idle"
    BUSY = "busy"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Status:
    """The state with what a user wants to know about it."""

    state: EngineState
    model: str
    message: str = ""


@dataclass(frozen=True, slots=True)
class Loader:
    """How to get a pipeline, and a value that changes when trying again makes sense."""

    model: str
    load: Callable[[Callable[[], bool]], Pipeline]
    """Called on the engine's thread with a test for "stop loading". Raises SparkError with what the user can do."""
    signature: Callable[[], object]
    """For example path, size and time of the model file; cheap."""


class Job:
    """One request on its way through the engine."""

    def __init__(self, request: CompletionRequest, on_text: Callable[[str], None]) -> None:
        self.request = request
        self.on_text = on_text
        self.cancelled = False
        self.text = ""
        """The post-processed text so far; it only grows."""
        self.place: Place | None = None
        """Where the text goes, with the document's tree; there before the first text."""
        self.result: Future[Completion] = Future()

    def resolve(self, completion: Completion) -> None:
        """Give the result unless there is one."""
        if not self.result.done():
            self.result.set_result(completion)
