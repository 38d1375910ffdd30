"""`spark-lsp settings`: what can be set, for people and for programs that make editors' settings from it."""

from __future__ import annotations

import json

import click


@click.command(short_help="Print all settings with their defaults.")
@click.option("--json-schema", is_flag=True, help="Print a JSON schema of the settings object.")
@click.option("--markdown", is_flag=True, help="Print a table.")
def settings(json_schema: bool, markdown: bool) -> None:
    """Print a spark-lsp.toml with all settings, commented out.

    Put it into the workspace folder or into your config directory, and take the # off what you change.
    """
    from spark_lsp import settings_schema
    from spark_lsp.settings_files import user_file

    if json_schema:
        click.echo(json.dumps(settings_schema.json_schema(), indent=2))
    elif markdown:
        click.echo(settings_schema.markdown_table(), nl=False)
    else:
        click.echo(f"# Yours is {user_file()}.")
        click.echo(settings_schema.commented_toml(), nl=False)
