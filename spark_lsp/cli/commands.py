"""The command group, with each command loaded when it is called."""

from __future__ import annotations

import importlib
import logging
import os
import sys
from collections.abc import Sequence

import click

from spark_lsp import __version__
from spark_lsp.errors import SparkError

DEBUG_VARIABLE = "SPARK_LSP_DEBUG"
"""With this in the environment an unexpected failure also prints its traceback."""
_COMMANDS = {
    "complete": "spark_lsp.cli.complete:complete",
    "demo": "spark_lsp.cli.demo:demo",
    "models": "spark_lsp.cli.models:models",
    "optimize": "spark_lsp.cli.optimize:optimize",
    "settings": "spark_lsp.cli.settings:settings",
    "stats": "spark_lsp.cli.stats:stats",
}


class _LazyGroup(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(_COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        target = _COMMANDS.get(name)
        if target is None:
            return None
        module, _, attribute = target.partition(":")
        command: click.Command = getattr(importlib.import_module(module), attribute)
        return command


@click.group(
    cls=_LazyGroup,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="""Editors start the server with `spark-lsp --stdio` (or --tcp [HOST:]PORT; see `spark-lsp --stdio --help`).

    First steps: `spark-lsp demo` pulls the default model and shows a completion.""",
)
@click.version_option(__version__, prog_name="spark-lsp", message="%(prog)s %(version)s")
@click.option("--stdio", is_flag=True, help="Serve an editor over standard input and output (must come first).")
@click.option("--tcp", metavar="[HOST:]PORT", help="Serve one editor over TCP (must come first).")
@click.pass_context
def group(context: click.Context, stdio: bool, tcp: str | None) -> None:
    """Inline code completions from a model on your own machine."""
    if stdio or tcp:
        raise click.UsageError("--stdio and --tcp must be the first argument.")
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


def run(arguments: Sequence[str]) -> None:
    """Run a command. A failure of ours is one sentence on standard error and exit code 1."""
    try:
        group.main(args=list(arguments), prog_name="spark-lsp")
    except SparkError as error:
        click.echo(f"spark-lsp: {error}", err=True)
        sys.exit(1)
    except Exception as error:
        if os.environ.get(DEBUG_VARIABLE):
            logging.getLogger(__name__).exception("The command failed")
        click.echo(
            f"spark-lsp: this should not have happened: {type(error).__name__}: {error}. "
            f"Set {DEBUG_VARIABLE}=1 to see where, and report it.",
            err=True,
        )
        sys.exit(2)
