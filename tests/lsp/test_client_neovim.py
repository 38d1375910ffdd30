"""Neovim: 0.11.4 with a plugin of its own or none, and 0.12 with `vim.lsp.inline_completion`."""

from __future__ import annotations

import asyncio

import pytest

from tests.lsp.conftest import StartScripted, profile

URI = "file:///project/a.py"
METHOD = "textDocument/inlineCompletion"
TEXT = "s = 'ä😀'; value = "
COLUMN = len(TEXT.encode())
PATIENT = {"completion": {"deadlineMs": 60_000}}


@pytest.mark.parametrize("name", ["neovim-0.11.4", "neovim-0.12"])
async def test_positions_are_bytes(scripted: StartScripted, name: str) -> None:
    editor = await scripted(script=[TEXT + "1"], client=profile(name))
    assert editor.capabilities["positionEncoding"] == "utf-8"
    editor.open(URI, "python", TEXT)
    (item,) = (await editor.request(METHOD, editor.completion_params(URI)))["items"]
    assert item["range"]["end"] == {"line": 0, "character": COLUMN}


async def test_0_11_may_ask_before_it_tells_of_the_edit(scripted: StartScripted) -> None:
    editor = await scripted(script=[TEXT + "1"], client=profile("neovim-0.11.4"))
    editor.open(URI, "python", TEXT[:-1])
    params = editor.completion_params(URI)
    params["position"]["character"] += 1
    _, answer = editor.start_request(METHOD, params)
    editor.type(URI, " ")
    (item,) = (await answer)["items"]
    assert item["insertText"] == "1"
    assert item["range"]["end"] == {"line": 0, "character": COLUMN}


async def test_0_12_never_cancels_and_gets_no_error_and_no_item_without_a_range(scripted: StartScripted) -> None:
    """It asks 200 ms after the last key whether or not the request before was answered, and logs every error."""
    editor = await scripted(
        script=[TEXT + "compute(1, 2)"], client=profile("neovim-0.12"), options=PATIENT, seconds_per_token=0.02
    )
    editor.open(URI, "python", TEXT)
    asked = [editor.start_request(METHOD, editor.completion_params(URI))[1]]
    for key in "compu":
        editor.type(URI, key)
        asked.append(editor.start_request(METHOD, editor.completion_params(URI))[1])
    results = await asyncio.gather(*asked)  # an error would be raised here
    assert all(set(item) >= {"insertText", "range"} for result in results for item in result["items"])
    assert results[-1]["items"][0]["insertText"] == "te(1, 2)"


async def test_0_12_cancels_when_insert_mode_is_left(scripted: StartScripted) -> None:
    editor = await scripted(script=[TEXT + "1"], client=profile("neovim-0.12"))
    editor.open(URI, "python", TEXT)
    number, answer = editor.start_request(METHOD, editor.completion_params(URI))
    editor.notify("$/cancelRequest", {"id": number})
    await asyncio.gather(answer, return_exceptions=True)
    assert await editor.complete(URI) == "1"
