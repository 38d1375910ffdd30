"""Start, stop and everything in between that must not hang, crash or leak."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest

from spark_lsp.server.editor import Editor, ResponseError
from tests.lsp.conftest import ROOT, StartScripted, stderr_of

URI = "file:///project/a.py"
SCRIPT = ["value = compute(1, 2)"]
SLOW = {"script": SCRIPT, "seconds_per_token": 0.05}


def messages(editor: Editor, method: str) -> list[dict[str, Any]]:
    return [m["params"] for m in editor.messages if m.get("method") == method]


async def test_initialize_is_answered_while_the_model_loads_and_progress_shows_it(scripted: StartScripted) -> None:
    editor = await scripted(script=SCRIPT, load_seconds=0.5, wait=False)
    editor.open(URI, "python", "value = ")
    assert await editor.complete(URI) == ""
    status = await editor.status()
    assert (status["engine"], status["lastReason"]) == ("loading", "loading")
    assert (await editor.ready(10))["engine"] == "idle"
    assert await editor.complete(URI) == "compute(1, 2)"
    kinds = [params["value"]["kind"] for params in messages(editor, "$/progress")]
    assert kinds[0] == "begin"
    assert kinds[-1] == "end"
    assert "report" in kinds


async def test_shutdown_and_exit_end_the_process_with_0_and_a_quiet_stderr(scripted: StartScripted) -> None:
    editor = await scripted(script=SCRIPT)
    editor.open(URI, "python", "value = ")
    await editor.complete(URI)
    assert await editor.stop() == 0
    assert await stderr_of(editor) == ""


async def test_exit_during_a_generation_ends_the_process_with_0_and_a_quiet_stderr(scripted: StartScripted) -> None:
    editor = await scripted(**SLOW)
    editor.open(URI, "python", "x = 1\n" * 100 + "value = ")
    _, answer = editor.start_request("textDocument/inlineCompletion", editor.completion_params(URI))
    while (await editor.status())["engine"] != "busy":
        await asyncio.sleep(0.01)
    assert await editor.stop() == 0
    with pytest.raises(ResponseError):
        await answer
    assert await stderr_of(editor) == ""


async def test_exit_without_shutdown_ends_the_process_with_1(scripted: StartScripted) -> None:
    editor = await scripted(script=SCRIPT)
    editor.notify("exit", None)
    assert await asyncio.wait_for(editor.process.wait(), 5) == 1


async def test_the_end_of_the_input_ends_the_process_during_a_generation(scripted: StartScripted) -> None:
    editor = await scripted(**SLOW)
    editor.open(URI, "python", "x = 1\n" * 100 + "value = ")
    editor.start_request("textDocument/inlineCompletion", editor.completion_params(URI))
    await editor.status()
    assert editor.process.stdin is not None
    editor.process.stdin.close()
    await asyncio.wait_for(editor.process.wait(), 5)
    assert await stderr_of(editor) == ""


async def test_sigterm_ends_the_process_quietly(scripted: StartScripted) -> None:
    editor = await scripted(script=SCRIPT)
    editor.process.send_signal(signal.SIGTERM)
    assert await asyncio.wait_for(editor.process.wait(), 5) == 0
    assert await stderr_of(editor) == ""


async def test_the_server_ends_when_its_editor_is_killed_even_if_the_pipe_stays_open(
    scripted: StartScripted, tmp_path: Path
) -> None:
    """The parent is killed; a pipe end that some other process inherited must not keep the server alive."""
    plan = tmp_path / "plan.json"
    plan.write_text(json.dumps({"script": SCRIPT}))
    read_end, write_end = os.pipe()
    parent = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    server = subprocess.Popen(
        [sys.executable, "-m", "tests.lsp.scripted_server", str(plan)],
        stdin=read_end,
        stdout=subprocess.DEVNULL,
        cwd=ROOT,
    )
    try:
        params = {"processId": parent.pid, "rootUri": None, "capabilities": {}}
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}).encode()
        os.write(write_end, b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        await asyncio.sleep(1.0)
        assert server.poll() is None
        parent.kill()
        parent.wait()
        assert server.wait(10) is not None
    finally:
        for process in (parent, server):
            if process.poll() is None:
                process.kill()
            process.wait()
        os.close(write_end)
        os.close(read_end)


async def test_a_missing_model_is_one_message_and_the_server_stays(scripted: StartScripted) -> None:
    editor = await scripted(fail="The model is not on this machine.")
    editor.open(URI, "python", "value = ")
    assert await editor.complete(URI) == ""
    assert await editor.complete(URI) == ""
    status = await editor.status()
    assert (status["engine"], status["lastReason"]) == ("failed", "unavailable")
    sentence = "spark-lsp: The model is not on this machine. Run `spark-lsp models pull`."
    assert [params["message"] for params in messages(editor, "window/showMessage")] == [sentence]
    assert await editor.stop() == 0


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "no-such-model"),
        (b"", "broken.gguf"),
        (b"GGUF" + b"\0" * 64, "broken.gguf"),
        (b"text" * 99, "broken.gguf"),
    ],
    ids=["an unknown name", "an empty file", "a header and nothing behind", "no model at all"],
)
async def test_a_file_that_cannot_be_loaded_is_one_message_and_the_server_stays(
    tmp_path: Path, content: bytes | None, words: str
) -> None:
    file = tmp_path / "broken.gguf"
    if content is not None:
        file.write_bytes(content)
    model = "no-such-model" if content is None else str(file)
    editor = Editor([sys.executable, "-m", "spark_lsp", "--stdio", "--model", model])
    await editor.start(stderr=asyncio.subprocess.PIPE)
    assert (await editor.ready(20))["engine"] == "failed"
    editor.open(URI, "python", "value = ")
    assert await editor.complete(URI) == ""
    assert (await editor.status())["lastReason"] == "unavailable"
    (message,) = messages(editor, "window/showMessage")
    assert words in message["message"]
    assert await editor.stop() == 0
    assert "Traceback" not in await stderr_of(editor)


async def test_a_model_without_fim_tokens_works_left_to_right_and_says_so(scripted: StartScripted) -> None:
    editor = await scripted(script=SCRIPT, fim=False)
    editor.open(URI, "python", "value = ")
    assert await editor.complete(URI) == "compute(1, 2)"
    (message,) = messages(editor, "window/showMessage")
    assert "left to right" in message["message"]


async def test_a_document_of_fifty_megabytes_is_one_message_and_others_work(scripted: StartScripted) -> None:
    editor = await scripted(script=SCRIPT)
    big = "file:///project/big.py"
    editor.open(big, "python", "x = 1\n" * 8_400_000, cursor=0)
    assert await editor.complete(big) == ""
    assert (await editor.status())["lastReason"] == "too-large"
    editor.replace(big, 0, 0, "y")
    assert await editor.complete(big) == ""
    editor.open(URI, "python", "value = ")
    assert await editor.complete(URI) == "compute(1, 2)"
    (message,) = messages(editor, "window/showMessage")
    assert "too large" in message["message"]


async def test_a_binary_document_is_one_message_and_is_not_completed(scripted: StartScripted) -> None:
    editor = await scripted(script=SCRIPT)
    editor.open(URI, "plaintext", "\x7fELF\0\0\0value = ")
    assert await editor.complete(URI) == ""
    assert (await editor.status())["lastReason"] == "binary"
    (message,) = messages(editor, "window/showMessage")
    assert "not a text file" in message["message"]


async def test_wrong_settings_are_named_once_and_the_rest_is_used(scripted: StartScripted) -> None:
    editor = await scripted(script=SCRIPT, options={"completion": {"maxTokens": "many"}, "colour": "red"})
    editor.open(URI, "python", "value = ")
    assert await editor.complete(URI) == "compute(1, 2)"
    told = [params["message"] for params in messages(editor, "window/showMessage")]
    assert len(told) == 2
    assert any("`colour` is unknown" in sentence for sentence in told)


async def test_a_closed_document_is_forgotten(scripted: StartScripted) -> None:
    editor = await scripted(script=SCRIPT)
    editor.open(URI, "python", "value = ")
    await editor.complete(URI)
    assert (await editor.status())["documents"] == 1
    editor.notify("textDocument/didClose", {"textDocument": {"uri": URI}})
    assert (await editor.status())["documents"] == 0


async def test_an_idle_server_uses_no_cpu(scripted: StartScripted) -> None:
    editor = await scripted(script=SCRIPT)
    process = psutil.Process(editor.process.pid)
    before = sum(process.cpu_times()[:2])
    await asyncio.sleep(2.0)
    assert sum(process.cpu_times()[:2]) - before <= 0.05


async def test_tcp_serves_one_client_on_loopback() -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "spark_lsp", "--tcp", "0", "--model", "no-such-model", stderr=asyncio.subprocess.PIPE
    )
    assert process.stderr is not None
    try:
        line = (await asyncio.wait_for(process.stderr.readline(), 20)).decode()
        host, _, port = line.split()[-1].rpartition(":")
        assert host == "127.0.0.1"
        reader, writer = await asyncio.open_connection(host, int(port))
        params = {"processId": None, "rootUri": None, "capabilities": {}}
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}).encode()
        writer.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        header = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 20)
        assert b"Content-Length" in header
        writer.close()
        await asyncio.wait_for(process.wait(), 5)
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
        await process.stderr.read()
