"""Small pieces of bookkeeping that others leave for the engine's thread."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future

from spark_lsp.context.sources import ContextSources
from spark_lsp.jobs import Loader
from spark_lsp.names.index import NameIndex
from spark_lsp.pipeline import Pipeline
from spark_lsp.resident import ModelSwitch
from spark_lsp.settings import Settings

Errand = Callable[[Pipeline], bool | None]
"""Returns whether there is background work now."""


class ErrandDesk:
    """Takes errands from any thread, and wakes who runs them; they run in the order in which they came."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._errands: deque[Errand | ModelSwitch] = deque()
        self._switch: ModelSwitch | None = None

    def switch(self, loader: Loader) -> Future[str]:
        """Put another model in the place of the one in use; the newest call wins.

        The result is empty if that model answers from now on, else what went wrong, as a sentence; then the old one
        does.
        """
        switch = ModelSwitch(loader)
        with self._condition:
            if self._switch is not None:
                self._switch.cancelled = True
            self._switch = switch
            self._errands.append(switch)
            self._condition.notify()
        return switch.done

    def configure(self, settings: Settings) -> None:
        """Let the pipeline work by other settings; those of the model take a `switch`.

        What it was told of other texts for the context is to be told again.
        """

        def errand(pipeline: Pipeline) -> None:
            pipeline.configure(settings.completion)
            pipeline.sources = ContextSources(settings.context)

        self._post(errand)

    def learn(self, text: str) -> None:
        """Let the drafters take in a text that was accepted."""
        self._post(lambda pipeline: pipeline.learn(text))

    def read(self, name: str, text: str) -> None:
        """Let the drafters learn a text of the workspace in idle time; `name` is its file's."""
        self._post(lambda pipeline: pipeline.workspace.read(name, text))

    def tell(self, errand: Callable[[ContextSources], None]) -> None:
        """Let `errand` tell the sources of context, on the engine's thread, what is new."""
        self._post(lambda pipeline: errand(pipeline.sources))

    def tell_names(self, errand: Callable[[NameIndex], None]) -> None:
        """Let `errand` tell the index of names, on the engine's thread, what is new."""
        self._post(lambda pipeline: errand(pipeline.names))

    def forget_files(self) -> None:
        """Free everything that was read from the disk as context."""
        self._post(lambda pipeline: pipeline.forget_files())

    def _cancel_switches(self) -> None:
        """Nobody runs errands any more: answer who waits for a model."""
        for errand in self._errands:
            if isinstance(errand, ModelSwitch):
                errand.give_up()

    def _post(self, errand: Errand) -> None:
        with self._condition:
            self._errands.append(errand)
            self._condition.notify()
