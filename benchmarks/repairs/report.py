"""The table of a run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchmarks.machine import heading

_HEAD = (
    "| fault | diagnostic | edit | | asked | tokens | steps | seconds |\n"
    "| --- | --- | --- | --- | ---: | ---: | ---: | ---: |"
)
_CELL = 44


def render(measured: dict[str, Any]) -> str:
    """Return the heading, a row for each fault, and the counts."""
    rows = measured["rows"]
    lines = [heading(measured), "", _HEAD, *map(_row, rows), ""]
    developed, held_out = ([row for row in rows if row["held_out"] is held] for held in (False, True))
    if developed and held_out:
        lines += [f"Faults that the repairs were developed with: {_counts(developed)}", ""]
        lines += [f"Held out: {_counts(held_out)}"]
    else:
        lines.append(_counts(rows))
    return "\n".join(lines) + "\n"


def _counts(rows: Sequence[dict[str, Any]]) -> str:
    count = {what: sum(row["result"] == what for row in rows) for what in ("removed", "stays", "worse", "none")}
    exact = sum(row["exact"] for row in rows)
    preferred = [row for row in rows if row["proven"]]
    sound = sum(row["result"] == "removed" for row in preferred)
    return (
        f"{count['removed']} of {len(rows)} diagnostics removed ({exact} as the author had it), "
        f"{count['none']} without a repair, {count['stays']} repairs left it, {count['worse']} made it worse. "
        f"Preferred: {len(preferred)}, of which {sound} removed it."
    )


def _row(row: dict[str, Any]) -> str:
    result = row["result"] + (", exact" if row["exact"] else "") + (", preferred" if row["proven"] else "")
    edit = f"{row['old']!r} → {row['new']!r}" if row["new"] is not None else row["sentence"]
    cells = [row["fault"], _cut(row["message"]), _cut(edit), result]
    cells += [str(row["answers"]), str(row["tokens"]), str(row["steps"]), f"{row['seconds']:.1f}"]
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _cut(text: str) -> str:
    return text if len(text) <= _CELL else text[: _CELL - 1] + "…"
