"""The engine's thread: newest first, every job answered exactly once, stopped at once when asked."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from spark_lsp.ahead import MOST_AHEAD
from spark_lsp.decoding.cost_model import default_cost_model
from spark_lsp.decoding.kv_cache import PREFILL_SLICE_TOKENS
from spark_lsp.decoding.snapshots import SnapshotStore
from spark_lsp.documents.text import TextSnapshot
from spark_lsp.errors import CancelledError, DecodeError, ModelNotFoundError
from spark_lsp.governor import Governor
from spark_lsp.metrics import Metrics
from spark_lsp.pipeline import Completion, CompletionRequest, Pipeline, Reason
from spark_lsp.resident import UNEXPECTED
from spark_lsp.scheduler import SETTLE_SECONDS, EngineState, Loader, Scheduler, Status
from spark_lsp.settings import BackgroundSettings, CompletionSettings, Settings
from spark_lsp.syntax.languages import PLAIN
from tests.scripted_engine import ScriptedEngine

SECONDS = 20.0
Start = Callable[..., Scheduler]


def request(document: str, text: str) -> CompletionRequest:
    return CompletionRequest(document, TextSnapshot.of(text), len(text), PLAIN)


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < deadline, "it never happened"
        time.sleep(0.002)


@pytest.fixture
def start() -> Iterator[Start]:
    schedulers: list[Scheduler] = []

    def make(
        engine: ScriptedEngine | Exception, *, signature: Callable[[], object] = lambda: 1, **extra: Any
    ) -> Scheduler:
        def load(cancelled: Callable[[], bool]) -> Pipeline:
            if isinstance(engine, Exception):
                raise engine
            return Pipeline(engine, CompletionSettings(), cost=default_cost_model())

        states: list[Status] = extra.get("states", [])
        scheduler = Scheduler(
            Loader("m", extra.get("load", load), signature),
            Metrics(),
            states.append,
            extra.get("on_foreseen", lambda place, completion: None),
            extra.get("governor"),
        )
        schedulers.append(scheduler)
        scheduler.start()
        return scheduler

    yield make
    for scheduler in schedulers:
        assert scheduler.close()


def test_a_job_is_answered(start: Start) -> None:
    scheduler = start(ScriptedEngine(["x = 42"]))
    assert scheduler.submit(request("a", "x = ")).result.result(SECONDS).text == "42"


def test_a_newer_job_supersedes_the_running_one_of_its_document(start: Start) -> None:
    scheduler = start(ScriptedEngine(["x = 42"], seconds_per_token=0.05))
    old = scheduler.submit(request("a", "y\n" * 50 + "x = "))
    until(lambda: scheduler.status.state is EngineState.BUSY)
    new = scheduler.submit(request("a", "x = "))
    assert old.result.result(SECONDS).reason is Reason.SUPERSEDED
    assert new.result.result(SECONDS).text == "42"


def test_another_document_waits_and_is_not_superseded(start: Start) -> None:
    scheduler = start(ScriptedEngine(["x = 42"], seconds_per_token=0.005))
    jobs = [scheduler.submit(request(name, "x = ")) for name in "abc"]
    assert [job.result.result(SECONDS).text for job in jobs] == ["42"] * 3


def test_the_place_of_an_edit_is_prepared_when_no_request_follows(start: Start) -> None:
    engine = ScriptedEngine(["x = 42"])
    scheduler = start(engine)
    text = "y = 1\n" * 50 + "x = "
    scheduler.supersede("a", request("a", text))
    until(lambda: engine.decoded_tokens > 100)
    until(lambda: not scheduler._idle.pending)
    generation = scheduler.submit(request("a", text)).result.result(SECONDS).generation
    assert generation is not None
    assert generation.prompt_tokens == 0


def test_the_place_of_a_request_that_was_cancelled_before_its_turn_is_prepared(start: Start) -> None:
    engine = ScriptedEngine(["x = 42"], seconds_per_token=0.002)
    scheduler = start(engine)
    other = scheduler.submit(request("b", "z = 1\n" * 50 + "x = "))
    until(lambda: scheduler.status.state is EngineState.BUSY)
    text = "y = 1\n" * 50 + "x = "
    scheduler.cancel(scheduler.submit(request("a", text)))
    other.result.result(SECONDS)
    until(lambda: not scheduler._idle.pending and not scheduler._idling)
    generation = scheduler.submit(request("a", text)).result.result(SECONDS).generation
    assert generation is not None
    assert generation.prompt_tokens == 0


def test_an_edit_that_a_request_follows_is_not_prepared_for_itself(start: Start) -> None:
    engine = ScriptedEngine(["x = 42"], seconds_per_token=0.0001)
    scheduler = start(engine)
    for number in range(5):
        text = "y = 1\n" * 50 + "x = " + "4" * number
        scheduler.supersede("a", request("a", text))
        scheduler.submit(request("a", text)).result.result(SECONDS)
    assert scheduler._idle._expected is None


def test_of_waiting_jobs_the_newest_runs_first(start: Start) -> None:
    scheduler = start(ScriptedEngine(["x = 42"], seconds_per_token=0.01))
    scheduler.submit(request("first", "x = "))
    order: list[str] = []
    jobs = [scheduler.submit(request(name, "x = ")) for name in "abc"]
    for job in jobs:
        job.result.add_done_callback(lambda done, name=job.request.document: order.append(name))
    for job in jobs:
        job.result.result(SECONDS)
    until(lambda: len(order) == 3)
    assert order == ["c", "b", "a"]


def test_a_cancelled_job_frees_the_engine_for_the_next(start: Start) -> None:
    scheduler = start(ScriptedEngine(["x = 42"], seconds_per_token=0.05))
    job = scheduler.submit(request("a", "y\n" * 100 + "x = "))
    until(lambda: scheduler.status.state is EngineState.BUSY)
    scheduler.cancel(job)
    assert job.result.result(SECONDS).reason is Reason.CANCELLED
    assert scheduler.submit(request("a", "x = ")).result.result(SECONDS).text == "42"


def test_a_cancel_of_one_job_never_stops_another(start: Start) -> None:
    scheduler = start(ScriptedEngine(["x = 42"]))
    for _ in range(200):
        gone = scheduler.submit(request("a", "x = "))
        kept = scheduler.submit(request("b", "x = "))
        scheduler.cancel(gone)
        assert kept.result.result(SECONDS).text == "42"
        assert gone.result.result(SECONDS).text in ("", "42")


def test_submits_cancels_and_edits_from_many_threads_leave_nobody_waiting(start: Start) -> None:
    scheduler = start(ScriptedEngine(["x = 42"], seconds_per_token=0.0005))
    jobs = []
    lock = threading.Lock()

    def work(number: int) -> None:
        for turn in range(30):
            job = scheduler.submit(request(f"{number % 3}", "x = "))
            with lock:
                jobs.append(job)
            if turn % 3 == 0:
                scheduler.cancel(job)
            if turn % 7 == 0:
                scheduler.supersede(f"{number % 3}")
            if turn % 11 == 0:
                scheduler.forget(f"{number % 3}")

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(jobs) == 120
    for job in jobs:
        job.result.result(SECONDS)


def test_a_missing_model_answers_and_is_tried_again_when_the_file_changes(start: Start) -> None:
    files = [0]
    loads = []

    def load(cancelled: Callable[[], bool]) -> Pipeline:
        loads.append(files[0])
        if not files[0]:
            raise ModelNotFoundError("It is not here.", next_step="Pull it.")
        return Pipeline(ScriptedEngine(["x = 42"]), CompletionSettings(), cost=default_cost_model())

    scheduler = start(ScriptedEngine(), load=load, signature=lambda: files[0])
    for _ in range(3):
        assert scheduler.submit(request("a", "x = ")).result.result(SECONDS).reason is Reason.UNAVAILABLE
    assert loads == [0]
    assert scheduler.status == Status(EngineState.FAILED, "m", "It is not here. Pull it.")
    files[0] = 1
    assert scheduler.submit(request("a", "x = ")).result.result(SECONDS).text == "42"
    assert loads == [0, 1]


def test_a_fault_in_the_engine_is_one_failed_answer_and_the_next_works(start: Start) -> None:
    engine = ScriptedEngine(["x = 42"])
    scheduler = start(engine)
    decode = engine.decode
    engine.decode = lambda *arguments: 1 / 0  # type: ignore[method-assign, assignment, return-value]
    assert scheduler.submit(request("a", "x = ")).result.result(SECONDS).reason is Reason.FAILED
    engine.decode = decode  # type: ignore[method-assign]
    assert scheduler.submit(request("a", "x = ")).result.result(SECONDS).text == "42"


def test_a_fault_in_the_engine_is_told_in_one_sentence_for_each_kind(start: Start) -> None:
    engine = ScriptedEngine(["x = 42"])
    states: list[Status] = []
    scheduler = start(engine, states=states)
    for error in (DecodeError("It failed (3)."), ZeroDivisionError(), DecodeError("It failed (4)."), ValueError("x")):

        def fail(*_arguments: object, error: Exception = error) -> None:
            raise error

        engine.decode = fail  # type: ignore[method-assign, assignment]
        assert scheduler.submit(request("a", "x = ")).result.result(SECONDS).reason is Reason.FAILED
    assert [status.message for status in states if status.message] == ["It failed (3).", UNEXPECTED, UNEXPECTED]


def test_an_errand_that_fails_does_not_end_the_engine(start: Start) -> None:
    scheduler = start(ScriptedEngine(["x = 42"]))
    scheduler.submit(request("a", "x = ")).result.result(SECONDS)
    scheduler._errands.append(lambda pipeline: 1 / 0)  # type: ignore[arg-type, return-value]
    scheduler.forget("a")
    assert scheduler.submit(request("a", "x = ")).result.result(SECONDS).text == "42"


WORKSPACE = "".join(f"name_{number} = {number}\n" for number in range(1_500))


def test_a_text_of_the_workspace_is_learned_although_nothing_was_asked_and_then_the_engine_rests(start: Start) -> None:
    engine = ScriptedEngine(["x = 42"])
    scheduler = start(engine)
    scheduler.read("other.py", WORKSPACE)
    scheduler.read("other.py", WORKSPACE)
    until(lambda: scheduler._model.pipeline is not None and scheduler._model.pipeline.workspace.texts == 1)
    until(lambda: not scheduler._idle.pending and not scheduler._idling and not scheduler._errands)
    scheduler.count_decoded()
    assert (scheduler._metrics.workspace_texts, scheduler._metrics.workspace_pending) == (1, 0)
    assert engine.decoded_tokens == 0
    assert scheduler.status.state is EngineState.IDLE


def test_a_request_comes_before_what_is_left_of_the_workspace(start: Start) -> None:
    engine = ScriptedEngine(["x = 42"])
    pieces = threading.Semaphore(0)
    tokenize = engine.tokenize

    def one_piece_for_each_permit(text: str) -> list[int]:
        if text.startswith("name_"):
            pieces.acquire(timeout=SECONDS)
        return tokenize(text)

    engine.tokenize = one_piece_for_each_permit  # type: ignore[method-assign]
    scheduler = start(engine)
    scheduler.read("other.py", WORKSPACE)
    until(lambda: scheduler._idling)
    job = scheduler.submit(request("a", "x = "))
    pieces.release()
    assert job.result.result(SECONDS).text == "42"
    assert scheduler._model.pipeline is not None
    assert scheduler._model.pipeline.workspace.pending > len(WORKSPACE) // 2
    pieces.release(100)
    until(lambda: scheduler._model.pipeline is not None and scheduler._model.pipeline.workspace.pending == 0)


def test_closing_does_not_wait_for_the_workspace(start: Start) -> None:
    engine = ScriptedEngine([])
    scheduler = start(engine)
    for number in range(5):
        scheduler.read(f"{number}.py", f"# {number}\n" + WORKSPACE)
    until(lambda: scheduler._idling)
    assert scheduler.close()
    assert engine.closed
    assert scheduler._model.pipeline is not None and scheduler._model.pipeline.workspace.pending > 0


def test_a_text_that_cannot_be_learned_is_logged_and_the_next_request_works(start: Start) -> None:
    engine = ScriptedEngine(["x = 42"])
    tokenize = engine.tokenize
    engine.tokenize = lambda text: tokenize(text) if len(text) < 50 else [][0]  # type: ignore[method-assign]
    scheduler = start(engine)
    scheduler.read("other.py", WORKSPACE)
    until(lambda: bool(scheduler._faults))
    assert scheduler.submit(request("a", "x = ")).result.result(SECONDS).text == "42"


def with_snapshots(engine: ScriptedEngine, folder: Path) -> Callable[[Callable[[], bool]], Pipeline]:
    def load(cancelled: Callable[[], bool]) -> Pipeline:
        store = SnapshotStore(folder, "model")
        return Pipeline(engine, CompletionSettings(), cost=default_cost_model(), snapshots=store)

    return load


def test_closing_keeps_what_the_next_start_can_use(start: Start, tmp_path: Path) -> None:
    computed = []
    for _ in range(2):
        engine = ScriptedEngine(["x = 42"])
        scheduler = start(engine, load=with_snapshots(engine, tmp_path))
        completion = scheduler.submit(request("a", "y = 1\n" * 100 + "x = ")).result.result(SECONDS)
        assert completion.generation is not None
        computed.append(completion.generation.prompt_tokens)
        assert scheduler.close()
    assert computed[0] > 200
    assert computed[1] == 1


def test_closing_during_a_prefill_keeps_what_was_computed(start: Start, tmp_path: Path) -> None:
    engine = ScriptedEngine(["x = 42"], seconds_per_token=0.002)
    scheduler = start(engine, load=with_snapshots(engine, tmp_path))
    scheduler.submit(request("a", "y = 1\n" * 100 + "x = "))
    until(lambda: engine.decoded_tokens >= 128)
    assert scheduler.close()
    assert engine.closed
    engine = ScriptedEngine(["x = 42"])
    scheduler = start(engine, load=with_snapshots(engine, tmp_path))
    completion = scheduler.submit(request("a", "y = 1\n" * 100 + "x = ")).result.result(SECONDS)
    assert completion.text == "42"
    assert completion.generation is not None
    assert completion.generation.cached_tokens >= 128


def test_a_save_that_is_not_due_leaves_the_thread_asleep(start: Start, tmp_path: Path) -> None:
    calls = []
    engine = ScriptedEngine(["x = 42"])

    def load(cancelled: Callable[[], bool]) -> Pipeline:
        pipeline = with_snapshots(engine, tmp_path)(cancelled)
        idle = pipeline.idle

        def counted(cancelled: Callable[[], bool], look_ahead: Callable[[], bool] = lambda: False) -> bool:
            calls.append(1)
            return idle(cancelled, look_ahead)

        pipeline.idle = counted  # type: ignore[method-assign]
        return pipeline

    scheduler = start(engine, load=load)
    scheduler.submit(request("a", "y = 1\n" * 100 + "x = ")).result.result(SECONDS)
    until(lambda: bool(calls) and not scheduler._idle.pending)
    time.sleep(0.1)
    assert len(calls) <= 3, "a better window, then nothing"


def test_closing_during_a_decode_frees_the_engine_and_answers_everybody(start: Start) -> None:
    engine = ScriptedEngine(["x = 42"], seconds_per_token=0.05)
    scheduler = start(engine)
    jobs = [scheduler.submit(request(name, "y\n" * 100)) for name in "ab"]
    until(lambda: scheduler.status.state is EngineState.BUSY)
    assert scheduler.close()
    assert engine.closed
    assert [job.result.result(SECONDS).reason for job in jobs] == [Reason.CANCELLED] * 2
    assert scheduler.submit(request("c", "x")).result.result(SECONDS).reason is Reason.CANCELLED


LINES = "value = 1\nother = 22\nlast = 333\nend = 4444\n"


def test_what_follows_a_shown_suggestion_is_computed_while_nobody_asks_and_then_the_engine_rests(start: Start) -> None:
    engine, foreseen = ScriptedEngine([LINES]), []
    scheduler = start(engine, on_foreseen=lambda place, completion: foreseen.append((place, completion.text)))
    first = request("a", "value = ")
    text = scheduler.submit(first).result.result(SECONDS).text
    scheduler.shown(first, text)
    until(lambda: len(foreseen) == MOST_AHEAD and not scheduler._idle.pending and not scheduler._idling)
    assert "value = 1" + "".join(text for _, text in foreseen) == LINES[: len("value = 1\nother = 22\nlast = 333")]
    assert [place.snapshot.text for place, _ in foreseen] == ["value = 1", "value = 1\nother = 22"]
    decoded = engine.decoded_tokens
    scheduler.shown(first, text)
    until(lambda: not scheduler._idle.pending and not scheduler._idling)
    assert (engine.decoded_tokens, len(foreseen)) == (decoded, MOST_AHEAD), "it is known"


def test_a_key_stops_what_is_computed_in_advance_and_what_agrees_goes_on_afterwards(start: Start) -> None:
    engine, foreseen = ScriptedEngine([LINES], seconds_per_token=0.01), []
    scheduler = start(engine, on_foreseen=lambda place, completion: foreseen.append(completion.text))
    first = request("a", "value = ")
    text = scheduler.submit(first).result.result(SECONDS).text
    assert text == "1"
    scheduler.shown(request("a", "value = "), text + "\noth")  # so that a key may agree with it
    until(lambda: scheduler._idling)
    scheduler.supersede("a", request("a", "value = 1"))
    until(lambda: not scheduler._idling)
    assert not foreseen
    until(lambda: bool(foreseen))
    assert foreseen[0].startswith("er = 22")


def test_a_key_that_leads_elsewhere_ends_what_is_computed_in_advance(start: Start) -> None:
    engine, foreseen = ScriptedEngine([LINES], seconds_per_token=0.01), []
    scheduler = start(engine, on_foreseen=lambda place, completion: foreseen.append(completion.text))
    first = request("a", "value = ")
    text = scheduler.submit(first).result.result(SECONDS).text
    scheduler.shown(first, text)
    until(lambda: scheduler._idling)
    scheduler.supersede("a", request("a", "value = 7"))
    until(lambda: not scheduler._idle.pending and not scheduler._idling)
    assert not foreseen


LONG = "x = compute(first_of_them, second_of_them, third_of_them)"


def typing(start: Start, engine: ScriptedEngine) -> tuple[Scheduler, Any]:
    """A scheduler with a job that has begun to write."""
    scheduler = start(engine)
    old = scheduler.submit(request("a", "x = "))
    until(lambda: len(old.text) > 4)
    return scheduler, old


def test_typing_what_a_running_job_writes_does_not_stop_it(start: Start) -> None:
    engine = ScriptedEngine([LONG], seconds_per_token=0.01)
    scheduler, old = typing(start, engine)
    scheduler.supersede("a", request("a", "x = c"))
    assert old.result.result(SECONDS).reason is Reason.SUPERSEDED
    new = scheduler.submit(request("a", "x = c"))
    scheduler.supersede("a", request("a", "x = co"))
    assert new.result.result(SECONDS).reason is Reason.SUPERSEDED
    seen: list[str] = []
    newest = scheduler.submit(request("a", "x = co"), seen.append)
    assert newest.result.result(SECONDS).text == LONG.removeprefix("x = co")
    assert old.outcome.result(SECONDS).text == LONG.removeprefix("x = ")
    assert len(seen) > 2
    assert all(LONG.removeprefix("x = co").startswith(text) for text in seen)
    assert scheduler._metrics.generated_tokens == len(LONG.removeprefix("x = ")) + 1, "one generation"


def test_typing_something_else_stops_it(start: Start) -> None:
    scheduler, old = typing(start, ScriptedEngine([LONG, "x = d + 1"], seconds_per_token=0.01))
    scheduler.supersede("a", request("a", "x = d"))
    assert scheduler.submit(request("a", "x = d")).result.result(SECONDS).text == " + 1"
    assert old.outcome.result(SECONDS).reason is Reason.CANCELLED


def test_cancelling_the_request_that_waits_for_the_rest_stops_the_job(start: Start) -> None:
    scheduler, old = typing(start, ScriptedEngine([LONG], seconds_per_token=0.01))
    scheduler.supersede("a", request("a", "x = c"))
    new = scheduler.submit(request("a", "x = c"))
    scheduler.cancel(old)
    assert not new.result.done(), "the request for the older text was answered long ago"
    scheduler.cancel(new)
    assert new.result.result(SECONDS).reason is Reason.CANCELLED
    assert old.outcome.result(SECONDS).reason is Reason.CANCELLED


def test_a_key_during_a_prefill_loses_nothing_of_the_running_slice(start: Start) -> None:
    engine = ScriptedEngine(["x = 42"], seconds_per_token=0.002)
    scheduler = start(engine)
    text = "y = 1\n" * 60
    jobs = [scheduler.submit(request("a", text))]
    until(lambda: scheduler.status.state is EngineState.BUSY)
    decoded = []
    for number in range(1, 3):
        before = engine.decoded_tokens
        scheduler.supersede("a", request("a", text + "x = "[:number]))
        jobs.append(scheduler.submit(request("a", text + "x = "[:number])))
        until(lambda before=before: engine.decoded_tokens > before)  # type: ignore[misc]
        decoded.append(engine.decoded_tokens - before)
    assert jobs[-1].result.result(SECONDS).reason is not Reason.SUPERSEDED
    assert all(job.result.result(SECONDS).reason is Reason.SUPERSEDED for job in jobs[:-1])
    assert decoded == [PREFILL_SLICE_TOKENS] * 2, "each slice came to its end"


def test_a_follower_of_a_job_that_ends_otherwise_gets_one_of_its_own(start: Start) -> None:
    """The gate may take the end of a text back; here it is all of it that is too short."""
    scheduler, old = typing(start, ScriptedEngine([LONG], seconds_per_token=0.005))
    scheduler.supersede("a", request("a", "x = c"))
    new = scheduler.submit(request("a", "x = c"))
    with scheduler._condition:
        follower = old.finish(Completion("other", Reason.SHOWN))
        assert follower is new
        scheduler._waiting["a"] = new
        old.outcome = type(old.outcome)()
    assert new.result.result(SECONDS).text == LONG.removeprefix("x = c")


def test_background_work_waits_for_the_plug_and_requests_do_not(start: Start) -> None:
    engine = ScriptedEngine(["x = 42"])
    plugged = threading.Event()
    governor = Governor(BackgroundSettings(), discharging=lambda: not plugged.is_set())
    scheduler = start(engine, governor=governor)
    text = "y = 1\n" * 50 + "x = "
    assert scheduler.submit(request("b", "x = ")).result.result(SECONDS).text == "42"
    decoded = engine.decoded_tokens
    scheduler.supersede("a", request("a", text))
    time.sleep(3 * SETTLE_SECONDS)
    assert engine.decoded_tokens == decoded
    plugged.set()
    governor._look_at = 0.0
    scheduler.tell_names(lambda names: None)  # it would look by itself after half a minute
    until(lambda: engine.decoded_tokens > decoded + 100)


def test_a_job_interrupts_a_pause_of_background_work(start: Start) -> None:
    engine = ScriptedEngine(["x = 42"])
    governor = Governor(
        BackgroundSettings(on_battery=True, cpu_share=1), cpu_seconds=lambda: float(engine.decoded_tokens)
    )
    scheduler = start(engine, governor=governor)
    scheduler.supersede("a", request("a", "y = 1\n" * 50 + "x = "))
    until(lambda: engine.decoded_tokens > 0)  # and now it pauses for a minute
    assert scheduler.submit(request("b", "x = ")).result.result(SECONDS).text == "42"


def test_a_request_waits_for_the_next_key_where_that_saves_work_and_never_when_asked_for_by_hand(start: Start) -> None:
    engine = ScriptedEngine(["x = 42"])
    scheduler = start(engine)
    scheduler.submit(request("a", "x = ")).result.result(SECONDS)
    until(lambda: scheduler.status.state is EngineState.IDLE)
    now = time.monotonic()
    for number in range(8):
        scheduler._debounce.key(now - 0.8 + number / 10)
    for _ in range(8):
        scheduler._debounce.finished(1000.0)
    scheduler._debounce.key(time.monotonic() + 1000.0)  # the last key was so late that the engine waits for ever
    first = scheduler.submit(request("a", "x = "))
    by_hand = scheduler.submit(replace(request("b", "x = "), invoked=True))
    assert by_hand.result.result(SECONDS).text == "42"
    assert not first.result.done()
    assert scheduler.submit(replace(request("a", "x = "), invoked=True)).result.result(SECONDS).text == "42"
    assert first.result.result(SECONDS).reason is Reason.SUPERSEDED


def loader(name: str, engine: ScriptedEngine | Exception, **extra: Any) -> Loader:
    def load(cancelled: Callable[[], bool]) -> Pipeline:
        extra.get("before", lambda cancelled: None)(cancelled)
        if isinstance(engine, Exception):
            raise engine
        engine.info = replace(engine.info, name=name)
        return Pipeline(engine, CompletionSettings(), cost=default_cost_model())

    return Loader(name, load, lambda: 1)


def test_another_model_takes_the_place_of_the_old_one_which_is_freed(start: Start) -> None:
    old, states = ScriptedEngine(["x = 42"]), list[Status]()
    scheduler = start(old, states=states)
    assert scheduler.submit(request("a", "x = ")).result.result(SECONDS).text == "42"
    before = scheduler.status.loads
    assert scheduler.switch(loader("new", ScriptedEngine(["x = 43"]))).result(SECONDS) == ""
    assert (scheduler.status.model, scheduler.status.loads) == ("new", before + 1)
    assert [state.model for state in states if state.state is EngineState.LOADING] == ["m", "new"]
    assert old.closed
    assert scheduler.submit(request("a", "x = ")).result.result(SECONDS).text == "43"
    scheduler.count_decoded()
    assert scheduler._metrics.prompt_tokens > 4, "the counts go on"


@pytest.mark.parametrize("error", [ModelNotFoundError("There is no such file."), RuntimeError("boom")])
def test_where_the_new_model_cannot_be_loaded_the_old_one_stays_and_one_sentence_says_why(
    start: Start, error: Exception
) -> None:
    old = ScriptedEngine(["x = 42"])
    scheduler = start(old)
    sentence = scheduler.switch(loader("new", error)).result(SECONDS)
    assert sentence.endswith(" scripted stays in use.")
    assert ("There is no such file." in sentence) is isinstance(error, ModelNotFoundError)
    assert (scheduler.status.state, scheduler.status.model, old.closed) == (EngineState.IDLE, "scripted", False)
    assert scheduler.submit(request("a", "x = ")).result.result(SECONDS).text == "42"


def test_a_model_can_be_switched_to_where_none_could_be_loaded(start: Start) -> None:
    scheduler = start(ModelNotFoundError("There is no such file."))
    until(lambda: scheduler.status.state is EngineState.FAILED)
    assert scheduler.switch(loader("worse", ModelNotFoundError("Nor this one."))).result(SECONDS) == "Nor this one."
    assert scheduler.status.message == "Nor this one."
    assert scheduler.switch(loader("new", ScriptedEngine(["x = 43"]))).result(SECONDS) == ""
    assert scheduler.submit(request("a", "x = ")).result.result(SECONDS).text == "43"


def test_of_several_models_the_last_one_wins_and_everybody_is_answered(start: Start) -> None:
    scheduler = start(ScriptedEngine(["x = 42"]))
    begun = threading.Event()

    def slowly(cancelled: Callable[[], bool]) -> None:
        begun.set()
        until(cancelled)
        raise CancelledError

    first = scheduler.switch(loader("first", ScriptedEngine(), before=slowly))
    assert begun.wait(SECONDS)
    second = scheduler.switch(loader("second", ScriptedEngine()))
    third = scheduler.switch(loader("third", ScriptedEngine(["x = 43"])))
    assert first.result(SECONDS) == "The switch to first was cancelled."
    assert second.result(SECONDS) == "The switch to second was cancelled."
    assert third.result(SECONDS) == ""
    assert scheduler.status.model == "third"


def test_closing_answers_who_waits_for_a_model(start: Start) -> None:
    scheduler = start(ScriptedEngine())
    begun = threading.Event()

    def slowly(cancelled: Callable[[], bool]) -> None:
        begun.set()
        until(cancelled)
        raise CancelledError

    waiting = scheduler.switch(loader("first", ScriptedEngine(), before=slowly))
    assert begun.wait(SECONDS)
    assert scheduler.close()
    assert waiting.result(SECONDS) == "The switch to first was cancelled."


def test_settings_hold_for_the_model_that_runs(start: Start) -> None:
    scheduler = start(ScriptedEngine(["x = 1\ny = 2\nz = 3\nu = 4\n"]))
    until(lambda: scheduler.status.state is EngineState.IDLE)
    scheduler.configure(Settings(completion=CompletionSettings(max_tokens=1, gate=False)))
    completion = scheduler.submit(request("a", "x = 1\n")).result.result(SECONDS)
    assert completion.generation is not None
    assert len(completion.generation.tokens) == 1


def test_the_status_says_how_far_the_measuring_of_the_machine_is(start: Start) -> None:
    states = list[Status]()

    def load(cancelled: Callable[[], bool]) -> Pipeline:
        return Pipeline(ScriptedEngine(["x = 42"]), CompletionSettings())

    scheduler = start(ScriptedEngine(), load=load, states=states)
    scheduler.submit(request("a", "x = ")).result.result(SECONDS)
    until(lambda: bool(states) and states[-1].calibrated is None and len(states) > 3)
    measured = [state.calibrated for state in states if state.calibrated is not None]
    assert measured[0] == 0.0
    assert measured[-1] == 1.0
    assert measured == sorted(measured)
