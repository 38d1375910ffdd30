"""What `spark-lsp optimize` shows: its progress on standard error, its table on standard output."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from spark_lsp.models.optimize.events import Activity, Report
    from spark_lsp.models.optimize.run import Outcome
    from spark_lsp.models.optimize.session import Result
    from spark_lsp.models.optimize.statistics import PairedLoss
    from spark_lsp.models.progress import Notice

HEADINGS = (
    "RECIPE",
    "FILE",
    "MEMORY",
    "PROMPT",
    "T(1)",
    "T(4)",
    "T(16)",
    "SPEED",
    "AGREES",
    "EXACT",
    "LOSS",
    "TASKS",
    "",
)
FRONT = "*"
PLAIN_STEP_PERCENT = 25
"""Without a terminal, one line for each quarter of a piece of work."""


def print_result(model: Path, result: Result) -> None:
    """Print the table of all recipes, the Pareto front and what was kept."""
    rows = table_rows(result)
    if sys.stdout.isatty():
        _print_table(rows)
    else:
        _print_plain(rows)
    click.echo(
        f"{FRONT} on the Pareto front: no other recipe is both faster and better. PROMPT is the rate of prompt tokens, "
        "T(N) the time of a step of N tokens, SPEED the geometric mean of the four gains; AGREES is the share of next "
        "tokens, EXACT that of lines completed exactly, LOSS its difference in points with the 95 % interval."
    )
    for name, reason in {**result.skipped, **result.outcome.failed}.items():
        click.echo(f"{name} was not measured: {reason.rstrip('.')}.")
    click.echo(conclusion(model, result))


def table_rows(result: Result) -> list[tuple[str, ...]]:
    """Return the cells of every row, the original first, then the recipes from slow to fast."""
    from spark_lsp.models.disk import size_text
    from spark_lsp.models.optimize.choose import in_order, pareto_front, verdicts

    outcome = result.outcome
    said, front = verdicts(outcome.measured, result.plan.max_loss), pareto_front(outcome.measured)
    rows = [_original_row(outcome)]
    for m in reversed(in_order(outcome.measured)):
        gains = m.gains
        rows.append(
            (
                f"{m.recipe}{' ' + FRONT if m.recipe in front else ''}",
                size_text(m.bytes),
                size_text(m.resident),
                f"{gains['prompt']:.2f}x",
                *(f"{1 / gains[width]:.2f}x" for width in ("1", "4", "16")),
                f"{m.speed:.2f}x",
                f"{m.agreement:.1f} %",
                f"{m.loss.second:.1f} %",
                _loss_text(m.loss),
                str(m.loss.tasks),
                said[m.recipe].value,
            )
        )
    return rows


def conclusion(model: Path, result: Result) -> str:
    """Return what was kept and where, or why nothing was and what to do."""
    from spark_lsp.models.optimize.choose import SMALLEST_GAIN, in_order, loses_too_much
    from spark_lsp.models.optimize.variants import variant_file

    bound, outcome = result.plan.max_loss, result.outcome
    if outcome.variant is not None:
        return (
            f"Kept {outcome.variant.manifest.recipe} as {outcome.variant.path}. The server uses it from its next start "
            "on; `spark-lsp optimize --remove` removes it."
        )
    earlier = " The variant of an earlier run stays." if variant_file(model).exists() else ""
    if not outcome.measured:
        return f"Nothing was kept: no recipe could be measured.{earlier}"
    fast = [m for m in in_order(outcome.measured) if m.speed >= SMALLEST_GAIN]
    if not fast:
        return f"Nothing was kept: no recipe is faster than the original here.{earlier}"
    needed = {m.recipe: m.loss.tasks_to_show(bound) for m in fast if not loses_too_much(m.loss, bound)}
    for name, tasks in needed.items():
        if tasks is not None:
            return (
                f"Nothing was kept: no recipe is shown to lose at most {bound:g} points. About {tasks:,} tasks would "
                f"show it of {name}, if its loss is what it seems: run again with `--tasks {tasks}`.{earlier}"
            )
    return (
        f"Nothing was kept: every faster recipe seems to lose more than {bound:g} points. A file with more bits to "
        f"start from (`--better-source`) or a higher `--max-loss` may change that.{earlier}"
    )


def _original_row(outcome: Outcome) -> tuple[str, ...]:
    from spark_lsp.models.disk import size_text

    record, speed = outcome.original, outcome.original_speed
    hits = [hit for line in record.hits for hit in line]
    steps = [f"{1000 * speed.step_seconds[width]:.0f} ms" for width in (1, 4, 16)] if speed is not None else ["-"] * 3
    return (
        "original",
        size_text(record.bytes),
        size_text(record.resident),
        f"{speed.prompt_tokens_per_second:.0f}/s" if speed is not None else "-",
        *steps,
        "1.00x",
        "100.0 %",
        f"{100 * sum(hits) / len(hits):.1f} %" if hits else "-",
        "-",
        str(len(hits)),
        "",
    )


def _loss_text(loss: PairedLoss) -> str:
    return f"{loss.loss:.1f} ({loss.low:.1f} to {loss.high:.1f})"


def _print_plain(rows: list[tuple[str, ...]]) -> None:
    lines = [HEADINGS, *rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEADINGS))]
    for line in lines:
        click.echo("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())


def _print_table(rows: list[tuple[str, ...]]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style="bold")
    for heading in HEADINGS:
        left = heading in ("RECIPE", "")
        table.add_column(heading, justify="left" if left else "right", no_wrap=heading == "RECIPE", overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row), style="bold" if row[-1] == "kept" else "")
    Console().print(table)


@contextmanager
def shown_activity() -> Iterator[Report]:
    """Give a `Report` that draws a bar on a terminal and writes plain lines elsewhere."""
    if not sys.stderr.isatty():
        yield _plain_lines()
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from spark_lsp.models.progress import Notice

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("", total=None)

        def show(event: Activity | Notice) -> None:
            if isinstance(event, Notice):
                bar.console.print(event.sentence, markup=False, highlight=False)
            else:
                bar.update(task, description=_description(event), completed=event.done, total=event.total)

        yield show


def _plain_lines() -> Report:
    from spark_lsp.models.progress import Notice

    last: tuple[str, int] | None = None

    def show(event: Activity | Notice) -> None:
        nonlocal last
        if isinstance(event, Notice):
            click.echo(event.sentence, err=True)
            return
        step = 100 * event.done // max(1, event.total) // PLAIN_STEP_PERCENT
        if (_description(event), step) != last:
            last = _description(event), step
            share = f", {step * PLAIN_STEP_PERCENT} %" if event.total > 1 else ""
            click.echo(f"{_description(event)}{share}", err=True)

    return show


def _description(event: Activity) -> str:
    place = f"[{event.number}/{event.count}] " if event.number else ""
    return f"{place}{event.recipe}: {event.work}"
