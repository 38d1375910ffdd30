"""What is done while nobody waits: whether there is something, from when on, and in which order.

First what the next request needs at the place of the latest edit, then what would follow the suggestion on the screen.
Other places are not prepared: the start of the next line is one or two tokens behind what is computed, and the place
visited before still has a sequence of its own. The scheduler calls everything but `work` under its lock.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Condition

from spark_lsp.ahead import Ahead
from spark_lsp.governor import Governor
from spark_lsp.pipeline import Completion, CompletionRequest, Pipeline

SETTLE_SECONDS = 0.2
"""Time after an edit before its place is prepared: an editor that asks does so within a few milliseconds or, with a
delay of its own, within a fifth of a second."""

OnForeseen = Callable[[CompletionRequest, Completion], None]
"""Gets a request that may come and its answer."""


class IdleWork:
    """Background work of one pipeline."""

    def __init__(self, condition: Condition, governor: Governor, on_foreseen: OnForeseen) -> None:
        """Pause on `condition`, which is notified when something more urgent comes."""
        self._condition = condition
        self.governor = governor
        self._on_foreseen = on_foreseen
        self.pending = False
        """Whether there may be something; false until a job was done, a text edited or read."""
        self._begin = 0.0
        """Value of `time.monotonic()` before which nothing begins, in seconds."""
        self._expected: CompletionRequest | None = None
        """Where the latest edit was made: the likely place of the next request."""
        self._seen: tuple[CompletionRequest, str] | None = None
        """The suggestion that came on the screen since the last look, and where."""
        self._moved: tuple[CompletionRequest | None] | None = None
        """Where the latest edit since then was made, if it is known where."""
        self._ahead = Ahead()
        """Used by the engine's thread alone: it copies documents, for which nobody should wait."""

    def wait_seconds(self) -> float | None:
        """Return the time until work may begin, 0 or less for now, None if there is none."""
        if not self.pending:
            return None
        begins = self._begin - time.monotonic()
        return begins if begins > 0 else self.governor.held_seconds()

    def edited(self, edited: CompletionRequest | None) -> None:
        """Prepare for a request where an edit was made; None means that nothing is to be prepared."""
        self._expected = edited
        self.pending = edited is not None  # what was to be prepared before was for the older text
        self._begin = time.monotonic() + SETTLE_SECONDS
        self._moved = (edited,)

    def asked(self, document: str) -> None:
        """A request says better where the user is."""
        if self._expected is not None and self._expected.document == document:
            self._expected = None

    def prepare(self, request: CompletionRequest) -> None:
        """Prepare the place of a request that the engine has not seen; the user is there all the same."""
        self._expected, self.pending = request, True

    def shown(self, request: CompletionRequest, text: str) -> None:
        """Compute what would follow `text`, which is on the screen."""
        self._seen, self._moved, self.pending = (request, text), None, True

    def forget(self, document: str) -> None:
        """Let go of a document that was closed."""
        self.asked(document)
        self._moved = (None,)
        if self._seen is not None and self._seen[0].document == document:
            self._seen = None

    def work(self, pipeline: Pipeline, cancelled: Callable[[], bool]) -> None:
        """Do one piece, on the engine's thread. Raises CancelledError when interrupted; the piece is still due then."""
        with self._condition:
            expected, self._expected = self._expected, None
        if expected is not None:
            pipeline.expect(expected)
        self.governor.begin()

        def stopped() -> bool:
            return cancelled() or self._paused(pipeline, cancelled)

        more = pipeline.idle(stopped, lambda: self._look_ahead(pipeline, stopped))
        with self._condition:
            self.pending = more or self._expected is not None or self._seen is not None
            self._begin = max(self._begin, time.monotonic() + self.governor.pause_seconds())

    def _paused(self, pipeline: Pipeline, cancelled: Callable[[], bool]) -> bool:
        """Pause between two decodes if that is due; whether something more urgent came meanwhile."""
        pause = self.governor.pause_seconds()
        if not pause:
            return False
        interrupted = pipeline.engine.interrupt.is_set
        with self._condition:
            return self._condition.wait_for(lambda: cancelled() or interrupted(), pause)

    def _look_ahead(self, pipeline: Pipeline, cancelled: Callable[[], bool]) -> bool:
        """Compute what follows the suggestion that is shown; False if nothing is left of that."""
        with self._condition:
            seen, moved = self._seen, self._moved
            self._seen = self._moved = None
        if seen is not None:
            self._ahead.shown(*seen)
        if moved is not None:
            self._ahead.edited(*moved)
        place = self._ahead.next
        if place is None:
            return False
        completion = pipeline.foresight.foresee(place, cancelled)
        if completion is None:
            self._ahead.give_up()
            return False
        self._ahead.computed(place, completion.text)
        self._on_foreseen(place, completion)
        return True
