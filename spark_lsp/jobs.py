"""What the engine's thread is given and what it says of itself."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, replace
from enum import Enum
from threading import Lock

from spark_lsp.context.window import with_line_feeds
from spark_lsp.pipeline import Completion, CompletionRequest, Pipeline, Reason
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
    variant: str = ""
    """Which optimized variant of the model it is; empty for the model itself."""
    calibrated: float | None = None
    """Share of the measuring of this machine that is done, 0 to 1; None if nothing is to be measured."""
    loads: int = 0
    """Models that were loaded so far: another number, another model."""


@dataclass(frozen=True, slots=True)
class Loader:
    """How to get a pipeline, and a value that changes when trying again makes sense."""

    model: str
    load: Callable[[Callable[[], bool]], Pipeline]
    """Called on the engine's thread with a test for "stop loading". Raises SparkError with what the user can do."""
    signature: Callable[[], object]
    """For example path, size and time of the model file; cheap."""


class Job:
    """One request on its way through the engine.

    While the user types what a running job writes, it goes on: the request for the older text is given up, and the one
    for the newer text becomes its follower, which is answered with what is left of its text.
    """

    def __init__(self, request: CompletionRequest, on_text: Callable[[str], None]) -> None:
        self.request = request
        self.due = 0.0
        """Value of `time.monotonic()` before which the engine does not start, in seconds."""
        self.cancelled = False
        self.text = ""
        """The post-processed text so far; it only grows."""
        self.place: Place | None = None
        """Where the text goes, with the document's tree; there before the first text."""
        self.result: Future[Completion] = Future()
        """What the request is answered."""
        self.outcome: Future[Completion] = Future()
        """What the engine came to, also where the request was answered before; never done if it was not reached."""
        self.following: tuple[Job, str] | None = None
        """The running job that this one follows, and what the user typed of its text."""
        self._follower: Job | None = None
        self._on_text = on_text
        self._shown = 0
        self._showing = Lock()

    @property
    def key(self) -> str:
        """At most one live job has it."""
        return self.request.document

    def run(self, pipeline: Pipeline, cancelled: Callable[[], bool]) -> Completion:
        """Let `pipeline` answer the request, on the engine's thread. Raises what the pipeline raises."""
        if self.request.beside:
            return pipeline.alternatives.complete(self.request, cancelled)
        return pipeline.complete(self.request, cancelled=cancelled, on_place=self._take_place, on_text=self.grow)

    def _take_place(self, place: Place) -> None:
        self.place = place

    def resolve(self, completion: Completion) -> None:
        """Answer the request, and that of the follower, unless it is answered."""
        if not self.result.done():
            self.result.set_result(completion)
        if self._follower is not None:
            self._follower.resolve(completion)
            self._follower = None

    def agrees_with(self, request: CompletionRequest) -> bool:
        """Whether `request` may be answered with the rest of this job's text, as far as that is written."""
        mine, typed = self.request, typed_along(self.request, request)
        if mine.beside != request.beside:
            return False
        if typed is None or self.cancelled or (mine.invoked and not request.invoked) or mine.patient != request.patient:
            return False
        return self.text.startswith(typed)

    def followed_by(self, job: Job) -> None:
        """Answer `job`, with which this one agrees, from now on."""
        job.following = self, typed_along(self.request, job.request) or ""
        self._follower = job
        job._show(self.text)

    def grow(self, text: str) -> None:
        """Take over the text so far, and show it to who waits for it."""
        if self.cancelled:
            return
        self.text = text
        self._show(text)
        follower = self._follower
        if follower is not None:
            follower._show(text)

    def _show(self, text: str) -> None:
        typed = self.following[1] if self.following is not None else ""
        with self._showing:  # a follower is shown the text by two threads when it begins to follow
            if text.startswith(typed) and len(text) > max(self._shown, len(typed)) and not self.result.done():
                self._shown = len(text)
                self._on_text(text[len(typed) :])

    def finish(self, completion: Completion) -> Job | None:
        """Take over what the engine came to; return the follower if that is no answer for it."""
        follower, self._follower = self._follower, None
        self.outcome.set_result(completion)
        self.resolve(completion)
        if follower is None or follower.result.done():
            return None
        typed = follower.following[1] if follower.following is not None else ""
        rest = rest_of(completion, typed, invoked=follower.request.invoked)
        if rest is None:
            follower.following, follower._shown = None, 0
            return follower
        follower.outcome.set_result(rest)
        follower.resolve(rest)
        return None


def task_key(document: str) -> str:
    """Return the key of what is done for a document besides completing it."""
    return f"task {document}"


class Task(Job):
    """Other work that somebody waits for: an edit of its document stops it, a request for a completion does not."""

    def __init__(self, request: CompletionRequest, work: Callable[[Pipeline, Callable[[], bool]], None]) -> None:
        """Let `work` do it, which is given a test for "stop" and raises CancelledError then."""
        super().__init__(request, lambda text: None)
        self._work = work

    @property
    def key(self) -> str:
        """Not that of the document's completions."""
        return task_key(self.request.document)

    def run(self, pipeline: Pipeline, cancelled: Callable[[], bool]) -> Completion:
        """Do the work; the completion only says that it was done."""
        self._work(pipeline, cancelled)
        return Completion("", Reason.DONE)


class WaitingJobs(OrderedDict[str, Job]):
    """Jobs by their keys, in the order in which they came."""

    def wait_seconds(self) -> float | None:
        """Return the time until one of them is due, 0 or less for now; None without any."""
        return min(job.due for job in self.values()) - time.monotonic() if self else None

    def take_due(self) -> Job | None:
        """Take out and return the newest one that is due."""
        now = time.monotonic()
        due = next((key for key in reversed(self) if self[key].due <= now), None)
        return self.pop(due) if due is not None else None


def typed_along(older: CompletionRequest, newer: CompletionRequest) -> str | None:
    """Return what was put in at the cursor between two requests, LF line ends; None if that is not all that changed."""
    before, after = older.snapshot.text, newer.snapshot.text
    if older.document != newer.document or newer.cursor - older.cursor != len(after) - len(before):
        return None
    if newer.cursor < older.cursor or not after.startswith(before[: older.cursor]):
        return None
    if after[newer.cursor :] != before[older.cursor :]:
        return None
    return with_line_feeds(after[older.cursor : newer.cursor])


def rest_of(completion: Completion, typed: str, *, invoked: bool) -> Completion | None:
    """Return the completion after `typed`; None if it goes on otherwise or nothing is left of it."""
    text = completion.if_invoked if invoked else completion.text
    if not typed:
        return replace(completion, text=text)
    if not text.startswith(typed) or text == typed:
        return None
    rest = completion.if_invoked.removeprefix(typed) if completion.if_invoked.startswith(typed) else ""
    return replace(completion, text=text[len(typed) :], if_invoked=rest)
