"""The figures of sessions, from their traces. Pure.

*Time to ghost text* runs from a stroke to the first text shown after it and before the next stroke. A place is cold
until the first text shown after the file was opened or the cursor jumped. That looks only at strokes with a text; the
median over *every stroke* takes those without one before the next stroke as infinitely long.

*Felt tokens/s*: tokens of accepted text, divided by the seconds waited for it. The wait for an accepted text runs from
the last stroke before the text was first on screen to that moment. It counts once for everything that was accepted of
what appeared then: what is left of a ghost text was on screen already. *Felt warm* leaves out what appeared first at a
cold place, where most of the wait is for the prompt.

*Wrong characters* are those of a text behind its right beginning, counted when they first appear.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from benchmarks.replay.trace import Counts, Shown, Stroked, Trace
from benchmarks.replay.typist import Kind
from spark_lsp.documents.shared import shared_start


@dataclass(slots=True)
class Tally:
    """What adds up over sessions."""

    sessions: int = 0
    seconds: float = 0.0
    strokes: int = 0
    strokes_alone: int = 0
    warm: list[float] = field(default_factory=list)
    """Times to ghost text, in seconds."""
    cold: list[float] = field(default_factory=list)
    typing_places: int = 0
    """Strokes after which the author goes on typing, so that a text could help."""
    ghosts: int = 0
    """Those of them after which a text was shown before the next stroke."""
    quiet_places: int = 0
    quiet_kept: int = 0
    """Quiet places at which nothing was shown."""
    accepted: int = 0
    kept_characters: int = 0
    kept_tokens: int = 0
    waited: float = 0.0
    """Seconds, for the accepted texts."""
    kept_tokens_warm: int = 0
    """Those of accepted texts that appeared first at a warm place."""
    waited_warm: float = 0.0
    """Seconds, for those."""
    wrong_characters: int = 0
    requests: int = 0
    without_model: int = 0
    prompt_tokens: int = 0
    decoded_tokens: int = 0
    cpu_seconds: float = 0.0


@dataclass(slots=True)
class _OnScreen:
    """A text that was shown, as long as what is written since agrees with it."""

    offset: int
    text: str
    wait: float
    """Seconds from the stroke before it; 0 once it was counted."""
    cold: bool
    """Whether it appeared at a cold place."""


def tally(trace: Trace, count_tokens: Callable[[str], int]) -> Tally:
    """Return the figures of one session."""
    result = Tally(sessions=1, seconds=trace.seconds, strokes_alone=trace.strokes_alone)
    _add_counts(result, trace.counts)
    seen: list[_OnScreen] = []
    before: Stroked | None = None
    cold = cold_place = first = True
    last: _OnScreen | None = None
    for event in trace.events:
        if isinstance(event, Stroked):
            _end_place(result, before, first)
            result.strokes += event.kind is not Kind.JUMP
            cold = cold or event.kind is Kind.JUMP
            if event.kind is Kind.ACCEPT:
                _accept(result, event, seen, count_tokens)
            seen = _still_on_screen(seen, event)
            last = seen[-1] if seen and seen[-1] is last else None
            before, first, cold_place = event, True, cold
        elif event.text:
            wait = event.at - before.at if before is not None else 0.0
            result.wrong_characters += _new_wrong(event, last)
            last = _OnScreen(event.offset, event.text, wait, cold_place)
            if first and before is not None:
                (result.cold if cold_place else result.warm).append(wait)
                first = cold = False
            seen.append(last)
    _end_place(result, before, first)
    return result


def _end_place(result: Tally, before: Stroked | None, nothing_shown: bool) -> None:
    if before is None:
        return
    if before.quiet:
        result.quiet_places += 1
        result.quiet_kept += nothing_shown
    else:
        result.typing_places += 1
        result.ghosts += not nothing_shown


def _accept(result: Tally, event: Stroked, seen: list[_OnScreen], count_tokens: Callable[[str], int]) -> None:
    result.accepted += 1
    result.kept_characters += len(event.text)
    tokens = count_tokens(event.text)
    result.kept_tokens += tokens
    for shown in seen:  # the earliest first
        begin = event.offset - shown.offset
        if shown.text[begin : begin + len(event.text)] == event.text:
            result.waited += shown.wait
            if not shown.cold:
                result.kept_tokens_warm += tokens
                result.waited_warm += shown.wait
            shown.wait = 0.0
            return
    raise ValueError("a text was accepted that was never on screen")


def _still_on_screen(seen: list[_OnScreen], event: Stroked) -> list[_OnScreen]:
    """Return the texts that what was written agrees with; one of which nothing is left stays nowhere."""
    kept = []
    for shown in seen:
        begin = event.offset - shown.offset
        end = begin + len(event.text)
        added = bool(event.text) and (not event.removed or event.kind is Kind.ACCEPT)
        if added and begin >= 0 and shown.text[begin:end] == event.text and end < len(shown.text):
            kept.append(shown)
    return kept


def _new_wrong(event: Shown, before: _OnScreen | None) -> int:
    """Return how many wrong characters of a text were not on screen with the text before it."""
    old = before.text[event.offset - before.offset :] if before is not None and event.offset >= before.offset else ""
    same = shared_start(old, event.text)
    return max(0, len(event.text) - max(event.right, same))


def _add_counts(result: Tally, counts: Counts) -> None:
    for name, value in asdict(counts).items():
        setattr(result, name, getattr(result, name) + value)


def total(tallies: Iterable[Tally]) -> Tally:
    """Return the sums of all fields."""
    result = Tally()
    for part in tallies:
        for name, value in asdict(part).items():
            setattr(result, name, getattr(result, name) + value)
    return result


def quantile(values: Sequence[float], share: float) -> float | None:
    """Return the quantile of `values` by linear interpolation; None of none."""
    if len(values) < 2:
        return values[0] if values else None
    return statistics.quantiles(values, n=100, method="inclusive")[round(100 * share) - 1]


def median_with_never(values: Sequence[float], count: int) -> float | None:
    """Return the median of `count` strokes of which only `values` had a text; None if half of them had none."""
    ordered = sorted(values)
    return ordered[count // 2] if count // 2 < len(ordered) else None


def figures(of: Tally) -> dict[str, float | None]:
    """Return what the tables show, by name; None where nothing was measured. Times in seconds."""
    return {
        "warm p50": quantile(of.warm, 0.5),
        "warm p90": quantile(of.warm, 0.9),
        "warm p95": quantile(of.warm, 0.95),
        "cold p50": quantile(of.cold, 0.5),
        "cold p95": quantile(of.cold, 0.95),
        "every stroke p50": median_with_never([*of.warm, *of.cold], of.typing_places + of.quiet_places),
        "places with a ghost": _ratio(of.ghosts, of.typing_places),
        "without a model call": _ratio(of.without_model, of.requests),
        "kept characters": float(of.kept_characters),
        "wrong per kept": _ratio(of.wrong_characters, of.kept_characters),
        "decoded per kept": _ratio(of.decoded_tokens, of.kept_characters),
        "prompt per kept": _ratio(of.prompt_tokens, of.kept_characters),
        "saved strokes": _ratio(of.strokes_alone - of.strokes, of.strokes_alone),
        "quiet rate": _ratio(of.quiet_kept, of.quiet_places),
        "CPU s per minute": _ratio(60 * of.cpu_seconds, of.seconds),
        "felt tokens/s": _ratio(of.kept_tokens, of.waited),
        "felt warm": _ratio(of.kept_tokens_warm, of.waited_warm),
    }


def _ratio(part: float, whole: float) -> float | None:
    return part / whole if whole else None


def tally_from(data: dict[str, Any]) -> Tally:
    """Return a tally that was kept as a dictionary of its fields."""
    return Tally(**data)
