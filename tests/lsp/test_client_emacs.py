"""Emacs with lsp-mode: UTF-32, null for empty objects, and a list that has to be an object."""

from __future__ import annotations

from tests.lsp.conftest import StartScripted, profile

URI = "file:///project/a.py"
METHOD = "textDocument/inlineCompletion"
TEXT = "s = 'ä😀'; value = "
CLIENT = profile("emacs-lsp-mode")


async def test_positions_are_characters(scripted: StartScripted) -> None:
    editor = await scripted(script=[TEXT + "1"], client=CLIENT)
    assert editor.capabilities["positionEncoding"] == "utf-32"
    editor.open(URI, "python", TEXT)
    (item,) = (await editor.request(METHOD, editor.completion_params(URI)))["items"]
    assert item["range"]["end"] == {"line": 0, "character": len(TEXT)}


async def test_its_null_for_inline_completion_means_that_it_has_it(scripted: StartScripted) -> None:
    assert CLIENT["capabilities"]["textDocument"]["inlineCompletion"] is None
    editor = await scripted(script=[TEXT + "1"], client=CLIENT)
    assert editor.capabilities["inlineCompletionProvider"] == {}
    assert "completionProvider" not in editor.capabilities


async def test_nothing_is_an_object_with_an_empty_list(scripted: StartScripted) -> None:
    """Of a bare empty list lsp-mode takes the first element, which is an error."""
    editor = await scripted(script=[TEXT + "1"], client=CLIENT)
    editor.open(URI, "python", "other")
    assert await editor.request(METHOD, editor.completion_params(URI)) == {"items": []}


async def test_asked_by_hand_there_is_something_to_cycle_through(scripted: StartScripted) -> None:
    options = {"completion": {"candidatesMs": 60_000, "deadlineMs": 60_000}}
    editor = await scripted(script=[TEXT + "1 + 2"], second=[TEXT + "None"], client=CLIENT, options=options)
    editor.open(URI, "python", TEXT)
    items = (await editor.request(METHOD, editor.completion_params(URI, True)))["items"]
    assert [item["insertText"] for item in items] == ["1 + 2", "None"]
    assert all(isinstance(item["insertText"], str) and item["command"]["title"] for item in items)


async def test_it_leaves_with_null_for_no_parameters(scripted: StartScripted) -> None:
    editor = await scripted(script=[TEXT + "1"], client=CLIENT)
    editor.send({"jsonrpc": "2.0", "id": "last", "method": "shutdown", "params": None})
    editor.send({"jsonrpc": "2.0", "method": "exit", "params": None})
    assert await editor.process.wait() == 0
    await editor.stop()
    assert {"jsonrpc": "2.0", "id": "last", "result": None} in editor.messages
