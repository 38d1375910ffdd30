"""VS Code 1.139 with vscode-languageclient 11: what it says, and what it sends while somebody types."""

from __future__ import annotations

import asyncio
from typing import Any

from spark_lsp.server.editor import Editor, ResponseError
from tests.lsp.conftest import StartScripted, profile

URI = "file:///project/a.py"
METHOD = "textDocument/inlineCompletion"
CLIENT = profile("vscode-1.139")
PATIENT = {"completion": {"deadlineMs": 60_000}}


def registered(editor: Editor) -> list[str]:
    """Return the methods that the server asked the client to register."""
    asked = [message for message in editor.messages if message.get("method") == "client/registerCapability"]
    return [one["method"] for message in asked for one in message["params"]["registrations"]]


async def test_inline_completion_is_there_at_once_and_only_once(scripted: StartScripted) -> None:
    """It could be registered later as well, but the specification allows one of the two."""
    assert CLIENT["capabilities"]["textDocument"]["inlineCompletion"]["dynamicRegistration"] is True
    editor = await scripted(script=["x = 1"], client=CLIENT)
    assert editor.capabilities["inlineCompletionProvider"] == {}
    assert editor.capabilities["positionEncoding"] == "utf-16"
    assert "completionProvider" not in editor.capabilities
    editor.open(URI, "python", "x = ")
    assert await editor.complete(URI) == "1"
    assert METHOD not in registered(editor)


async def test_each_key_cancels_the_request_before_it(scripted: StartScripted) -> None:
    text = "compute('😀', 2)"
    editor = await scripted(
        script=["s = '😀'; value = " + text], client=CLIENT, options=PATIENT, seconds_per_token=0.02
    )
    editor.open(URI, "python", "s = '😀'; value = ")
    asked: list[tuple[int, asyncio.Future[Any]]] = [editor.start_request(METHOD, editor.completion_params(URI))]
    for key in "comp":
        editor.type(URI, key)
        editor.notify("$/cancelRequest", {"id": asked[-1][0]})
        asked.append(editor.start_request(METHOD, editor.completion_params(URI)))
    answers = await asyncio.gather(*(answer for _, answer in asked), return_exceptions=True)
    for answer in answers[:-1]:  # superseded by the edit or cancelled after it, whichever is seen first
        if isinstance(answer, ResponseError):
            assert answer.code == -32800
        else:
            assert answer == {"items": []}
    (item,) = answers[-1]["items"]  # type: ignore[index]
    assert item["insertText"] == "ute('😀', 2)"
    assert item["range"]["start"] == item["range"]["end"] == {"line": 0, "character": 22}


async def test_the_next_suggestion_is_asked_for_by_hand_and_begins_with_the_one_on_the_screen(
    scripted: StartScripted,
) -> None:
    options = {"completion": {"candidatesMs": 60_000, "deadlineMs": 60_000}}
    editor = await scripted(script=["x = first(1)"], second=["x = other(2)"], client=CLIENT, options=options)
    editor.open(URI, "python", "x = ")
    assert await editor.complete(URI) == "first(1)"
    items = (await editor.request(METHOD, editor.completion_params(URI, True)))["items"]
    assert [item["insertText"] for item in items] == ["first(1)", "other(2)"]
