"""The engine's thread and its mailbox.

Invariants:

* Exactly one thread touches the pipeline; the event loop only posts to the mailbox and never waits for it.
* A document has at most one live job. A newer one, or an edit, supersedes it: its future is resolved at once, and the
  decode stops at the next graph node. Where the edit is how the job's text begins, the decode goes on, and the newer
  job gets the rest. Where there is no text yet and the edit only adds to the prompt, it stops after the running slice:
  the newer job would have to decode the same one.
* Every job's future is resolved exactly once, whatever happens.
* Background work runs only while no job waits, and not right after an edit, which a request usually follows; a job or
  an edit interrupts it at the next graph node.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from spark_lsp.debounce import Debounce
from spark_lsp.errands import Errand, ErrandDesk
from spark_lsp.errors import CancelledError, SparkError
from spark_lsp.faults import FaultLog
from spark_lsp.governor import FREE, Governor
from spark_lsp.idle import SETTLE_SECONDS, IdleWork, OnForeseen
from spark_lsp.jobs import EngineState, Job, Loader, Status, Task, WaitingJobs, task_key, typed_along
from spark_lsp.metrics import Metrics
from spark_lsp.pipeline import Completion, CompletionRequest, Pipeline, Reason
from spark_lsp.resident import ModelSwitch, ResidentModel

__all__ = ["SETTLE_SECONDS", "EngineState", "Job", "Loader", "Scheduler", "Status", "Task"]

log = logging.getLogger(__name__)

JOIN_SECONDS = 0.8
"""Time that `close` waits for a decode to notice the abort flag (milliseconds) and for what the next start can use."""


class Scheduler(ErrandDesk):
    """Runs jobs on its own thread, newest first."""

    def __init__(
        self,
        loader: Loader,
        metrics: Metrics,
        on_status: Callable[[Status], None],
        on_foreseen: OnForeseen = lambda request, completion: None,
        governor: Governor | None = None,
    ) -> None:
        """Use the pipeline that `loader` makes. Without a `governor`, background work takes what it wants."""
        super().__init__()
        self._model = ResidentModel(loader, on_status)
        self._metrics = metrics
        self._debounce = Debounce()
        self._waiting = WaitingJobs()
        self._current: Job | None = None
        self._idle = IdleWork(self._condition, governor or Governor(FREE), on_foreseen)
        self._idling = False
        self._closing = False
        self._faults = FaultLog(log)
        self._thread = threading.Thread(target=self._run, name="spark-engine", daemon=True)

    @property
    def status(self) -> Status:
        """The current state."""
        return self._model.status

    def use(self, loader: Loader, governor: Governor) -> None:
        """Keep to another governor from now on, and to another loader where no model is loaded yet."""
        self._model.replace_loader(loader)
        self._idle.governor = governor

    def start(self) -> None:
        """Start loading the model; returns at once."""
        self._thread.start()

    def submit(self, request: CompletionRequest, on_text: Callable[[str], None] = lambda text: None) -> Job:
        """Queue a request and return its job; an older job of the same document is superseded."""
        job = Job(request, on_text)
        with self._condition:
            running = self._supersede(request.document, request)
            self._idle.asked(request.document)
            if self._closing:
                job.resolve(Completion("", Reason.CANCELLED))
                return job
            if running is not None:
                running.followed_by(job)
                return job
            job.due = self._debounce.due(time.monotonic(), invoked=request.invoked)
            self._waiting[request.document] = job
            self._condition.notify()
        return job

    def undertake(self, task: Task) -> None:
        """Queue other work than a completion; what was undertaken for the document before is superseded."""
        with self._condition:
            self._supersede(task.key)
            self._waiting[task.key] = task
            if self._closing:
                self._stop(task, Reason.CANCELLED)
            self._condition.notify()

    def supersede(self, document: str, edited: CompletionRequest | None = None) -> None:
        """Stop work on a text that is no longer what the document holds, unless the edit is what it writes.

        `edited` is the place of the edit in the new text; idle time prepares for a request there.
        """
        with self._condition:
            self._supersede(document, edited)
            self._supersede(task_key(document))
            self._debounce.key(time.monotonic())
            self._idle.edited(edited)
            self._condition.notify()

    def cancel(self, job: Job) -> None:
        """Stop `job`; its result is an empty completion with the reason `cancelled`. One that is answered goes on."""
        with self._condition:
            if job.result.done():
                return
            if self._waiting.get(job.key) is job:
                del self._waiting[job.key]
                self._idle.prepare(job.request)
                self._condition.notify()
            self._stop(job.following[0] if job.following is not None else job, Reason.CANCELLED)

    def forget(self, document: str, *, keep: bool = True) -> None:
        """Free what is kept for a closed document; without `keep`, also what is kept of it on disk."""
        with self._condition:
            self._supersede(document)
            self._supersede(task_key(document))
            self._idle.forget(document)
            self._errands.append(lambda pipeline: pipeline.forget(document, keep=keep))
            self._condition.notify()

    def shown(self, request: CompletionRequest, text: str) -> None:
        """Let idle time compute what would follow `text`, which the user sees at the place of `request`."""
        with self._condition:
            self._idle.shown(request, text)
            self._condition.notify()

    def close(self) -> bool:
        """Stop everything and free the model; False if a decode did not stop in time and the model was left alone."""
        with self._condition:
            self._closing = True
            for job in [*self._waiting.values()]:
                self._stop(job, Reason.CANCELLED)
            self._waiting.clear()
            if self._current is not None:
                self._stop(self._current, Reason.CANCELLED)
            self._preempt_idle_work()
            self._condition.notify()
        if self._thread.ident is None:
            return True
        self._thread.join(JOIN_SECONDS)
        if self._thread.is_alive():
            return False
        if self._model.pipeline is not None:
            self._model.pipeline.close()
        return True

    def count_decoded(self) -> None:
        """Bring the counts of decoded tokens up to date, those of a running job included."""
        pipeline = self._model.pipeline
        if pipeline is not None:
            self._metrics.set_decoded(pipeline.cache.prompt_tokens, pipeline.cache.steps)
            self._metrics.set_modules(pipeline.names.modules)
            self._metrics.set_workspace(pipeline.workspace.texts, pipeline.workspace.pending)

    def _preempt_idle_work(self) -> None:
        if self._idling:
            self._model.interrupt()

    def _supersede(self, key: str, place: CompletionRequest | None = None) -> Job | None:
        """Stop the jobs with `key`, for a document whose cursor is now at `place`; return one that goes on."""
        self._preempt_idle_work()
        waiting = self._waiting.pop(key, None)
        if waiting is not None:
            self._stop(waiting, Reason.SUPERSEDED)
        current = self._current
        if current is None or current.key != key:
            return None
        if place is not None and place.beside and not current.request.beside:
            return None  # what is to choose from comes after what is being written
        if place is not None and current.agrees_with(place):
            current.resolve(Completion("", Reason.SUPERSEDED))
            return current
        adds = place is not None and not current.text and typed_along(current.request, place) is not None
        self._stop(current, Reason.SUPERSEDED, gently=adds)
        return None

    def _stop(self, job: Job, reason: Reason, *, gently: bool = False) -> None:
        job.cancelled = True
        if job is self._current:
            self._debounce.stopped(cold=not job.text and not job.request.beside)
            if not gently:
                self._model.interrupt()
        job.resolve(Completion("", reason))

    def _run(self) -> None:
        self._model.load(lambda: self._closing)
        while True:
            with self._condition:
                while not (self._closing or self._errands):
                    begins_in = self._waiting.wait_seconds() if self._waiting else self._idle.wait_seconds()
                    if begins_in is not None and begins_in <= 0:
                        break
                    self._condition.wait(begins_in)
                if self._closing:
                    break
                self._idling = not self._waiting and not self._errands
                if self._idling:
                    self._model.resume()
                errand = self._errands.popleft() if self._errands else None
                job = self._waiting.take_due() if errand is None else None
                if job is not None and self._model.pipeline is not None:
                    # Under the lock: a cancel is either seen here or finds the job current.
                    self._current = job
                    self._model.resume()
            if errand is not None:
                self._run_errand(errand)
            elif job is not None:
                self._serve(job)
                self._idle.pending = True
            else:
                self._work_in_idle_time()
        self._cancel_switches()
        self._run_errand(lambda pipeline: pipeline.leave())

    def _run_errand(self, errand: Errand | ModelSwitch) -> None:
        """Do a small piece of bookkeeping; its failure must not end the thread that everybody waits for."""
        try:
            if isinstance(errand, ModelSwitch):
                self._model.switch(errand, lambda: self._closing)
            elif self._model.pipeline is not None and errand(self._model.pipeline):
                self._idle.pending = True
        except Exception as error:
            self._faults.add(error)

    def _serve(self, job: Job) -> None:
        if self._model.pipeline is None:
            self._model.load_if_changed(lambda: self._closing)
            with self._condition:
                self._current = job if self._model.pipeline is not None else None
        if self._model.pipeline is None:
            job.resolve(Completion("", Reason.UNAVAILABLE))
            return
        self._model.become(EngineState.BUSY)
        try:
            completion = self._complete(self._model.pipeline, job)
        finally:
            self._model.become(EngineState.IDLE)
        with self._condition:
            self._current = None
            if completion.generation is not None:
                self._debounce.finished(completion.generation.first_text_seconds or completion.seconds)
            follower = job.finish(completion)
            if follower is not None:
                displaced = self._waiting.pop(follower.request.document, None)
                if displaced is not None:
                    self._stop(displaced, Reason.SUPERSEDED)
                self._waiting[follower.request.document] = follower

    def _complete(self, pipeline: Pipeline, job: Job) -> Completion:
        try:
            completion = job.run(pipeline, lambda: job.cancelled or self._closing)
            if completion.generation is not None:
                self._metrics.count_generation(completion.generation)
            return completion
        except CancelledError:
            return Completion("", Reason.CANCELLED)
        except SparkError as error:
            log.warning("%s", error)
            self._model.complain(error)
            return Completion("", Reason.FAILED)
        except Exception as error:
            self._faults.add(error)
            self._model.complain(error)
            return Completion("", Reason.FAILED)
        finally:
            self.count_decoded()

    def _work_in_idle_time(self) -> None:
        """Do one piece of background work, unless something more urgent comes."""
        try:
            if self._model.pipeline is not None:
                self._idle.work(self._model.pipeline, lambda: self._closing)
            else:
                self._idle.pending = False
        except CancelledError:
            pass  # a job or an edit is waiting; the work is still there afterwards
        except Exception as error:
            self._idle.pending = False
            self._faults.add(error)
        finally:
            with self._condition:
                self._idling = False
            self._model.measured()
            self.count_decoded()
