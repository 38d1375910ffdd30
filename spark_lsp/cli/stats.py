"""`spark-lsp stats`: what became of suggestions, as counted on this machine."""

from __future__ import annotations

import json

import click


@click.command(short_help="Show how many suggestions were shown, accepted and kept.")
@click.option("--json", "as_json", is_flag=True, help="Print all counts as JSON.")
@click.option("--reset", is_flag=True, help="Delete the counts.")
def stats(as_json: bool, reset: bool) -> None:
    """Show how many suggestions were shown, accepted, accepted in part and kept, by language and by drafter.

    Kept are those whose text still stood in the document 30 seconds after it was accepted. The counts lie in your state
    directory, or where SPARK_LSP_STATE points, and are never sent anywhere. Running servers add theirs once in a while.
    """
    from spark_lsp.statistics import report, store

    path = store.statistics_path()
    if reset:
        click.echo("The counts are deleted." if store.reset(path) else "There was nothing to delete.")
        return
    statistics = store.load(path)
    if as_json:
        click.echo(json.dumps(report.as_json(statistics), indent=2))
    else:
        click.echo(report.as_text(statistics))
