"""The counts as tables: by language and by drafter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from spark_lsp.statistics.counts import Counts, Row, Table, to_json, total
from spark_lsp.statistics.store import Statistics

HEADINGS = ("shown", "accepted", "in part", "kept")


def as_json(statistics: Statistics) -> dict[str, Any]:
    """Return everything that was counted."""
    whole = total(statistics.table.values())
    return {
        "since": statistics.since,
        "acceptanceRate": acceptance_rate(whole),
        "keptRate": kept_rate(whole),
        "rows": to_json(statistics.table),
    }


def as_text(statistics: Statistics) -> str:
    """Return two tables, each with a line for everything together."""
    if not statistics.table:
        return "Nothing was counted yet."
    blocks = [f"Since {statistics.since}, on this machine only:"]
    keys: dict[str, Callable[[Row], str]] = {"language": lambda row: row.language, "drafter": lambda row: row.drafter}
    for name, key in keys.items():
        lines: list[tuple[str, ...]] = [(name, *HEADINGS)]
        groups = grouped(statistics.table, key)
        lines += [(group, *_cells(counts)) for group, counts in groups]
        lines.append(("all", *_cells(total(statistics.table.values()))))
        widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
        blocks.append("\n".join(_aligned(line, widths) for line in lines))
    return "\n\n".join(blocks)


def _aligned(cells: Sequence[str], widths: Sequence[int]) -> str:
    first, *others = (cell.rjust(width) for cell, width in zip(cells, widths, strict=True))
    return "  ".join([first.strip().ljust(widths[0]), *others])


def grouped(table: Table, key: Callable[[Row], str]) -> list[tuple[str, Counts]]:
    """Return the sums of the rows with the same key, those shown most first."""
    names = {key(row) for row in table}
    sums = [(name, total(counts for row, counts in table.items() if key(row) == name)) for name in names]
    return sorted(sums, key=lambda item: (-item[1].shown, item[0]))


def acceptance_rate(counts: Counts) -> float | None:
    """Return the share of shown suggestions that were accepted, 0 to 1; None if none was shown."""
    return round(min(1.0, counts.accepted / counts.shown), 4) if counts.shown else None


def kept_rate(counts: Counts) -> float | None:
    """Return the share of accepted suggestions that were kept, 0 to 1; None if none was accepted."""
    return round(min(1.0, counts.kept / counts.accepted), 4) if counts.accepted else None


def _cells(counts: Counts) -> tuple[str, ...]:
    return (
        str(counts.shown),
        _with_share(counts.accepted, acceptance_rate(counts)),
        str(counts.partially_accepted),
        _with_share(counts.kept, kept_rate(counts)),
    )


def _with_share(count: int, rate: float | None) -> str:
    return f"{count} ({100 * rate:.0f} %)" if rate is not None else str(count)
