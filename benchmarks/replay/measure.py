"""Every session through every program, by turns, so that what disturbs the machine disturbs all alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import PurePosixPath

from benchmarks.infilling.journal import Journal
from benchmarks.replay.completer import Completer, CompleterError
from benchmarks.replay.metrics import Tally, tally
from benchmarks.replay.runner import Manner, replay
from benchmarks.replay.sessions import Session

Make = Callable[[], Completer]


def record_id(session: Session, turn: int) -> str:
    """Return the name under which the journal keeps one repetition of a session."""
    return f"{session.id} #{turn}"


async def measure(
    sessions: Sequence[Session],
    makers: Mapping[str, Make],
    repetitions: int,
    manner: Manner,
    count_tokens: Callable[[str], int],
    journal: Journal,
    on_done: Callable[[Session, int, str, Tally], None],
) -> dict[str, str]:
    """Replay what the journal does not have yet; return the programs that were left out, and why.

    Every repetition starts all programs anew, and their order rotates.
    """
    left_out: dict[str, str] = {}
    for turn in range(repetitions):
        wanted = [name for name in makers if name not in left_out]
        missing = {name for name in wanted if any(_key(s, turn, name) not in journal.records for s in sessions)}
        running = await _started({name: makers[name] for name in wanted if name in missing}, left_out)
        try:
            for number, session in enumerate(sessions):
                first = (number + turn) % max(1, len(running))
                names = list(running)
                for name in names[first:] + names[:first]:
                    if _key(session, turn, name) in journal.records:
                        continue
                    path = f"{turn}/{number}/{PurePosixPath(session.path).name}"
                    trace = await replay(session, running[name], manner, path)
                    result = tally(trace, count_tokens)
                    identity = {"set": session.language, "id": record_id(session, turn), "way": name}
                    journal.add({**identity, "turn": turn, "tally": asdict(result)})
                    on_done(session, turn, name, result)
        finally:
            for completer in running.values():
                await completer.stop()
    return left_out


async def _started(makers: Mapping[str, Make], left_out: dict[str, str]) -> dict[str, Completer]:
    running: dict[str, Completer] = {}
    for name, make in makers.items():
        completer = make()
        try:
            await completer.start()
        except CompleterError as error:
            left_out[name] = str(error)
            await completer.stop()
        else:
            running[name] = completer
    return running


def _key(session: Session, turn: int, name: str) -> tuple[str, str, str]:
    return session.language, record_id(session, turn), name
