"""Sessions on the virtual clock: hours of typing in no time."""

from __future__ import annotations

import asyncio
import dataclasses
import math

import pytest

from benchmarks.replay.clock import run_virtually
from benchmarks.replay.completer import Ghost
from benchmarks.replay.metrics import tally
from benchmarks.replay.policy import AcceptPolicy
from benchmarks.replay.rhythm import Rhythm
from benchmarks.replay.runner import Manner, alone, replay
from benchmarks.replay.sessions import ChangedFile, Session, session_of
from benchmarks.replay.trace import Shown, Stroked, Trace
from benchmarks.replay.typist import Kind
from tests.benchmarks.replay.scripted_completer import ScriptedCompleter, knowing, silent, wrong

OLD = "def area(width, height):\n    return width\n\n\ndef name():\n    return 'box'\n"
NEW = (
    "def area(width, height):\n    if width < 0:\n        raise ValueError(width)\n    return width * height_of(it)\n"
    "\n\ndef name():\n    return 'box'\n\n\ndef volume(width, height, depth):\n    return area(width, height) * depth\n"
)
CALM = Manner(dataclasses.replace(Rhythm(), typo_share=0.0, micro_pause_share=0.0, hesitation_share=0.0, key_sigma=0.0))
"""Keys every 0.23 s, no typos, no pauses."""


@pytest.fixture
def session() -> Session:
    found = session_of(ChangedFile("python", "p", "a.py", OLD, NEW), 3)
    assert found is not None
    assert len(found.hunks) >= 2
    return found


def replayed(session: Session, completer: ScriptedCompleter, manner: Manner = CALM) -> Trace:
    return run_virtually(replay(session, completer, manner, "a.py"))


def strokes(trace: Trace, kind: Kind) -> list[Stroked]:
    return [event for event in trace.events if isinstance(event, Stroked) and event.kind is kind]


def test_the_virtual_clock_leaps_to_what_is_due() -> None:
    async def nap() -> float:
        await asyncio.sleep(3600)
        return asyncio.get_running_loop().time()

    assert run_virtually(nap()) == pytest.approx(3600)


def test_a_virtual_loop_in_which_nothing_is_due_says_so() -> None:
    with pytest.raises(RuntimeError, match="everybody waits"):
        run_virtually(asyncio.wait_for(asyncio.Event().wait(), None))


@pytest.mark.parametrize("manner", [CALM, Manner(), Manner(seed=5)])
def test_without_suggestions_every_stroke_is_made_and_the_newer_version_stands_there(
    session: Session, manner: Manner
) -> None:
    completer = ScriptedCompleter(silent)
    trace = replayed(session, completer, manner)
    count, seconds = alone(session, manner)
    assert completer.text == NEW
    assert trace.strokes_alone == count
    assert len(trace.events) == count + len(session.hunks)
    assert trace.seconds == pytest.approx(seconds - manner.rhythm.jump)


def test_the_same_seed_gives_the_same_trace(session: Session) -> None:
    first, second = (replayed(session, ScriptedCompleter(knowing(NEW, 12)), Manner(seed=2)) for _ in range(2))
    assert first == second


def test_right_suggestions_are_accepted_and_shorten_the_typing(session: Session) -> None:
    completer = ScriptedCompleter(knowing(NEW))
    trace = replayed(session, completer)
    found = tally(trace, len)
    assert completer.text == NEW
    assert found.accepted >= len(session.hunks)
    assert found.strokes < found.strokes_alone / 3
    assert trace.seconds < alone(session, CALM)[1] / 2


def test_what_is_shown_while_old_text_is_to_be_deleted_is_wrong_altogether() -> None:
    session = session_of(ChangedFile("python", "p", "a.py", "x = the_old_name_of_it\n", "x = something_new()\n"), 0)
    assert session is not None

    def answer(text: str, cursor: int) -> Ghost:
        return Ghost("something_new()"[0 if "old" in text else cursor - 4 :])

    trace = replayed(session, ScriptedCompleter(answer))
    shown = [event for event in trace.events if isinstance(event, Shown)]
    assert shown[0].right == 0
    assert all(event.right == len(event.text) for event in shown[1:])
    assert tally(trace, len).wrong_characters == len(shown[0].text)


def test_wrong_suggestions_change_nothing_of_the_typing(session: Session) -> None:
    trace = replayed(session, ScriptedCompleter(wrong))
    found = tally(trace, len)
    assert (found.accepted, found.kept_characters) == (0, 0)
    assert found.wrong_characters > 0
    assert trace.seconds == pytest.approx(replayed(session, ScriptedCompleter(silent)).seconds)


def test_a_text_is_accepted_once_it_was_noticed_and_typing_into_it_does_not_delay_that(session: Session) -> None:
    trace = replayed(session, ScriptedCompleter(knowing(NEW), seconds=0.0))
    shown = next(event for event in trace.events if isinstance(event, Shown))
    accepted = strokes(trace, Kind.ACCEPT)[0]
    assert strokes(trace, Kind.KEY)[0].at < accepted.at, "keys were typed meanwhile"
    assert accepted.at - shown.at == pytest.approx(CALM.rhythm.noticed_after(accepted.text))


def test_a_text_that_comes_late_is_seen_anew_after_every_key(session: Session) -> None:
    slow = ScriptedCompleter(knowing(NEW), seconds=CALM.rhythm.flicker + 0.05)
    calm = dataclasses.replace(CALM.rhythm, key=0.35)
    assert not strokes(replayed(session, slow, Manner(calm)), Kind.ACCEPT), "there is never half a second to notice it"


def test_nothing_is_accepted_while_what_stands_there_is_wrong(session: Session) -> None:
    for seed in range(3):
        trace = replayed(session, ScriptedCompleter(lambda text, cursor: Ghost("value")), Manner(seed=seed))
        assert not strokes(trace, Kind.ACCEPT)


def test_a_policy_takes_less_of_a_suggestion(session: Session) -> None:
    words = Manner(CALM.rhythm, AcceptPolicy(whole=False, line=False))
    trace = replayed(session, ScriptedCompleter(knowing(NEW)), words)
    assert all(len(stroke.text.split()) <= 1 for stroke in strokes(trace, Kind.ACCEPT))
    assert strokes(trace, Kind.ACCEPT)


def test_a_suggestion_may_indent_the_line_anew() -> None:
    old = "def a():\n    return 1\n"
    new = old + "something = a()\n"
    session = session_of(ChangedFile("python", "p", "a.py", old, new), 0)
    assert session is not None

    def answer(text: str, cursor: int) -> Ghost:
        return Ghost("something = a()", back=4) if text[:cursor].endswith("\n    ") else Ghost("")

    patient = dataclasses.replace(CALM.rhythm, backspace=5.0)
    trace = replayed(session, completer := ScriptedCompleter(answer), Manner(patient))
    assert completer.text == new
    assert [(stroke.text, stroke.removed) for stroke in strokes(trace, Kind.ACCEPT)] == [("something = a()", 4)]
    assert not math.isinf(tally(trace, len).waited)


def test_a_program_is_asked_what_it_used_in_the_session_alone(session: Session) -> None:
    completer = ScriptedCompleter(silent)

    async def twice() -> list[Trace]:
        return [await replay(session, completer, CALM, "a.py") for _ in range(2)]

    first, second = run_virtually(twice())
    assert first.counts == second.counts
    assert first.counts.requests > 0
