"""Nothing that a plugin puts into its parameters breaks the server, and what it means is read all the same."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from spark_lsp.server.copilot.params import (
    Target,
    characters_within,
    identifier_of,
    insert_text_of,
    length_of,
    target_of,
    uri_of,
)
from tests.lsp.conftest import StartScripted, stderr_of
from tests.lsp.copilot_plugins import SCRIPT, copilot_lua_params

URI = "file:///project/a.py"
HERE = {"line": 1, "character": 2}
REQUESTS = (
    "setEditorInfo",
    "checkStatus",
    "signIn",
    "signInInitiate",
    "signInConfirm",
    "signOut",
    "getVersion",
    "copilot/models",
    "getCompletions",
    "getCompletionsCycling",
    "getPanelCompletions",
    "notifyShown",
    "notifyAccepted",
    "notifyRejected",
    "textDocument/copilotInlineEdit",
    "textDocument/copilotPanelCompletion",
)
NOTIFICATIONS = (
    "textDocument/didShowCompletion",
    "textDocument/didPartiallyAcceptCompletion",
    "textDocument/didFocus",
    "textDocument/didShowInlineEdit",
)
DEEP: Any = None
for _ in range(50):
    DEEP = {"doc": DEEP, "_": True}
JUNK: tuple[Any, ...] = (
    None,
    {},
    [],
    [1, "two", None],
    "text",
    3,
    True,
    {"_": True, "0": 1, "": 2, "class": 3, "type_name": "Object", "two words": 4},
    {"doc": None, "textDocument": None, "position": None, "item": None, "uuid": None, "uuids": None},
    {"doc": 3, "textDocument": "x", "position": [], "item": [], "uuid": {}, "uuids": {"a": 1}, "panelId": 4},
    {"doc": {"uri": 3, "position": {"line": "0", "character": None}, "version": "x"}},
    {"doc": {"uri": URI, "position": {"line": -1, "character": -7}, "version": 1.5}, "panelId": "p"},
    {"doc": {"uri": URI, "position": {"line": 10**12, "character": 10**30}}, "panelId": ""},
    {"doc": {"uri": "", "position": {"line": 0, "character": 0}, "source": "\n"}},
    {"doc": {"uri": "file:///never/opened.py", "position": {"line": 0, "character": 0}, "version": 9}},
    {"textDocument": {"uri": URI}, "position": {"line": 0, "character": 0}, "partialResultToken": {"no": "token"}},
    {"item": {"command": {"arguments": {"0": "x"}}, "insertText": {"kind": "snippet"}}, "acceptedLength": "3"},
    {"item": {"command": {"arguments": [["x"]]}}, "acceptedLength": -1},
    {"uuid": "never offered", "acceptedLength": 10**20, "uuids": [None, 3, {}, [], "x"]},
    DEEP,
)


async def test_every_request_is_answered_whatever_its_params(scripted: StartScripted) -> None:
    editor = await scripted(script=SCRIPT)
    editor.open(URI, "python", "value = ")
    for method in NOTIFICATIONS:
        for params in JUNK:
            editor.notify(method, params)
        editor.send({"jsonrpc": "2.0", "method": method})
    answers = [editor.start_request(method, params)[1] for method in REQUESTS for params in JUNK]
    outcomes = await asyncio.wait_for(asyncio.gather(*answers, return_exceptions=True), 60)
    assert [outcome for outcome in outcomes if isinstance(outcome, BaseException)] == []
    (completion,) = (await editor.request("getCompletions", copilot_lua_params(editor, URI)))["completions"]
    assert completion["displayText"] == "compute(1, 2)"
    await editor.stop()
    assert "Traceback" not in await stderr_of(editor)


@pytest.mark.parametrize(
    "options",
    [
        {"editorInfo": None, "editorPluginInfo": 3},
        {"editorInfo": {}, "editorPluginInfo": {"name": None}},
        {"editorInfo": {"name": "x"}, "completion": {"maxLines": 3}},
    ],
)
async def test_initialize_survives_any_editor_info(scripted: StartScripted, options: dict[str, Any]) -> None:
    editor = await scripted(script=SCRIPT, options=options)
    editor.open(URI, "python", "value = ")
    assert await editor.complete(URI) == "compute(1, 2)"


@pytest.mark.parametrize(
    "params, target",
    [
        ({"doc": {"uri": URI, "position": HERE, "version": 3}}, Target(URI, 1, 2, 3, True)),
        ({"textDocument": {"uri": URI, "version": 3}, "position": HERE}, Target(URI, 1, 2, 3, False)),
        (
            {"doc": {"uri": URI, "version": 4}, "textDocument": {"uri": "x", "version": 3}, "position": HERE},
            Target(URI, 1, 2, 4, True),
        ),
        ({"doc": {"position": HERE}, "textDocument": {"uri": URI, "version": 0}}, Target(URI, 1, 2, 0, True)),
        ({"textDocument": {"uri": URI}, "position": {"line": 1.0, "character": 2.0}}, Target(URI, 1, 2, None, False)),
        ({"textDocument": {"uri": URI}, "position": {"line": True, "character": 2}}, None),
        (
            {"textDocument": {"uri": URI}, "position": {"line": -1, "character": 10**30}},
            Target(URI, 0, 2**31 - 1, None, False),
        ),
        ({"textDocument": {"uri": URI}}, None),
        ({"position": HERE}, None),
        ({}, None),
    ],
)
def test_the_place_of_a_request(params: dict[str, Any], target: Target | None) -> None:
    assert target_of(params) == target


def test_the_document_of_a_notification() -> None:
    assert uri_of({"textDocument": {"uri": URI}}) == URI
    assert uri_of({}) == ""


def test_an_item_is_known_by_the_argument_of_its_command() -> None:
    item = {"insertText": "text", "command": {"command": "spark.accept", "arguments": ["id", 3]}}
    assert (identifier_of(item), insert_text_of(item)) == ("id", "text")
    for broken in (None, {}, {"command": {}}, {"command": {"arguments": []}}, {"command": {"arguments": [3]}}):
        assert (identifier_of(broken), insert_text_of(broken)) == ("", "")


@pytest.mark.parametrize(
    "text, units, characters",
    [
        ("abc", 2, 2),
        ("abc", 9, 3),
        ("abc", 0, 0),
        ("é世", 1, 1),
        ("é世", 2, 2),
        ("a😀b", 1, 1),
        ("a😀b", 2, 1),
        ("a😀b", 3, 2),
        ("a😀b", 99, 3),
        ("one\ntwo", 5, 5),
    ],
)
def test_accepted_lengths_are_utf_16_units(text: str, units: int, characters: int) -> None:
    assert characters_within(text, units) == characters


def test_what_is_no_length_is_none() -> None:
    assert [length_of(value) for value in (3, 3.0, 0, -1, "3", None, True, 2.5)] == [
        3,
        3,
        0,
        None,
        None,
        None,
        None,
        None,
    ]
