"""`python -m benchmarks.responsiveness`: the real server and the real model, seen from the editor's side.

Measures, each several times in fresh servers: the answer to `initialize`, typing 30 keys into a file of 300 lines,
edits of a file of 5,000 lines while the engine generates, the answer to a cancel while a long prompt is computed and
the time until the engine is idle, and the exit during a generation. Prints a table with median and worst, and the
machine it ran on.
"""

from __future__ import annotations

import argparse
import asyncio
import inspect
import json
import random
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from benchmarks.machine import machine
from benchmarks.responsiveness.report import render
from spark_lsp.models.catalogue import DEFAULT_MODEL
from spark_lsp.server.editor import Editor, ResponseError
from spark_lsp.settings_files import NO_FILE

URI = "file:///benchmark/a.py"
LOAD_SECONDS = 180.0
WARM_SECONDS = 300.0
EDITS = 200
"""Edits of the long file, so that two of them may be slower than the 99th percentile."""
EDIT_SECONDS = 0.08
"""Between two of them: a fast typist."""
TYPED = "total_zq = max(self.left, qwert"
Samples = dict[str, list[float]]


def file_of_300_lines() -> tuple[str, int]:
    """Return 300 lines of the standard library with an empty one, and the offset of that line."""
    lines = inspect.getsource(argparse).splitlines(keepends=True)[:300]
    lines[199] = "\n"
    return "".join(lines), len("".join(lines[:199]))


def file_of_5000_lines() -> tuple[str, int]:
    """Return so many lines of the standard library with an empty one, and the offset of that line."""
    source = inspect.getsource(argparse)
    lines = (source * (5000 // source.count("\n") + 1)).splitlines(keepends=True)[:5000]
    lines[2499] = "\n"
    return "".join(lines), len("".join(lines[:2499]))


async def started(model: str, samples: Samples) -> Editor:
    command = [sys.executable, "-m", "benchmarks.responsiveness.timed_server", "--stdio", "--model", model]
    editor = Editor(command, environment=NO_FILE)
    begin = time.monotonic()
    # Cold means cold, and a text is one text.
    await editor.start({"completion": {"snapshots": False, "candidates": 1}, "statistics": {"keep": False}})
    samples.setdefault("initialize answered, s", []).append(time.monotonic() - begin)
    status = await editor.ready(LOAD_SECONDS)
    if status["engine"] != "idle":
        raise SystemExit(f"the model did not load: {status['message']}")
    samples.setdefault("model ready, s", []).append(time.monotonic() - begin)
    return editor


async def typing(editor: Editor, samples: Samples) -> None:
    text, cursor = file_of_300_lines()
    editor.open(URI, "python", text, cursor=cursor)
    editor.type(URI, "    ")
    begin = time.monotonic()
    deadline = begin + WARM_SECONDS
    while time.monotonic() < deadline:
        await editor.complete(URI, invoked=True)
        if (await editor.status())["lastReason"] != "cold":
            break
    while (await editor.status())["engine"] == "busy":
        await asyncio.sleep(0.02)
    status = await editor.status()
    samples.setdefault("first request (cold), s", []).append(time.monotonic() - begin)
    samples.setdefault("first request (cold), prompt tokens", []).append(status["promptTokens"])
    for number, key in enumerate(TYPED):
        before = await editor.status()
        begin = time.monotonic()
        first: list[float] = []
        editor.type(URI, key)
        await editor.complete(
            URI,
            invoked=True,
            on_partial=lambda text, begin=begin, first=first: first.append(time.monotonic() - begin),  # type: ignore[misc]
        )
        elapsed = time.monotonic() - begin
        after = await editor.status()
        if number:
            tokens = after["promptTokens"] - before["promptTokens"]
            samples.setdefault("keystroke, prompt tokens", []).append(tokens)
            asked = after["decodeSteps"] > before["decodeSteps"]
            name = "keystroke asking the model, first text, s" if asked else "keystroke from the cache, s"
            samples.setdefault(name, []).append(first[0] if first else elapsed)


async def editing(editor: Editor, samples: Samples) -> None:
    """Edit while the engine generates: how long the server handles an edit, and when it answers what comes behind."""
    text, cursor = file_of_5000_lines()
    uri = f"{URI}.long.py"
    editor.open(uri, "python", text, cursor=cursor)
    await editor.complete(uri, invoked=True)
    before = len((await editor.status())["editMilliseconds"])
    chance, behind = random.Random(0), []
    for _ in range(EDITS):
        _, answer = editor.start_request("textDocument/inlineCompletion", editor.completion_params(uri))
        await asyncio.sleep(EDIT_SECONDS)
        begin = time.monotonic()
        editor.type(uri, chance.choice("abcdefg_ (.\n"))
        await answer
        behind.append(1000 * (time.monotonic() - begin))
    handled = (await editor.status())["editMilliseconds"][before:]
    for name, values in (("an edit handled", handled), ("the request before an edit answered", behind)):
        samples.setdefault(f"5,000 lines, generating: {name}, ms", []).extend(values)
        rank = int(0.99 * (len(values) - 1))
        samples.setdefault(f"5,000 lines, generating: {name}, 99th percentile, ms", []).append(sorted(values)[rank])


async def cancelling(editor: Editor, samples: Samples) -> None:
    chance = random.Random(len(samples.get("cancel answered, s", [])))
    words = "".join(f"name{chance.randrange(10**6)} = {chance.randrange(10**6)}\n" for _ in range(400))
    uri = f"{URI}.{chance.randrange(10**6)}"
    editor.open(uri, "python", words)
    number, answer = editor.start_request("textDocument/inlineCompletion", editor.completion_params(uri, invoked=True))
    while (await editor.status())["engine"] != "busy":
        await asyncio.sleep(0.005)
    await asyncio.sleep(chance.random() * 0.5)
    begin = time.monotonic()
    editor.notify("$/cancelRequest", {"id": number})
    try:
        await answer
        raise SystemExit("the cancelled request was answered with a result")
    except ResponseError:
        samples.setdefault("cancel answered, s", []).append(time.monotonic() - begin)
    while (await editor.status())["engine"] == "busy":
        await asyncio.sleep(0.001)
    samples.setdefault("engine idle after a cancel, s", []).append(time.monotonic() - begin)


async def leaving(editor: Editor, samples: Samples) -> None:
    text, cursor = file_of_300_lines()
    editor.open(f"{URI}.leave", "python", text[::-1], cursor=cursor)
    params = editor.completion_params(f"{URI}.leave", invoked=True)
    editor.start_request("textDocument/inlineCompletion", params)
    while (await editor.status())["engine"] != "busy":
        await asyncio.sleep(0.005)
    begin = time.monotonic()
    code = await editor.stop()
    samples.setdefault("exit during a generation, s", []).append(time.monotonic() - begin)
    samples.setdefault("exit code", []).append(code)


async def measure(model: str, runs: int) -> Samples:
    samples: Samples = {}
    steps: list[Callable[[Editor, Samples], Awaitable[None]]] = [typing, editing, *[cancelling] * 5, leaving]
    for _ in range(runs):
        editor = await started(model, samples)
        for step in steps:
            await step(editor, samples)
    return samples


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.responsiveness", description=__doc__)
    parser.add_argument("--model", default=DEFAULT_MODEL, help="catalogue name or path")
    parser.add_argument("--runs", type=int, default=3, help="fresh servers (default 3)")
    parser.add_argument("--json", type=Path, help="also write all samples to this file")
    options = parser.parse_args()
    about = machine()
    samples = asyncio.run(measure(options.model, options.runs))
    measured = {
        "benchmark": "responsiveness",
        "machine": about,
        "model": options.model,
        "run": f"{options.runs} fresh servers, a file of 300 lines, {len(TYPED)} keys typed into it",
        "samples": samples,
    }
    print(render(measured), end="")
    if options.json is not None:
        options.json.write_text(json.dumps(measured, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
