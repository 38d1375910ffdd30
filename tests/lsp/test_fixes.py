"""Code actions over a real pipe, with a scripted engine that knows the repair by heart."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from spark_lsp.server.editor import Editor, ResponseError
from tests.lsp.conftest import READY_SECONDS, ROOT, stderr_of

URI = "untitled:main.py"
TEXT = "value = 1\nprint(vlaue)\n"
REPAIRED = "value = 1\nprint(value)\n"
MESSAGE = "undefined name 'vlaue'"
SCRIPT = ["# was: print(vlaue)\nvalue = 1\nprint(value)"]
COPY = ["# was: print(vlaue)\nvalue = 1\nprint(vlaue)"]
SLOW = 0.01
"""Seconds for each token; a repair then takes seconds, and whatever is to stop it comes before its end."""

LITERALS: dict[str, Any] = {"codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["quickfix"]}}}
RESOLVING: dict[str, Any] = {
    **LITERALS,
    "dataSupport": True,
    "disabledSupport": True,
    "isPreferredSupport": True,
    "resolveSupport": {"properties": ["edit"]},
}
VERSIONED = {"workspace": {"workspaceEdit": {"documentChanges": True}, "applyEdit": True}}


class Client(Editor):
    """An editor with other capabilities."""

    code_action: Any = None
    versioned = True

    async def request(self, method: str, params: Any) -> Any:
        if method == "initialize":
            if self.code_action is not None:
                params["capabilities"]["textDocument"]["codeAction"] = self.code_action
            if self.versioned:
                params["capabilities"] |= VERSIONED
        return await super().request(method, params)

    async def actions(self, *diagnostics: Any, uri: str = URI, line: int = 1, **context: Any) -> list[dict[str, Any]]:
        place = {"start": {"line": line, "character": 0}, "end": {"line": line, "character": 5}}
        found: list[dict[str, Any]] = await self.request(
            "textDocument/codeAction",
            {"textDocument": {"uri": uri}, "range": place, "context": {"diagnostics": [*diagnostics], **context}},
        )
        return found

    def shown(self) -> list[str]:
        return [m["params"]["message"] for m in self.messages if m["method"] == "window/showMessage"]


Start = Callable[..., Awaitable[Client]]


@pytest_asyncio.fixture
async def fixing(tmp_path: Path) -> AsyncIterator[Start]:
    """Start servers: `await fixing(script=[...])`, with the code actions that the client says it takes."""
    clients: list[Client] = []

    async def start(
        *, code_action: Any = RESOLVING, versioned: bool = True, options: Any = None, text: str = TEXT, **plan: Any
    ) -> Client:
        file = tmp_path / f"plan{len(clients)}.json"
        file.write_text(json.dumps({"script": SCRIPT, **plan}))
        client = Client([sys.executable, "-m", "tests.lsp.scripted_server", str(file)], {"PYTHONPATH": str(ROOT)})
        client.code_action, client.versioned = code_action, versioned
        clients.append(client)
        await client.start(options, stderr=asyncio.subprocess.PIPE)
        await client.ready(READY_SECONDS)
        client.open(URI, "python", text)
        return client

    yield start
    for client in clients:
        assert await client.stop() == 0
        assert "Traceback" not in await stderr_of(client)


def finding(message: str = MESSAGE, line: int = 1, start: int = 6, end: int = 11, **more: Any) -> dict[str, Any]:
    where = {"start": {"line": line, "character": start}, "end": {"line": line, "character": end}}
    return {"range": where, "message": message, "severity": 1, "source": "pyflakes", **more}


async def busy(client: Client) -> None:
    while (await client.status())["engine"] != "busy":
        await asyncio.sleep(0.01)


async def idle(client: Client) -> None:
    while (await client.status())["engine"] != "idle":
        await asyncio.sleep(0.01)


async def test_the_capability_is_advertised(fixing: Start) -> None:
    client = await fixing()
    provider = client.capabilities["codeActionProvider"]
    assert provider == {"codeActionKinds": ["quickfix"], "resolveProvider": True}
    assert "spark.repair" in client.capabilities["executeCommandProvider"]["commands"]


async def test_an_action_gets_its_edit_when_it_is_resolved(fixing: Start) -> None:
    client = await fixing()
    (action,) = await client.actions(finding())
    assert action["title"] == f"Repair: {MESSAGE}"
    assert action["kind"] == "quickfix"
    assert "edit" not in action
    assert "isPreferred" not in action
    resolved = await client.request("codeAction/resolve", action)
    (change,) = resolved["edit"]["documentChanges"]
    assert change["textDocument"] == {"uri": URI, "version": 1}
    (edit,) = change["edits"]
    assert edit["newText"] == "al"
    assert edit["range"] == {"start": {"line": 1, "character": 7}, "end": {"line": 1, "character": 9}}
    assert resolved["isPreferred"] is True
    assert (await client.status())["promptTokens"] > 0


async def test_a_client_without_versions_gets_plain_changes(fixing: Start) -> None:
    client = await fixing(versioned=False)
    (action,) = await client.actions(finding())
    resolved = await client.request("codeAction/resolve", action)
    assert [*resolved["edit"]["changes"]] == [URI]


async def test_once_found_the_edit_is_in_the_list(fixing: Start) -> None:
    client = await fixing()
    (action,) = await client.actions(finding())
    resolved = await client.request("codeAction/resolve", action)
    steps = (await client.status())["decodeSteps"]
    (again,) = await client.actions(finding())
    assert again["edit"] == resolved["edit"]
    assert again["isPreferred"] is True
    client.edit(URI, [(0, 0, "\n")])
    (moved,) = await client.actions(finding(line=2), line=2)
    assert "edit" not in moved
    assert (await client.status())["decodeSteps"] == steps


async def test_where_there_is_no_repair_the_user_is_told_and_none_is_offered_again(fixing: Start) -> None:
    client = await fixing(script=COPY)
    (action,) = await client.actions(finding())
    resolved = await client.request("codeAction/resolve", action)
    assert "edit" not in resolved
    assert resolved["disabled"] == {"reason": "The model would change nothing."}
    assert client.shown() == ["spark-lsp: no repair. The model would change nothing."]
    assert await client.actions(finding()) == []


async def test_a_repair_that_no_check_proves_is_not_preferred(fixing: Start) -> None:
    script = ["# was: b = a is 1\na = 1\nb = a == 1"]
    client = await fixing(script=script, text="a = 1\nb = a is 1\n")
    (action,) = await client.actions(finding("use ==/!= to compare constant literals"))
    resolved = await client.request("codeAction/resolve", action)
    assert resolved["edit"]
    assert "isPreferred" not in resolved


@pytest.mark.parametrize("code_action", [LITERALS, {}, None])
async def test_a_client_that_resolves_nothing_gets_a_command(fixing: Start, code_action: Any) -> None:
    client = await fixing(code_action=code_action)
    (action,) = await client.actions(finding())
    command = action["command"] if code_action == LITERALS else action
    assert command["command"] == "spark.repair"
    params = {"command": command["command"], "arguments": command["arguments"], "workDoneToken": "mine"}
    assert await client.request("workspace/executeCommand", params) is None
    (request,) = [m["params"] for m in client.messages if m["method"] == "workspace/applyEdit"]
    assert request["edit"]["documentChanges"][0]["edits"][0]["newText"] == "al"
    assert request["label"] == f"Repair: {MESSAGE}"
    progress = [m["params"]["value"] for m in client.messages if m["method"] == "$/progress"]
    kinds = [value["kind"] for value in progress if value.get("title") != "Loading the completion model"]
    assert "begin" in kinds
    assert kinds[-1] == "end"


async def test_positions_are_those_of_the_client(fixing: Start) -> None:
    text = "value = 1\n'😀', print(vlaue)\n"
    client = await fixing(text=text, script=["# was: '😀', print(vlaue)\nvalue = 1\n'😀', print(value)"])
    (action,) = await client.actions(finding(start=12, end=17))
    resolved = await client.request("codeAction/resolve", action)
    (edit,) = resolved["edit"]["documentChanges"][0]["edits"]
    assert edit["range"] == {"start": {"line": 1, "character": 13}, "end": {"line": 1, "character": 15}}


async def test_an_edit_before_the_action_is_resolved_makes_it_out_of_date(fixing: Start) -> None:
    client = await fixing()
    (action,) = await client.actions(finding())
    client.type(URI, "x")
    with pytest.raises(ResponseError) as refused:
        await client.request("codeAction/resolve", action)
    assert refused.value.code == -32801


async def test_an_edit_meanwhile_stops_the_repair(fixing: Start) -> None:
    client = await fixing(seconds_per_token=SLOW)
    (action,) = await client.actions(finding())
    _, answer = client.start_request("codeAction/resolve", action)
    await busy(client)
    client.type(URI, "x")
    with pytest.raises(ResponseError) as refused:
        await answer
    assert refused.value.code == -32801
    await idle(client)


async def test_a_cancel_stops_the_repair(fixing: Start) -> None:
    client = await fixing(seconds_per_token=SLOW)
    (action,) = await client.actions(finding())
    number, answer = client.start_request("codeAction/resolve", action)
    await busy(client)
    client.notify("$/cancelRequest", {"id": number})
    with pytest.raises(ResponseError) as refused:
        await answer
    assert refused.value.code == -32800
    await idle(client)
    (action,) = await client.actions(finding())  # nothing was learned, and it may be asked again
    assert "edit" not in action


async def test_stopping_the_progress_stops_the_repair(fixing: Start) -> None:
    client = await fixing(seconds_per_token=SLOW)
    (action,) = await client.actions(finding())
    _, answer = client.start_request("codeAction/resolve", action)
    begun: list[Any] = []
    while not begun:
        await asyncio.sleep(0.01)
        progress = [m["params"] for m in client.messages if m["method"] == "$/progress"]
        begun = [one["token"] for one in progress if one["value"].get("cancellable")]
    client.notify("window/workDoneProgress/cancel", {"token": begun[0]})
    with pytest.raises(ResponseError) as refused:
        await answer
    assert refused.value.code == -32800
    await idle(client)


async def test_a_second_repair_takes_the_place_of_the_first(fixing: Start) -> None:
    client = await fixing(seconds_per_token=SLOW)
    one, other = await client.actions(finding(), finding("another fault"))
    _, first = client.start_request("codeAction/resolve", one)
    await busy(client)
    number, second = client.start_request("codeAction/resolve", other)
    with pytest.raises(ResponseError) as refused:
        await first
    assert refused.value.code == -32802
    client.notify("$/cancelRequest", {"id": number})
    with pytest.raises(ResponseError):
        await second


async def test_a_completion_waits_for_the_repair_and_does_not_stop_it(fixing: Start) -> None:
    client = await fixing()
    (action,) = await client.actions(finding())
    _, answer = client.start_request("codeAction/resolve", action)
    await client.complete(URI, invoked=True)
    assert "edit" in await answer


@pytest.mark.parametrize(
    ("only", "offered"), [(["quickfix"], 1), (["refactor"], 0), ([""], 1), (["source", "quickfix"], 1), ([], 0)]
)
async def test_only_quick_fixes_are_offered(fixing: Start, only: list[str], offered: int) -> None:
    client = await fixing()
    assert len(await client.actions(finding(), only=only)) == offered


async def test_errors_come_before_warnings_and_hints_are_left_alone(fixing: Start) -> None:
    client = await fixing()
    found = await client.actions(
        finding("a hint", severity=4), finding("a warning", severity=2), finding("an error"), finding("unrated")
    )
    assert [action["title"] for action in found] == ["Repair: an error", "Repair: unrated", "Repair: a warning"]
    many = await client.actions(*(finding(f"fault {number}") for number in range(20)))
    assert len(many) == 5


@pytest.mark.parametrize(
    "item",
    [
        {},
        {"message": "x"},
        finding(""),
        finding(line=99),
        {**finding(), "range": {"start": {"line": 1e400, "character": 0}, "end": {"line": 0, "character": 0}}},
    ],
)
async def test_what_is_no_diagnostic_of_the_text_gets_no_action(fixing: Start, item: Any) -> None:
    client = await fixing()
    try:
        assert await client.actions(item) == []
    except ResponseError as refused:  # some of these are no diagnostics to the protocol either
        assert refused.code == -32602
    assert len(await client.actions(finding())) == 1


@pytest.mark.parametrize(
    ("uri", "text"), [("untitled:.env", "KEY = 1\n"), ("untitled:b.bin", "a\0b"), ("untitled:nobody.py", None)]
)
async def test_no_actions_for_private_binary_and_unknown_documents(fixing: Start, uri: str, text: str | None) -> None:
    client = await fixing()
    if text is not None:
        client.open(uri, "python", text)
    assert await client.actions(finding(line=0, start=0, end=1), uri=uri, line=0) == []
    data = {"uri": uri, "version": 1, "range": finding(line=0)["range"], "message": "wrong"}
    resolved = await client.request("codeAction/resolve", {"title": "Repair", "data": data})
    assert "edit" not in resolved
    await client.request("workspace/executeCommand", {"command": "spark.repair", "arguments": [data]})
    assert not [m for m in client.messages if m["method"] == "workspace/applyEdit"]


async def test_no_actions_when_turned_off_or_without_a_model(fixing: Start) -> None:
    off = await fixing(options={"completion": {"enabled": False}})
    assert await off.actions(finding()) == []
    without = await fixing(fail="There is no model.")
    assert await without.actions(finding()) == []


@pytest.mark.parametrize("data", [None, 1, [], {}, {"uri": 1}, {"uri": URI, "version": 1}, {"uri": URI, "range": {}}])
async def test_data_that_is_not_ours_changes_nothing(fixing: Start, data: Any) -> None:
    client = await fixing()
    try:
        resolved = await client.request("codeAction/resolve", {"title": "Repair", "data": data})
        assert "edit" not in resolved
    except ResponseError as refused:
        assert refused.code == -32801
    try:
        await client.request("workspace/executeCommand", {"command": "spark.repair", "arguments": [data]})
    except ResponseError as refused:
        assert refused.code == -32801
    assert len(await client.actions(finding())) == 1


async def test_the_context_of_an_action_tells_what_is_wrong(fixing: Start) -> None:
    options = {"context": {"diagnostics": True}, "completion": {"drafting": False}}
    client = await fixing(options=options)
    other = await fixing(options=options)
    await client.actions(finding("undefined_name is not defined, and this takes many tokens of a prompt"))
    tokens = []
    for one in (client, other):
        before = (await one.status())["promptTokens"]
        one.type(URI, "z = ")
        await one.complete(URI, invoked=True)
        tokens.append((await one.status())["promptTokens"] - before)
    assert tokens[0] > tokens[1]
