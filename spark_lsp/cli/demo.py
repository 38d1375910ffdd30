"""`spark-lsp demo`: the real server and the real model at work, in a terminal or a pipe."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from spark_lsp.errors import EngineError

if TYPE_CHECKING:
    from spark_lsp.server.editor import Editor

_SAMPLE = '''"""Plane figures and their areas."""

import math


class Circle:
    def __init__(self, radius):
        self.radius = radius

    def area(self):
        return math.pi * self.radius ** 2

    def circumference(self):
        return 2 * math.pi * self.radius


class Rectangle:
    def __init__(self, width, height):
        self.width = width
        self.height = height

    '''
_TYPED = ("def ar", "\n\n    def per")
"""Typed key by key into the sample; the suggestion after each part is accepted."""
_URI = "untitled:demo.py"
_LOAD_SECONDS = 180.0
_KEY_SECONDS = 0.12
"""Pause between keys: 100 words a minute."""


@dataclass(slots=True)
class _Keys:
    """What each keystroke cost."""

    seconds: list[float]
    prompt_tokens: list[int]


@click.command(short_help="Watch the server complete code (pulls the default model first).")
@click.option("--model", metavar="NAME", help="Catalogue name or path of a GGUF file.")
def demo(model: str | None) -> None:
    """Start the real server, type into a sample file and show the ghost text grow.

    The default model (491 MB) is pulled first if it is not on this machine.
    """
    from spark_lsp.models.catalogue import DEFAULT_MODEL

    name = model or DEFAULT_MODEL
    _ensure_model(name)
    asyncio.run(_play(name))


def _ensure_model(name: str) -> None:
    from spark_lsp.cli.models import shown_progress
    from spark_lsp.errors import ModelNotFoundError
    from spark_lsp.models.catalogue import find
    from spark_lsp.models.sources import pull
    from spark_lsp.models.store import resolve

    try:
        resolve(name)
    except ModelNotFoundError:
        click.echo(f"The model {name} is not on this machine yet; pulling it.", err=True)
        card = find(name)
        with shown_progress(card) as progress:
            pull(card, progress=progress)


async def _play(model: str) -> None:
    from spark_lsp.server.editor import Editor

    editor = Editor([sys.executable, "-m", "spark_lsp", "--stdio", "--model", model])
    started = time.monotonic()
    # The demo shows how long a file takes the first time, one suggestion at a time, and what it accepts is no user's
    # choice.
    await editor.start({"completion": {"snapshots": False, "candidates": 1}, "statistics": {"keep": False}})
    try:
        click.echo(f"The server answered after {time.monotonic() - started:.2f} s and loads {model} ...")
        status = await editor.ready(_LOAD_SECONDS)
        if status["engine"] == "failed":
            raise EngineError(status["message"])
        if status["engine"] == "loading":
            raise EngineError(f"The model did not load within {_LOAD_SECONDS:.0f} s.")
        click.echo(f"The model was ready after {time.monotonic() - started:.2f} s.\n")
        click.echo(_indented(_SAMPLE))
        await _type(editor)
    finally:
        await editor.stop()


async def _type(editor: Editor) -> None:
    editor.open(_URI, "python", _SAMPLE)
    cold = time.monotonic()
    await editor.complete(_URI, invoked=True)
    click.echo(f"First request: the file is read into the KV cache once, {time.monotonic() - cold:.2f} s.\n")
    keys = _Keys([], [])
    for part in _TYPED:
        for key in part:
            await _press(editor, key, keys)
        await _accept(editor)
    status = await editor.status()
    click.echo("\nThe file now ends:\n")
    click.echo(_indented("\n".join(editor.text(_URI).splitlines()[-10:])))
    seconds = sorted(keys.seconds)
    click.echo(
        f"\nKeystrokes: {len(seconds)}; ghost text after {1000 * seconds[len(seconds) // 2]:.0f} ms (median), "
        f"{1000 * seconds[-1]:.0f} ms (slowest).\n"
        f"Prompt tokens computed per keystroke: {max(keys.prompt_tokens)} at most, "
        f"{sum(keys.prompt_tokens) / len(keys.prompt_tokens):.1f} on average "
        f"(the file has {len(_SAMPLE)} characters).\n"
        f"Answered without the model: {status['reasons'].get('cached', 0)} of {status['requests']} requests."
    )


async def _press(editor: Editor, key: str, keys: _Keys) -> None:
    before = (await editor.status())["promptTokens"]
    started = time.monotonic()
    first: list[float] = []
    editor.type(_URI, key)

    def grew(text: str) -> None:
        if text and not first:
            first.append(time.monotonic() - started)

    ghost = await editor.complete(_URI, on_partial=grew)
    keys.seconds.append(first[0] if first else time.monotonic() - started)
    keys.prompt_tokens.append((await editor.status())["promptTokens"] - before)
    line = editor.text(_URI).rpartition("\n")[2]
    shown = ghost.replace("\n", "⏎ ")
    click.echo(f"{key!r:>5} {keys.seconds[-1] * 1000:5.0f} ms  {line}" + _dim(shown))
    await asyncio.sleep(_KEY_SECONDS)


async def _accept(editor: Editor) -> None:
    """Take the suggestion as a user would with Tab, and show how it grew."""
    started = time.monotonic()
    grown: list[str] = []
    ghost = await editor.complete(_URI, invoked=True, on_partial=_collector(grown, started))
    for line in grown:
        click.echo(line)
    if ghost:
        editor.type(_URI, ghost)
        click.echo(f"  Tab accepts {len(ghost)} characters.")


def _collector(lines: list[str], started: float) -> Callable[[str], None]:
    def grew(text: str) -> None:
        lines.append(f"      {1000 * (time.monotonic() - started):5.0f} ms  {_dim(text.replace(chr(10), '⏎ '))}")

    return grew


def _dim(text: str) -> str:
    return click.style(text, dim=True) if sys.stdout.isatty() else f"‹{text}›" if text else ""


def _indented(text: str) -> str:
    return "\n".join(f"    {line}".rstrip() for line in text.splitlines())
