"""Messages as clients really send them, to a server process, and the traps of pygls 2.1 that they would fall into.

What no client should send is in test_raw_messages.py, without a process for each.
"""

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


async def test_a_process_that_was_sent_nonsense_works_and_has_a_quiet_stderr(scripted: StartScripted) -> None:
    editor = await scripted(script=SCRIPT)
    bodies = (b"{", b"[]", b"3", b"null", b'{"jsonrpc": "1.0", "method": "x"}', b'"\xff"', b"[" * 100_000)
    for body in bodies:
        editor.send_bytes(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
    for header in (b"Content-Length: -1\r\n\r\n", b"Content-Length: many\r\n\r\n{}", b"X: y\r\n\r\n{}", b"x" * 100_000):
        editor.send_bytes(header)
    for method in ("textDocument/inlineCompletion", "no/such", "textDocument/didChange", "$/cancelRequest"):
        for params in ([], 3, {"textDocument": {}}, {"textDocument": {"uri": 1}, "position": {"line": "x"}}):
            editor.notify(method, params)
            editor.send({"jsonrpc": "2.0", "id": 900, "method": method, "params": params})
    await still_works(editor)
    assert not [message for message in editor.messages if message.get("method") == "window/showMessage"]
    assert await editor.stop() == 0
    assert await stderr_of(editor) == ""


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
