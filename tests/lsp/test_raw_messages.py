"""What no client should send: for each the specified error or a sane answer, and a normal request works afterwards."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from tests.lsp.fuzz.runner import logged_faults
from tests.lsp.in_process import InProcess, frame

URI = "file:///project/a.py"
SCRIPT = ["value = compute(1, 2)"]
PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS = -32700, -32600, -32601, -32602
NOT_INITIALIZED, CANCELLED = -32002, -32800
POSITION = {"line": 0, "character": 8}
ASK: dict[str, Any] = {
    "textDocument": {"uri": URI},
    "position": POSITION,
    "context": {"triggerKind": 1},
}


@pytest_asyncio.fixture
async def wire() -> AsyncIterator[InProcess]:
    """A server with one open document; whatever a test sends, a normal request works at the end of it."""
    with logged_faults() as faults:
        async with InProcess(script=SCRIPT) as opened:
            opened.open(URI, "value = ")
            yield opened
            if not opened.server.protocol._shutdown:
                await still_works(opened)
        assert faults == []


async def still_works(wire: InProcess) -> None:
    uri = "file:///project/afterwards.py"
    wire.open(uri, "value = ")
    answer = await wire.ask("textDocument/inlineCompletion", {**ASK, "textDocument": {"uri": uri}})
    assert answer["result"]["items"][0]["insertText"] == "compute(1, 2)"


def request(identifier: Any, method: str = "spark/status", **more: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": identifier, "method": method, **more}


async def code_of(wire: InProcess, message: dict[str, Any]) -> int:
    """Send a request and return the error code of its answer, which has a sentence and nothing else."""
    wire.send(message)
    error = (await wire.answer(message["id"]))["error"]
    assert error.keys() == {"code", "message"}
    assert error["message"].endswith(".")
    return int(error["code"])


async def code_without_id(wire: InProcess) -> int:
    return int((await wire.answer(None))["error"]["code"])


# Methods and parameters


@pytest.mark.parametrize("method", ["no/such/method", "$/no/such", "textDocument/rename", ""])
@pytest.mark.parametrize(
    "more", [{}, {"params": None}, {"params": {"a": 1}}, {"params": [1]}, {"params": "x"}], ids=str
)
async def test_an_unknown_request_is_answered(wire: InProcess, method: str, more: dict[str, Any]) -> None:
    assert await code_of(wire, request(1, method, **more)) == METHOD_NOT_FOUND
    wire.send({"jsonrpc": "2.0", "method": method, **more})


async def test_parameters_may_be_left_out_where_none_are_needed(wire: InProcess) -> None:
    for more in ({}, {"params": None}, {"params": {}}, {"params": []}, {"params": {"type_name": "1 x", "class": 2}}):
        wire.send(request(1, **more))
        assert (await wire.answer(1))["result"]["model"] == "scripted"
        wire.answers.clear()


async def test_initialized_without_parameters_loads_the_model() -> None:
    async with InProcess(script=SCRIPT, initialize=False) as wire:
        await wire.ask("initialize", wire.initialize_params)
        wire.send({"jsonrpc": "2.0", "method": "initialized"})
        while (await wire.ask("spark/status"))["result"]["engine"] == "loading":
            await asyncio.sleep(0.005)
        await still_works(wire)


REQUESTS: dict[str, dict[str, Any]] = {
    "textDocument/inlineCompletion": {
        **ASK,
        "context": {
            "triggerKind": 1,
            "selectedCompletionInfo": {"range": {"start": POSITION, "end": POSITION}, "text": "x"},
        },
    },
    "workspace/executeCommand": {"command": "spark.accept", "arguments": ["x"]},
}
"""Parameters of the requests that are handled, with every field."""
WRONG: list[Any] = [None, True, -1, 1.5, "text", [], [1], {}, {"x": {}}, 10**30]


def places(value: Any, path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """Return the paths of all fields inside."""
    if not isinstance(value, dict):
        return []
    return [found for name, inner in value.items() for found in [(*path, name), *places(inner, (*path, name))]]


def with_field(value: dict[str, Any], path: tuple[str, ...], wrong: Any) -> dict[str, Any]:
    copy: dict[str, Any] = json.loads(json.dumps(value))
    inner = copy
    for name in path[:-1]:
        inner = inner[name]
    inner[path[-1]] = wrong
    return copy


@pytest.mark.parametrize("method", list(REQUESTS))
async def test_a_wrong_type_in_any_field_is_an_error_or_does_not_matter(wire: InProcess, method: str) -> None:
    refused, number = set(), 0
    for path in places(REQUESTS[method]):
        for wrong in WRONG:
            number += 1
            wire.send(request(number, method, params=with_field(REQUESTS[method], path, wrong)))
            answer = await wire.answer(number)
            if "error" in answer:
                assert answer["error"]["code"] == INVALID_PARAMS
                refused.add(path)
            wire.answers.clear()
    assert refused == set(places(REQUESTS[method]))


@pytest.mark.parametrize("params", [[], [1], 3, "text", True, {}, {"textDocument": {}}], ids=str)
async def test_parameters_of_another_kind_are_an_error(wire: InProcess, params: Any) -> None:
    assert await code_of(wire, request(1, "textDocument/inlineCompletion", params=params)) == INVALID_PARAMS


async def test_fields_that_nobody_knows_are_ignored(wire: InProcess) -> None:
    params = {**ASK, "x": {"jsonrpc": "1.0", "method": "y"}, "formattingOptions": {"tabSize": 4}}
    wire.send(request(1, "textDocument/inlineCompletion", params=params, extra=[1, {"id": 2}]))
    assert (await wire.answer(1))["result"]["items"][0]["insertText"] == "compute(1, 2)"


@pytest.mark.parametrize(
    "change",
    [
        {"text": None},
        {"text": 5},
        {},
        None,
        {"range": {"start": POSITION, "end": None}, "text": "x"},
        {"range": {"start": {"line": -1, "character": 0}, "end": POSITION}, "text": "x"},
        {"range": {"start": {"line": "0", "character": 0}, "end": POSITION}, "text": "x"},
    ],
    ids=str,
)
async def test_a_change_that_cannot_be_understood_changes_nothing(wire: InProcess, change: Any) -> None:
    identifier = {"uri": URI, "version": 2}
    wire.notify("textDocument/didChange", {"textDocument": identifier, "contentChanges": [change]})
    await wire.ask("spark/status")
    assert wire.text(URI) == "value = "


@pytest.mark.parametrize("version", [None, 0, -5, 1, 2, 77, 2**31 - 1], ids=str)
async def test_a_change_counts_whatever_version_it_names(wire: InProcess, version: int | None) -> None:
    change = {"range": None, "text": "x = 1"}
    identifier = {"uri": URI, "version": version}
    wire.notify("textDocument/didChange", {"textDocument": identifier, "contentChanges": [change]})
    await wire.ask("spark/status")
    assert wire.text(URI) == "x = 1"


async def test_a_document_that_is_not_open_is_answered_with_nothing(wire: InProcess) -> None:
    other = {"uri": "file:///never/opened.py"}
    wire.notify("textDocument/didChange", {"textDocument": {**other, "version": 1}, "contentChanges": [{"text": "x"}]})
    wire.notify("textDocument/didSave", {"textDocument": other})
    wire.notify("textDocument/didClose", {"textDocument": other})
    assert (await wire.ask("textDocument/inlineCompletion", {**ASK, "textDocument": other}))["result"] == {"items": []}
    wire.notify("textDocument/didClose", {"textDocument": {"uri": URI}})
    assert (await wire.ask("textDocument/inlineCompletion", ASK))["result"] == {"items": []}
    assert len(wire.server.documents) == 0


# Sizes and nesting


async def test_a_document_of_twelve_megabytes_is_taken_over(wire: InProcess) -> None:
    uri, text = "file:///project/big.py", "x = 1  # é\n" * 1_000_000
    wire.open(uri, text)
    await wire.ask("spark/status")
    assert wire.text(uri) is not None


async def test_twelve_megabytes_for_an_unknown_method_are_refused_at_once(wire: InProcess) -> None:
    params = [{"name": "x" * 80, "more": {"deep": [number]}} for number in range(100_000)]
    assert await code_of(wire, request(1, "no/such", params=params)) == METHOD_NOT_FOUND


@pytest.mark.parametrize("levels", [900, 100_000])
@pytest.mark.parametrize("method", ["spark/status", "no/such", "textDocument/inlineCompletion"])
async def test_deep_nesting_is_answered(wire: InProcess, levels: int, method: str) -> None:
    body = json.dumps(request(1, method, params={"x": 0})).replace("0}", '{"y":[' * levels + "]}" * levels + "}")
    wire.send_bytes(b"Content-Length: %d\r\n\r\n%s" % (len(body), body.encode()))
    answer = await wire.answer(1)
    assert "result" in answer or answer["error"]["code"] in (INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS)


# Frames (all ways to cut and to head them are in test_framing.py)


@pytest.mark.parametrize(
    "data",
    [
        b"Content-Length: -3\r\n\r\n{}",
        b"Content-Length: 99999999999999\r\n\r\n{}",
        b"Content-Length: x\r\n\r\n{}",
        b"X-Header: 1\r\n\r\n{}",
        b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
        b"Content-Length: 1\r\n\r\n{",
        b"Content-Length: 0\r\n\r\n",
    ],
)
async def test_a_bad_frame_is_a_parse_error_without_an_id(wire: InProcess, data: bytes) -> None:
    wire.send_bytes(data)
    assert await code_without_id(wire) == PARSE_ERROR


async def test_a_text_that_is_not_utf_8_is_completed_all_the_same(wire: InProcess) -> None:
    item = {"uri": "file:///latin.py", "languageId": "python", "version": 1, "text": "# caf?\nvalue = "}
    body = json.dumps({"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {"textDocument": item}}).encode()
    wire.send_bytes(b"Content-Length: %d\r\n\r\n%s" % (len(body), body.replace(b"?", b"\xe9")))
    place = {"line": 1, "character": 8}
    answer = await wire.ask("textDocument/inlineCompletion", {**ASK, "textDocument": item, "position": place})
    assert answer["result"]["items"][0]["insertText"] == "compute(1, 2)"
    assert wire.text("file:///latin.py") == "# caf\ufffd\nvalue = "


async def test_half_a_surrogate_pair_is_completed_all_the_same(wire: InProcess) -> None:
    wire.open("file:///half.py", "# \ud83d\nvalue = ")
    place = {"line": 1, "character": 8}
    answer = await wire.ask(
        "textDocument/inlineCompletion", {**ASK, "textDocument": {"uri": "file:///half.py"}, "position": place}
    )
    assert answer["result"]["items"][0]["insertText"] == "compute(1, 2)"


@pytest.mark.parametrize("message", [3, "text", None, True, [], [[]], {"id": 1.5, "jsonrpc": "2.0", "method": "x"}])
async def test_what_is_no_message_is_an_invalid_request_without_an_id(wire: InProcess, message: Any) -> None:
    wire.send(message)
    assert await code_without_id(wire) == INVALID_REQUEST


async def test_the_messages_of_a_batch_are_handled_one_by_one(wire: InProcess) -> None:
    change = {"textDocument": {"uri": URI, "version": 2}, "contentChanges": [{"text": "value = value = "}]}
    wire.send([request(1), {"jsonrpc": "2.0", "method": "textDocument/didChange", "params": change}, 3, request("x")])
    assert "result" in await wire.answer(1)
    assert "result" in await wire.answer("x")
    assert await code_without_id(wire) == INVALID_REQUEST
    assert wire.text(URI) == "value = value = "


# Ids


@pytest.mark.parametrize(
    ("sent", "answered"), [(0, 0), (-7, -7), (7.0, 7), (2**53, 2**53), ("", ""), ("7", "7"), ("é", "é")]
)
async def test_a_number_or_a_string_is_an_id(wire: InProcess, sent: Any, answered: Any) -> None:
    wire.send(request(sent))
    assert type((await wire.answer(answered))["id"]) is type(answered)


@pytest.mark.parametrize("identifier", [None, True, 1.5, [], {}], ids=str)
async def test_anything_else_is_none(wire: InProcess, identifier: Any) -> None:
    wire.send(request(identifier))
    assert await code_without_id(wire) == INVALID_REQUEST


@pytest.mark.parametrize("more", [{"jsonrpc": "1.0"}, {"method": 3}, {"method": None}, {"jsonrpc": None}], ids=str)
async def test_a_request_of_another_protocol_is_refused(wire: InProcess, more: dict[str, Any]) -> None:
    assert await code_of(wire, {**request(1), **more}) == INVALID_REQUEST


async def test_an_id_that_is_in_use_is_refused_and_both_requests_are_answered() -> None:
    async with InProcess(script=SCRIPT, seconds_per_token=0.01) as wire:
        wire.open(URI, "value = ")
        wire.send_bytes(2 * frame(request(1, "textDocument/inlineCompletion", params=ASK)))
        assert (await wire.answer(1, 1))["error"]["code"] == INVALID_REQUEST
        assert (await wire.answer(1, 2))["result"]["items"]
        wire.send(request(1))
        assert "model" in (await wire.answer(1, 3))["result"]


async def test_a_notification_with_an_id_is_refused_and_a_request_without_one_ignored(wire: InProcess) -> None:
    assert await code_of(wire, request(1, "textDocument/didClose", params={"textDocument": {"uri": URI}})) == (
        INVALID_REQUEST
    )
    wire.notify("textDocument/inlineCompletion", ASK)
    wire.notify("shutdown", None)
    assert wire.text(URI) is not None


# The life cycle


@pytest.mark.parametrize("method", ["spark/status", "shutdown", "textDocument/inlineCompletion", "no/such"])
async def test_a_request_before_initialize_is_refused_and_initialize_works_then(method: str) -> None:
    async with InProcess(script=SCRIPT, initialize=False) as wire:
        wire.open(URI, "too early")
        assert await code_of(wire, request(1, method)) == NOT_INITIALIZED
        await wire.handshake()
        assert wire.text(URI) is None
        await still_works(wire)


@pytest.mark.parametrize("params", [None, [], 3], ids=str)
async def test_initialize_with_nothing_usable_is_refused_and_may_be_tried_again(params: Any) -> None:
    async with InProcess(script=SCRIPT, initialize=False) as wire:
        assert await code_of(wire, request(1, "initialize", params=params)) == INVALID_PARAMS
        assert await code_of(wire, request(2)) == NOT_INITIALIZED
        await wire.handshake()
        await still_works(wire)


async def test_what_is_wrong_in_initialize_is_left_out_and_the_rest_counts() -> None:
    async with InProcess(script=SCRIPT, initialize=False) as wire:
        capabilities = {"general": {"positionEncodings": ["utf-8"]}, "window": 3, "textDocument": {"hover": [1]}}
        wire.initialize_params = {"processId": "x", "clientInfo": {"version": 3}, "capabilities": capabilities}
        answer = await wire.ask("initialize", wire.initialize_params)
        assert answer["result"]["capabilities"]["positionEncoding"] == "utf-8"
        wire.notify("initialized", {})
        while (await wire.ask("spark/status"))["result"]["engine"] == "loading":
            await asyncio.sleep(0.005)
        await still_works(wire)


async def test_a_second_initialize_is_refused(wire: InProcess) -> None:
    assert await code_of(wire, request(1, "initialize", params=wire.initialize_params)) == INVALID_REQUEST


async def test_after_shutdown_requests_are_refused_and_what_was_open_is_answered() -> None:
    async with InProcess(script=SCRIPT, seconds_per_token=0.05) as wire:
        wire.open(URI, "value = ")
        wire.send(request(1, "textDocument/inlineCompletion", params=ASK))
        await wire.until(lambda: wire.server.engine_status is not None)
        assert (await wire.ask("shutdown"))["result"] is None
        assert (await wire.answer(1))["error"]["code"] == CANCELLED
        for method in ("spark/status", "no/such", "shutdown", "initialize"):
            assert await code_of(wire, request(method, method)) == INVALID_REQUEST
        wire.notify("textDocument/didClose", {"textDocument": {"uri": URI}})
        wire.send({"jsonrpc": "2.0", "id": "never", "result": 1})


# Cancelling, and answers to nothing


@pytest.mark.parametrize(
    "params", [{"id": 12345}, {"id": "never"}, {"id": None}, {"id": 1.5}, {}, None, [], 3], ids=str
)
async def test_cancelling_what_was_never_asked_does_nothing(wire: InProcess, params: Any) -> None:
    wire.notify("$/cancelRequest", params)


async def test_a_cancel_before_the_request_does_nothing_and_one_after_the_answer_neither(wire: InProcess) -> None:
    wire.notify("$/cancelRequest", {"id": 1})
    wire.send(request(1, "textDocument/inlineCompletion", params=ASK))
    assert (await wire.answer(1))["result"]["items"]
    wire.notify("$/cancelRequest", {"id": 1})
    await wire.ask("spark/status")
    assert [answer["id"] for answer in wire.answers].count(1) == 1


@pytest.mark.parametrize("together", [True, False], ids=["in one piece", "one after the other"])
async def test_a_cancel_during_the_request_is_its_answer(together: bool) -> None:
    async with InProcess(script=SCRIPT, seconds_per_token=0.05) as wire:
        wire.open(URI, "value = ")
        ask = frame(request(1, "textDocument/inlineCompletion", params=ASK))
        cancel = frame({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": 1}})
        for data in (ask + 2 * cancel,) if together else (ask, cancel, cancel):
            wire.send_bytes(data)
        assert (await wire.answer(1))["error"]["code"] == CANCELLED
        await wire.ask("spark/status")
        assert [answer["id"] for answer in wire.answers].count(1) == 1


@pytest.mark.parametrize("more", [{"result": {}}, {"error": {"code": 1, "message": "x"}}, {"error": 3}, {}], ids=str)
async def test_a_response_to_what_was_never_asked_is_ignored(more: dict[str, Any]) -> None:
    """Not even where the id is that of a request of the client which is being answered."""
    async with InProcess(script=SCRIPT, seconds_per_token=0.01) as wire:
        wire.open(URI, "value = ")
        wire.send(request(1, "textDocument/inlineCompletion", params=ASK))
        for identifier in (1, "never", None, 1.5, []):
            wire.send({"jsonrpc": "2.0", "id": identifier, **more})
        assert (await wire.answer(1))["result"]["items"]


@pytest.mark.parametrize("more", [{"result": 3}, {"error": 3}, {"error": {"code": "x"}}, {}, {"result": None}], ids=str)
async def test_the_server_goes_on_whatever_its_own_request_is_answered(more: dict[str, Any]) -> None:
    async with InProcess(script=SCRIPT, initialize=False) as wire:
        wire.on_request = lambda message: [wire.send({"jsonrpc": "2.0", "id": message["id"], **more})] * 2 and None
        await wire.handshake()
        await still_works(wire)
        assert [message["method"] for message in wire.messages if "id" in message]
