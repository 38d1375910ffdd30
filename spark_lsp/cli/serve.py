"""`spark-lsp --stdio` and `spark-lsp --tcp HOST:PORT`: the language server.

Uses argparse and imports the server late: an editor waits for the first answer.
"""

from __future__ import annotations

import argparse
import logging
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

LOOPBACK = "127.0.0.1"


def serve_parser() -> argparse.ArgumentParser:
    """Return the parser for the server's own flags."""
    parser = argparse.ArgumentParser(prog="spark-lsp", description="Serve inline completions to an editor.")
    way = parser.add_mutually_exclusive_group(required=True)
    way.add_argument("--stdio", action="store_true", help="speak over standard input and output")
    way.add_argument("--tcp", metavar="[HOST:]PORT", help="wait for one client; HOST is 127.0.0.1 unless given")
    parser.add_argument("--model", metavar="NAME", help="catalogue name or path of a GGUF file")
    parser.add_argument("--draft-model", metavar="NAME", help="a smaller model of the same family that drafts for it")
    parser.add_argument(
        "--no-optimized",
        action="store_true",
        help="use the model itself even where `spark-lsp optimize` kept a variant",
    )
    parser.add_argument(
        "--log-file", metavar="FILE", type=Path, help="append the log to FILE instead of standard error"
    )
    parser.add_argument(
        "--log-level", default="warning", choices=["debug", "info", "warning", "error"], help="default: warning"
    )
    # vscode-languageclient adds this to every server it starts.
    parser.add_argument("--clientProcessId", dest="client", help=argparse.SUPPRESS)
    return parser


def main(arguments: Sequence[str]) -> NoReturn:
    """Serve until the client leaves, then end the process."""
    parser = serve_parser()
    options = parser.parse_args(arguments)
    address = _address(parser, options.tcp) if options.tcp is not None else None
    _start_log(options.log_level, options.log_file)
    from spark_lsp.server.transport import protocol_stdout, serve_stdio, serve_tcp

    stdout = protocol_stdout()
    from spark_lsp.loading import local_loader
    from spark_lsp.server.app import SparkServer
    from spark_lsp.settings import given_flags

    flags = given_flags(options.model, optimized=not options.no_optimized, draft=options.draft_model)
    server = SparkServer(local_loader, flags=flags)
    try:
        if address is None:
            code = serve_stdio(server, sys.stdin.buffer, stdout)
        else:
            code = serve_tcp(server, *address)
    except OSError as error:
        print(f"spark-lsp: cannot listen on {options.tcp}: {error.strerror}.", file=sys.stderr)
        code = 1
    logging.shutdown()
    sys.stderr.flush()
    # The thread that reads standard input may block for ever; nothing is left to be saved.
    os._exit(code)


def _address(parser: argparse.ArgumentParser, text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    if not port.isdigit() or int(port) > 65535:
        parser.error(f"--tcp takes [HOST:]PORT, not {text!r}")
    return host.strip("[]") or LOOPBACK, int(port)


def _start_log(level: str, file: Path | None) -> None:
    handler: logging.Handler = logging.StreamHandler(sys.stderr)
    if file is not None:
        try:
            file.expanduser().parent.mkdir(parents=True, exist_ok=True)
            handler = logging.FileHandler(file.expanduser(), encoding="utf-8")
        except OSError as error:
            print(f"spark-lsp: cannot write the log file {file}: {error.strerror}; using stderr.", file=sys.stderr)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    # The level of the handler, not only of the root: a client that traces makes the program log more, for itself.
    handler.setLevel(level.upper())
    logging.basicConfig(level=level.upper(), handlers=[handler])
    if level != "debug":
        # pygls logs a traceback for whatever a client gets wrong; the protocol layer says it in one line.
        logging.getLogger("pygls").setLevel(logging.CRITICAL)
        logging.getLogger("asyncio").setLevel(logging.CRITICAL)
