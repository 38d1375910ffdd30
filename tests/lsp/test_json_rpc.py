"""Messages as clients really send them, and the traps of pygls 2.1 that they would fall into."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from spark_lsp.server.editor import Editor, ResponseError
from tests.lsp.conftest import StartScripted, stderr_of

URI = "file:///project/a.py"
SCRIPT = ["value = compute(1, 2)"]


async def still_works(editor: Editor) -> None:
    editor.open(URI, "python", "value = ")
    assert await editor.complete(URI) == "compute(1, 2)"


async def refused(editor: Editor, message: dict[str, Any]) -> int:
    """Send a request as it stands and return the error code of its answer."""
    future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
    editor._pending[message["id"]] = future
    editor.send(message)
    with pytest.raises(ResponseError) as error:
        await asyncio.wait_for(future, 10)
    assert "Traceback" not in str(error.value)
    return error.value.code


async def test_a_form_feed_or_a_line_separator_does_not_shift_the_lines(scripted: StartScripted) -> None:
    editor = await scripted(script=SCRIPT)
    text = "a = '\u2028\x85'\n\x0cb = 2\nvalu\nc = 3\n"
    editor.open(URI, "python", text, cursor=text.index("valu") + 4)
    editor.type(URI, "e = ")
    assert await editor.complete(URI) == "compute(1, 2)"
    assert editor.capabilities["positionEncoding"] == "utf-16"


@pytest.mark.parametrize("method", ["no/such/method", "$/no/such"])
async def test_an_unknown_request_without_params_is_answered(scripted: StartScripted, method: str) -> None:
    editor = await scripted(script=SCRIPT)
    assert await refused(editor, {"jsonrpc": "2.0", "id": 900, "method": method}) == -32601
    editor.send({"jsonrpc": "2.0", "method": "no/such/notification"})
    await still_works(editor)
    assert not [m for m in editor.messages if m.get("method") == "window/showMessage"]


async def test_a_known_request_without_params_is_an_error_and_not_silence(scripted: StartScripted) -> None:
    editor = await scripted(script=SCRIPT)
    message = {"jsonrpc": "2.0", "id": 900, "method": "textDocument/inlineCompletion"}
    assert await refused(editor, message) == -32602
    await still_works(editor)


@pytest.mark.parametrize(
    "params",
    [[], 3, {"textDocument": {}}, {"textDocument": {"uri": URI}, "position": {"line": "x", "character": 0}}],
    ids=["a list", "a number", "missing fields", "a wrong type"],
)
async def test_wrong_params_are_an_error_and_not_silence(scripted: StartScripted, params: Any) -> None:
    editor = await scripted(script=SCRIPT)
    message = {"jsonrpc": "2.0", "id": 900, "method": "textDocument/inlineCompletion", "params": params}
    assert await refused(editor, message) == -32602
    await still_works(editor)


async def test_fields_that_nobody_knows_are_ignored_and_ours_are_kept(scripted: StartScripted) -> None:
    editor = await scripted(script=SCRIPT)
    editor.open(URI, "python", "value = ")
    grown: list[str] = []
    params = {**editor.completion_params(URI, on_partial=grown.append), "_": True, "x": {"jsonrpc": "1.0"}}
    params["formattingOptions"] = {"tabSize": 4, "insertSpaces": True}
    result = await editor.request("textDocument/inlineCompletion", params)
    assert result["items"][0]["insertText"] == "compute(1, 2)"
    assert grown


async def test_a_failing_handler_answers_with_a_sentence_and_no_traceback(scripted: StartScripted) -> None:
    editor = await scripted(script=SCRIPT)
    command = {"command": "no.such.command", "arguments": [{"a": 1}]}
    message = {"jsonrpc": "2.0", "id": 900, "method": "workspace/executeCommand", "params": command}
    assert await refused(editor, message) == -32602
    answers = [m for m in editor.messages if "data" in m.get("error", {})]
    assert answers == []
    await still_works(editor)


async def test_requests_before_initialize_and_after_shutdown_are_refused(scripted: StartScripted) -> None:
    editor = await scripted(script=SCRIPT)
    await editor.request("shutdown", None)
    assert await refused(editor, {"jsonrpc": "2.0", "id": 900, "method": "spark/status"}) == -32600
    editor.notify("exit", None)
    assert await asyncio.wait_for(editor.process.wait(), 5) == 0
    assert await stderr_of(editor) == ""


async def test_a_second_initialize_is_refused(scripted: StartScripted) -> None:
    editor = await scripted(script=SCRIPT)
    params = {"processId": None, "rootUri": None, "capabilities": {}}
    message = {"jsonrpc": "2.0", "id": 900, "method": "initialize", "params": params}
    assert await refused(editor, message) == -32600
    await still_works(editor)


async def test_a_body_that_is_no_json_or_no_message_is_survived(scripted: StartScripted) -> None:
    editor = await scripted(script=SCRIPT)
    for body in (b"{", b"[]", b"3", b"null", b'{"jsonrpc": "1.0", "method": "x"}', b'"\xff"'):
        editor.send_bytes(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
    await still_works(editor)


async def test_a_frame_split_anywhere_and_two_frames_at_once_are_understood(scripted: StartScripted) -> None:
    editor = await scripted(script=SCRIPT)
    future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
    editor._pending[900] = future
    body = json.dumps({"jsonrpc": "2.0", "id": 900, "method": "spark/status"}).encode()
    frame = b"Content-Length: %d\r\n\r\n%s" % (len(body), body)
    for cut in range(0, len(frame), 7):
        editor.send_bytes(frame[cut : cut + 7])
        await asyncio.sleep(0.01)
    assert (await asyncio.wait_for(future, 10))["model"] == "scripted"
    both = [asyncio.get_running_loop().create_future() for _ in range(2)]
    editor._pending |= {901: both[0], 902: both[1]}
    editor.send_bytes(frame.replace(b"900", b"901") + frame.replace(b"900", b"902"))
    assert len(await asyncio.wait_for(asyncio.gather(*both), 10)) == 2


async def test_cancelling_what_was_never_asked_is_survived(scripted: StartScripted) -> None:
    editor = await scripted(script=SCRIPT)
    editor.notify("$/cancelRequest", {"id": 12345})
    editor.notify("$/cancelRequest", {"id": "never"})
    await still_works(editor)


async def test_a_change_for_a_document_that_is_not_open_is_survived(scripted: StartScripted) -> None:
    editor = await scripted(script=SCRIPT)
    editor.notify(
        "textDocument/didChange",
        {"textDocument": {"uri": "file:///other.py", "version": 7}, "contentChanges": [{"text": "x"}]},
    )
    editor.notify("textDocument/didClose", {"textDocument": {"uri": "file:///other.py"}})
    await still_works(editor)


@pytest.mark.parametrize("encodings", [("utf-8", "utf-16"), ("utf-32",), ("utf-16",), ()], ids=str)
async def test_positions_are_in_the_encoding_that_the_client_prefers(
    scripted: StartScripted, encodings: tuple[str, ...]
) -> None:
    editor = await scripted(script=SCRIPT, encodings=encodings)
    assert editor.capabilities["positionEncoding"] == (encodings or ("utf-16",))[0]
    editor.open(URI, "python", "s = '😀 世界'; valu\nx = 1\n", cursor=len("s = '😀 世界'; valu"))
    editor.type(URI, "e = ")
    params = editor.completion_params(URI)
    (item,) = (await editor.request("textDocument/inlineCompletion", params))["items"]
    assert item["insertText"] == "compute(1, 2)"
    assert item["range"] == {"start": params["position"], "end": params["position"]}
