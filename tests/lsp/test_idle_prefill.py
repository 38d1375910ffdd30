"""The place where somebody stopped is computed while they think: the next key costs next to nothing.

With the real server and the real model. `promptTokens` counts every prompt token that was decoded, in idle time too, so
the count just before a key and just after its answer is what the key's request had to compute itself.
"""

from __future__ import annotations

import argparse
import asyncio
import inspect
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest
import pytest_asyncio

from spark_lsp.server.editor import Editor, ResponseError

pytestmark = [pytest.mark.model, pytest.mark.timeout(600)]

URI = "file:///project/long.py"
LOAD_SECONDS = 120.0
PAUSE_SECONDS = 3.0
"""A thinking pause. It begins anew as long as tokens are computed, so that a slow machine is given its time: this is
about what is computed, and not how fast."""
MOST_SECONDS = 60.0
PLACES = (40, 350, 180, 290, 110, 230)
"""Lines, far from each other: each is a place that no window reaches."""
MOST_TOKENS = 4


@pytest_asyncio.fixture
async def editor(model_path: Path) -> AsyncIterator[Editor]:
    editor = Editor([sys.executable, "-m", "spark_lsp", "--stdio", "--model", str(model_path)])
    await editor.start({"completion": {"maxTokens": 4}})
    status = await editor.ready(LOAD_SECONDS)
    assert status["engine"] == "idle", status["message"]
    yield editor
    assert await editor.stop() == 0


async def pause(editor: Editor) -> int:
    """Wait until for `PAUSE_SECONDS` no prompt token was computed, and return the count."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + MOST_SECONDS
    count, since = -1, loop.time()
    while loop.time() < deadline and loop.time() - since < PAUSE_SECONDS:
        status = await editor.status()
        if status["promptTokens"] != count or status["engine"] == "busy":
            count, since = status["promptTokens"], loop.time()
        await asyncio.sleep(0.1)
    return int((await editor.status())["promptTokens"])


async def ask_and_cancel(editor: Editor) -> None:
    number, answer = editor.start_request("textDocument/inlineCompletion", editor.completion_params(URI))
    editor.notify("$/cancelRequest", {"id": number})
    with pytest.raises(ResponseError):
        await answer


async def ask_type_on_and_cancel(editor: Editor) -> None:
    _, answer = editor.start_request("textDocument/inlineCompletion", editor.completion_params(URI))
    editor.type(URI, "u")
    await ask_and_cancel(editor)
    assert await answer == {"items": []}


@pytest.mark.parametrize("leave", [ask_and_cancel, ask_type_on_and_cancel], ids=["cancelled", "superseded"])
async def test_after_a_pause_anywhere_in_a_file_of_400_lines_a_key_computes_at_most_four_prompt_tokens(
    editor: Editor, leave: Callable[[Editor], Awaitable[None]]
) -> None:
    lines = inspect.getsource(argparse).splitlines(keepends=True)[:400]
    editor.open(URI, "python", "".join(lines), cursor=0)
    computed = {}
    for place in PLACES:
        offset = sum(map(len, editor.text(URI).splitlines(keepends=True)[:place]))
        editor.replace(URI, offset, offset, "        val")
        await leave(editor)
        before = await pause(editor)
        editor.type(URI, "e")
        await editor.complete(URI, invoked=True)
        computed[place] = (await editor.status())["promptTokens"] - before
        editor.type(URI, "\n")
    assert max(computed.values()) <= MOST_TOKENS, computed
