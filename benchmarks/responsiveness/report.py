"""The table of a measured run, as Markdown; made from what the JSON file holds."""

from __future__ import annotations

import statistics
from typing import Any

from benchmarks.machine import heading


def render(measured: dict[str, Any]) -> str:
    """Return the whole report; ends with a newline."""
    lines = ["| what | median | worst | n |", "| --- | ---: | ---: | ---: |"]
    for name, values in measured["samples"].items():
        lines.append(f"| {name} | {statistics.median(values):.3g} | {max(values):.3g} | {len(values)} |")
    return f"{heading(measured)}\n\n" + "\n".join(lines) + "\n"
