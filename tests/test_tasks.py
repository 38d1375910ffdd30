"""Work that is no completion, on the engine's thread."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from spark_lsp.decoding.cost_model import default_cost_model
from spark_lsp.documents.text import TextSnapshot
from spark_lsp.errors import CancelledError
from spark_lsp.metrics import Metrics
from spark_lsp.pipeline import CompletionRequest, Pipeline, Reason
from spark_lsp.scheduler import Loader, Scheduler, Task
from spark_lsp.settings import CompletionSettings
from spark_lsp.syntax.languages import PLAIN
from tests.scripted_engine import ScriptedEngine

SECONDS = 60.0


@pytest.fixture
def scheduler() -> Iterator[Scheduler]:
    def load(_cancelled: Callable[[], bool]) -> Pipeline:
        engine = ScriptedEngine(["ab"])
        return Pipeline(engine, CompletionSettings(snapshots=False), cost=default_cost_model())

    scheduler = Scheduler(Loader("scripted", load, lambda: 1), Metrics(), lambda status: None)
    scheduler.start()
    yield scheduler
    scheduler.close()


def request(document: str = "a", text: str = "a") -> CompletionRequest:
    return CompletionRequest(document, TextSnapshot.of(text), len(text), PLAIN)


class Held:
    """A task that begins, and goes on until it is told to end or to stop."""

    def __init__(self, document: str = "a") -> None:
        self.begun, self.end, self.stopped = threading.Event(), threading.Event(), False
        self.task = Task(request(document), self._work)

    def _work(self, _pipeline: Any, cancelled: Callable[[], bool]) -> None:
        self.begun.set()
        while not self.end.wait(0.005):
            if cancelled():
                self.stopped = True
                raise CancelledError


def reason(task: Task) -> Reason:
    return task.result.result(SECONDS).reason


def test_it_is_done_on_the_thread_of_the_engine(scheduler: Scheduler) -> None:
    names = []
    task = Task(request(), lambda pipeline, cancelled: names.append(threading.current_thread().name))
    scheduler.undertake(task)
    assert reason(task) is Reason.DONE
    assert names == ["spark-engine"]


def test_an_edit_of_its_document_stops_it(scheduler: Scheduler) -> None:
    held, other = Held(), Held()
    scheduler.undertake(held.task)
    assert held.begun.wait(SECONDS)
    scheduler.supersede("b", request("b"))
    assert not held.task.result.done()
    scheduler.supersede("a", request("a"))
    assert reason(held.task) is Reason.SUPERSEDED
    scheduler.undertake(other.task)
    assert other.begun.wait(SECONDS)  # the engine is free again
    assert held.stopped
    other.end.set()
    assert reason(other.task) is Reason.DONE


def test_an_edit_stops_one_that_waits(scheduler: Scheduler) -> None:
    first, second = Held("b"), Held("a")
    scheduler.undertake(first.task)
    assert first.begun.wait(SECONDS)
    scheduler.undertake(second.task)
    scheduler.supersede("a")
    assert reason(second.task) is Reason.SUPERSEDED
    first.end.set()
    assert reason(first.task) is Reason.DONE
    assert not second.begun.is_set()


def test_a_completion_of_the_same_document_does_not(scheduler: Scheduler) -> None:
    held = Held()
    scheduler.undertake(held.task)
    assert held.begun.wait(SECONDS)
    job = scheduler.submit(request())
    held.end.set()
    assert reason(held.task) is Reason.DONE
    assert job.result.result(SECONDS).text == "b"


def test_a_second_one_supersedes_the_first(scheduler: Scheduler) -> None:
    first, second = Held(), Held()
    scheduler.undertake(first.task)
    assert first.begun.wait(SECONDS)
    scheduler.undertake(second.task)
    assert reason(first.task) is Reason.SUPERSEDED
    second.end.set()
    assert reason(second.task) is Reason.DONE


@pytest.mark.parametrize("begun", [True, False])
def test_it_can_be_cancelled(scheduler: Scheduler, begun: bool) -> None:
    first, held = Held("b"), Held()
    if not begun:
        scheduler.undertake(first.task)
        assert first.begun.wait(SECONDS)
    scheduler.undertake(held.task)
    assert not begun or held.begun.wait(SECONDS)
    scheduler.cancel(held.task)
    assert reason(held.task) is Reason.CANCELLED
    first.end.set()


def test_closing_answers_it(scheduler: Scheduler) -> None:
    running, waiting = Held(), Held("b")
    scheduler.undertake(running.task)
    assert running.begun.wait(SECONDS)
    scheduler.undertake(waiting.task)
    assert scheduler.close()
    late = Held("c")
    scheduler.undertake(late.task)
    assert [reason(held.task) for held in (running, waiting, late)] == [Reason.CANCELLED] * 3


def test_its_failure_is_an_answer_too(scheduler: Scheduler) -> None:
    def fail(_pipeline: Any, _cancelled: Any) -> None:
        raise ValueError("a mistake of ours")

    task = Task(request(), fail)
    scheduler.undertake(task)
    assert reason(task) is Reason.FAILED
