"""`spark-lsp optimize [MODEL]`: a variant of a model made for this machine."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import click

from spark_lsp.errors import ModelError
from spark_lsp.models.catalogue import DEFAULT_MODEL

INTERRUPTED = 130
"""The exit code of a program that Ctrl-C ended."""


@click.command(short_help="Make a faster variant of a model for this machine.")
@click.argument("model", metavar="[MODEL]", default=DEFAULT_MODEL)
@click.option(
    "--max-loss",
    metavar="POINTS",
    type=click.FloatRange(0.0, 100.0),
    default=1.5,
    show_default=True,
    help="Most points of exact match that the kept variant may lose, at the upper end of the 95 % interval.",
)
@click.option("--tasks", type=click.IntRange(3, 1_000_000), help="Infilling tasks to measure with.  [default: 1800]")
@click.option("--quick", is_flag=True, help="A first look: speeds, and the loss from 120 tasks.")
@click.option("--recipe", "recipes", metavar="NAME", multiple=True, help="Try only this recipe; may be repeated.")
@click.option(
    "--sources",
    metavar="PATH",
    multiple=True,
    type=click.Path(exists=True, path_type=Path),
    help="Take half of the tasks from this file or folder; may be repeated.",
)
@click.option("--better-source", is_flag=True, help="Download the Q8_0 file of the model first, to start from.")
@click.option("--keep-all", is_flag=True, help="Do not remove the variants that are not kept.")
@click.option("--status", is_flag=True, help="Show the kept variant and do nothing else.")
@click.option("--remove", is_flag=True, help="Remove the kept variant and everything measured.")
@click.pass_context
def optimize(
    context: click.Context,
    model: str,
    max_loss: float,
    tasks: int | None,
    quick: bool,
    recipes: tuple[str, ...],
    sources: tuple[Path, ...],
    better_source: bool,
    keep_all: bool,
    status: bool,
    remove: bool,
) -> None:
    """Try variants of MODEL (a name or the path of a GGUF file), measure them here, keep the fastest good one.

    Variants have a smaller vocabulary, other types of weights, or both. Each is compared with the original: speed,
    memory, agreement of the next token, and exact match on lines of the Python standard library. The kept one is put
    beside the model, and the server uses it from its next start on.

    With the 0.5B model on two cores --quick takes about half an hour and a whole run two to three hours. Ctrl-C ends
    it; the same command goes on where it stopped.
    """
    from spark_lsp.models.store import resolve

    if status and remove:
        raise click.UsageError("--status and --remove exclude each other.")
    path = resolve(model)
    if status:
        _show_status(path)
        return
    if remove:
        _remove(path)
        return
    from spark_lsp.cli.optimize_report import print_result, shown_activity
    from spark_lsp.models.optimize.session import DEFAULT, QUICK, Options, run_session

    amount = QUICK if quick else DEFAULT
    if tasks is not None:
        amount = dataclasses.replace(amount, tasks=tasks)
    try:
        if better_source:
            _pull_better(path)
        with shown_activity() as report:
            result = run_session(path, Options(amount, max_loss, recipes, sources, keep_all), report)
    except KeyboardInterrupt:
        click.echo("Interrupted. What is finished is kept; the same command goes on from there.", err=True)
        context.exit(INTERRUPTED)
    print_result(path, result)


def _pull_better(path: Path) -> None:
    """Download the better file; where that fails, say so and go on without it."""
    from spark_lsp.cli.models import shown_progress
    from spark_lsp.models import sources
    from spark_lsp.models.optimize.better_source import better_card

    card = better_card(path)
    if card is None:
        click.echo("The catalogue has no better file of this model; starting from the given one.", err=True)
        return
    try:
        with shown_progress(card) as progress:
            sources.pull(card, progress=progress)
    except ModelError as error:
        click.echo(f"{error.sentence} Starting from the given file.", err=True)


def _show_status(path: Path) -> None:
    from spark_lsp.models.disk import size_text
    from spark_lsp.models.optimize.host import cpu_name, runtime_version
    from spark_lsp.models.optimize.variants import kept_variant, variant_file

    variant = kept_variant(path)
    if variant is None:
        if variant_file(path).exists():
            click.echo(f"{variant_file(path)} belongs to another state of {path.name} and is not used.")
        else:
            click.echo(f"There is no variant of {path.name}. Run `spark-lsp optimize` to make one.")
        return
    manifest = variant.manifest
    sizes = f"{size_text(manifest.variant_size)} instead of {size_text(manifest.source_size)}"
    click.echo(f"{variant.path}\n{variant.summary()}\n{sizes}; made on {manifest.made}")
    if (manifest.cpu, manifest.llama_cpp) != (cpu_name(), runtime_version()):
        made = f"{manifest.cpu}, llama-cpp-python {manifest.llama_cpp}"
        click.echo(f"It was measured on {made}; run `spark-lsp optimize` again to measure it here.")


def _remove(path: Path) -> None:
    from spark_lsp.models.optimize.variants import remove_variant
    from spark_lsp.models.optimize.work_folder import disk_failures_explained, remove_work, work_path

    with disk_failures_explained(work_path(path)):
        gone = remove_variant(path)
        gone = remove_work(path) or gone
    what = "The variant and the measurements" if gone else "There was no variant"
    click.echo(f"{what} of {path.name} {'were removed' if gone else 'to remove'}.")
