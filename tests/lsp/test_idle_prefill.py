"""The place where somebody stopped is computed while they think: the next key costs next to nothing.

With the real server and the real model. `promptTokens` counts every prompt token that was decoded, in idle time too, so
the count just before a key and just after its answer is what the key's request had to compute itself.
"""

from __future__ import annotations

import argparse
import inspect
from collections.abc import Awaitable, Callable

import pytest

from spark_lsp.server.editor import Editor, ResponseError
from tests.lsp.conftest import StartReal, pause

pytestmark = [pytest.mark.model, pytest.mark.timeout(600)]

URI = "file:///project/long.py"
PLACES = (40, 350, 180, 290, 110, 230)
"""Lines, far from each other: each is a place that no window reaches."""
MOST_TOKENS = 4


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
    real: StartReal, leave: Callable[[Editor], Awaitable[None]]
) -> None:
    editor = await real({"completion": {"maxTokens": 4, "candidates": 1}})
    lines = inspect.getsource(argparse).splitlines(keepends=True)[:400]
    editor.open(URI, "python", "".join(lines), cursor=0)
    computed = {}
    for place in PLACES:
        offset = sum(map(len, editor.text(URI).splitlines(keepends=True)[:place]))
        editor.replace(URI, offset, offset, "        val")
        await leave(editor)
        before = (await pause(editor))["promptTokens"]
        editor.type(URI, "e")
        await editor.complete(URI, invoked=True)
        computed[place] = (await editor.status())["promptTokens"] - before
        editor.type(URI, "\n")
    assert max(computed.values()) <= MOST_TOKENS, computed
