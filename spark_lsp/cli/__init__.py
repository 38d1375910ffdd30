"""The command line: one module for each command.

`spark-lsp --stdio` is what editors start, so it takes a path of its own that imports neither click nor rich.
"""

from __future__ import annotations

import sys

_SERVE_FLAGS = frozenset({"--stdio", "--tcp"})


def main() -> None:
    """Run the command that the arguments name; errors of ours end with one sentence and exit code 1."""
    arguments = sys.argv[1:]
    if arguments and arguments[0].partition("=")[0] in _SERVE_FLAGS:
        from spark_lsp.cli.serve import main as serve

        serve(arguments)
    from spark_lsp.cli.commands import run

    run(arguments)
