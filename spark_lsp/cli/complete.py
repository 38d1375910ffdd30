"""`spark-lsp complete FILE:LINE:COL`: one completion, without an editor."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import click

from spark_lsp.errors import SparkError

_SECONDS = 60.0
"""A completion from the command line starts with an empty KV cache, which takes seconds on a small machine."""


def _place(text: str) -> tuple[Path, int, int]:
    """Return file, line and column; a Windows drive letter keeps its colon."""
    parts = text.rsplit(":", 2)
    if len(parts) != 3 or not parts[1].isdigit() or not parts[2].isdigit():
        raise click.BadParameter(f"{text!r} is not FILE:LINE:COL, for example src/app.py:12:5.")
    line, column = int(parts[1]), int(parts[2])
    if line < 1 or column < 1:
        raise click.BadParameter("Lines and columns are counted from 1.")
    return Path(parts[0]), line, column


def _read(path: Path) -> str:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise SparkError(f"{path} cannot be read: {error.strerror}.") from error
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise SparkError(f"{path} is not UTF-8 text.") from error


@click.command(short_help="Print the completion at a place in a file.")
@click.argument("place", metavar="FILE:LINE:COL")
@click.option("--model", metavar="NAME", help="Catalogue name or path of a GGUF file.")
@click.option("--json", "as_json", is_flag=True, help="Print insertion, reason, token counts and timings as JSON.")
@click.option("--no-optimized", is_flag=True, help="Use the model itself even where a variant was kept.")
@click.option("--max-tokens", type=click.IntRange(1, 4096), help="Upper bound for the suggestion.")
def complete(place: str, model: str | None, as_json: bool, no_optimized: bool, max_tokens: int | None) -> None:
    """Print what would be inserted at LINE and COL (counted from 1, in characters) of FILE.

    An empty output means that there is nothing to add; --json gives the reason.
    """
    from spark_lsp.documents.text import TextSnapshot
    from spark_lsp.loading import local_loader
    from spark_lsp.pipeline import CompletionRequest
    from spark_lsp.settings import from_flags, load
    from spark_lsp.syntax.languages import language_for

    path, line, column = _place(place)
    text = _read(path)
    completion_settings: dict[str, Any] = {"snapshots": False}  # one answer leaves nothing behind
    if max_tokens is not None:
        completion_settings["maxTokens"] = max_tokens
    settings, _ = load({"completion": completion_settings}, from_flags(model, optimized=not no_optimized))
    snapshot = TextSnapshot.of(text)
    cursor = _cursor(path, snapshot, line, column)
    started = time.monotonic()
    pipeline = local_loader(settings, lambda fraction, stage="": None).load(lambda: False)
    loaded = time.monotonic()
    deadline = time.monotonic() + _SECONDS
    language = language_for("", str(path))
    request = CompletionRequest(str(path), snapshot, cursor, language, deadline=deadline, patient=True, invoked=True)
    try:
        completion = pipeline.complete(request)
    finally:
        pipeline.close()
    if as_json:
        report: dict[str, Any] = {"insertion": completion.text, "reason": completion.reason.value}
        report["model"] = pipeline.engine.info.name
        report["loadSeconds"] = round(loaded - started, 3)
        report["seconds"] = round(completion.seconds, 3)
        if completion.generation is not None:
            report |= generation_report(completion.generation)
        click.echo(json.dumps(report, indent=2, ensure_ascii=False))
    else:
        click.echo(completion.text)


def _cursor(path: Path, snapshot: Any, line: int, column: int) -> int:
    if line > snapshot.line_count:
        raise SparkError(f"{path} has {snapshot.line_count} lines; there is no line {line}.")
    start, end = snapshot.line_span(line - 1)
    if column - 1 > end - start:
        raise SparkError(f"Line {line} of {path} has {end - start} characters; column {column} lies beyond its end.")
    return int(start + column - 1)


def generation_report(generation: Any) -> dict[str, Any]:
    """Return counts and timings of a generation under their JSON names; seconds are rounded to milliseconds."""
    first = generation.first_text_seconds
    return {
        "stop": generation.stop.value,
        "promptTokens": generation.prompt_tokens,
        "cachedTokens": generation.cached_tokens,
        "generatedTokens": len(generation.tokens),
        "decodeSteps": generation.steps,
        "draftedTokens": generation.drafted,
        "acceptedTokens": generation.accepted,
        "prefillSeconds": round(generation.prefill_seconds, 3),
        "decodeSeconds": round(generation.decode_seconds, 3),
        "firstTextSeconds": round(first, 3) if first is not None else None,
        "probabilities": [round(value, 3) for value in generation.probabilities],
    }
