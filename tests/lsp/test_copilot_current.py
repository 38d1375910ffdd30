"""The methods of Copilot's current plugins over a real pipe: copilot.el, nvim-lspconfig, sidekick.nvim."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from spark_lsp.server.copilot.client import ACCEPT_ALIASES
from spark_lsp.server.editor import Editor, ResponseError
from tests.lsp.conftest import StartScripted
from tests.lsp.copilot_plugins import COPILOT_EL, NEOVIM_ENCODINGS, NVIM_LSPCONFIG, SCRIPT, heard, version

URI = "file:///project/a.py"
INLINE = "textDocument/inlineCompletion"
INLINE_EDIT = "textDocument/copilotInlineEdit"
PANEL = "textDocument/copilotPanelCompletion"
ALIAS = "github.copilot.didAcceptCompletionItem"
CONTENT_MODIFIED = -32801


def params(editor: Editor, wanted: int | None = None, uri: str = URI) -> dict[str, Any]:
    found = editor.completion_params(uri)
    if wanted is not None:
        found["textDocument"]["version"] = wanted
    return found


async def refusal(editor: Editor, method: str, request: dict[str, Any]) -> int:
    with pytest.raises(ResponseError) as refused:
        await editor.request(method, request)
    return refused.value.code


async def test_copilot_el_shows_accepts_a_part_and_then_all(scripted: StartScripted) -> None:
    editor = await scripted(script=SCRIPT, options=COPILOT_EL)
    editor.notify("workspace/didChangeConfiguration", {"settings": {"github": {"copilot": {}}}})
    editor.open(URI, "python", "value = ")
    editor.notify("textDocument/didFocus", {"textDocument": {"uri": URI}})
    request = {**params(editor), "formattingOptions": {"tabSize": 4, "insertSpaces": True}}
    (item,) = (await editor.request(INLINE, request))["items"]
    assert item["insertText"] == "compute(1, 2)"
    shown = {"item": {"command": item["command"]}}
    editor.notify("textDocument/didShowCompletion", shown)
    editor.notify("textDocument/didPartiallyAcceptCompletion", {**shown, "acceptedLength": 7})
    editor.type(URI, "compute")
    assert await editor.complete(URI) == "(1, 2)"
    editor.notify("textDocument/didPartiallyAcceptCompletion", {**shown, "acceptedLength": 9})
    assert await editor.request("workspace/executeCommand", item["command"]) is None
    status = await editor.status()
    assert (status["shown"], status["partiallyAccepted"], status["acceptedCompletions"]) == (1, 1, 1)
    assert await heard(editor, "window/showMessage") == []


async def test_nobody_has_to_sign_in_and_the_user_is_told_so(scripted: StartScripted) -> None:
    editor = await scripted(script=SCRIPT, options=NVIM_LSPCONFIG)
    assert await editor.request("checkStatus", None) == {"status": "OK", "user": "local"}
    assert await heard(editor, "window/showMessage") == []
    assert await editor.request("signIn", {}) == {"status": "AlreadySignedIn", "user": "local"}
    assert await editor.request("signInInitiate", None) == {"status": "AlreadySignedIn", "user": "local"}
    assert await editor.request("signInConfirm", {"userCode": "1234"}) == {"status": "OK", "user": "local"}
    assert await editor.request("signOut", {}) == {"status": "OK", "user": "local"}
    assert await editor.request("checkStatus", {"options": {"localChecksOnly": True}}) == {
        "status": "OK",
        "user": "local",
    }
    (told,) = await heard(editor, "window/showMessage")
    assert told == {"type": 3, "message": "spark-lsp: No account is needed: suggestions are computed on this machine."}


async def test_the_one_model_that_runs_is_listed(scripted: StartScripted) -> None:
    editor = await scripted(script=SCRIPT, options=COPILOT_EL)
    (model,) = await editor.request("copilot/models", None)
    assert model["id"] == model["modelName"] == "scripted"
    assert model["scopes"] == ["completion"]


async def test_sidekick_is_told_that_there_are_no_edits_elsewhere(scripted: StartScripted) -> None:
    editor = await scripted(script=SCRIPT, options=NVIM_LSPCONFIG, encodings=NEOVIM_ENCODINGS)
    editor.open(URI, "python", "value = ")
    editor.notify("textDocument/didFocus", {"textDocument": {"uri": URI}})
    request = {**params(editor, 1), "context": {"triggerKind": 2}}
    assert await editor.request(INLINE_EDIT, request) == {"edits": []}
    editor.notify("textDocument/didShowInlineEdit", {"item": {"command": None}})
    assert await editor.request(INLINE_EDIT, params(editor)) == {"edits": []}
    assert await refusal(editor, INLINE_EDIT, params(editor, 7)) == CONTENT_MODIFIED


@pytest.mark.parametrize("wanted", [0, 2], ids=["older", "newer"])
async def test_a_request_for_another_version_is_refused(scripted: StartScripted, wanted: int) -> None:
    editor = await scripted(script=SCRIPT, options=NVIM_LSPCONFIG)
    editor.open(URI, "python", "value = ")
    assert await refusal(editor, INLINE, params(editor, wanted)) == CONTENT_MODIFIED
    (item,) = (await editor.request(INLINE, params(editor, 1)))["items"]
    assert item["insertText"] == "compute(1, 2)"


async def test_other_clients_may_send_any_version(scripted: StartScripted) -> None:
    editor = await scripted(script=SCRIPT)
    editor.open(URI, "python", "value = ")
    (item,) = (await editor.request(INLINE, params(editor, 7)))["items"]
    assert item["insertText"] == "compute(1, 2)"


async def test_commands_of_the_other_server_are_there_for_its_plugins_alone(scripted: StartScripted) -> None:
    plain, plugin = await scripted(script=SCRIPT), await scripted(script=SCRIPT, options=NVIM_LSPCONFIG)
    ours, offered = (editor.capabilities["executeCommandProvider"]["commands"] for editor in (plain, plugin))
    assert ALIAS in set(offered) - set(ours) == set(ACCEPT_ALIASES)
    assert set(ours) < set(offered)
    plugin.open(URI, "python", "value = ")
    (item,) = (await plugin.request(INLINE, params(plugin)))["items"]
    command = {"command": ALIAS, "arguments": item["command"]["arguments"]}
    assert await plugin.request("workspace/executeCommand", command) is None
    assert (await plugin.status())["acceptedCompletions"] == 1
    assert await refusal(plain, "workspace/executeCommand", command) == -32602


async def test_plugins_get_utf_16_whatever_their_editor_prefers(scripted: StartScripted) -> None:
    editor = await scripted(script=SCRIPT, options=NVIM_LSPCONFIG, encodings=NEOVIM_ENCODINGS)
    assert editor.capabilities["positionEncoding"] == "utf-16"
    editor.open(URI, "python", "s = '😀 世界'; valu\n", cursor=len("s = '😀 世界'; valu"))
    editor.type(URI, "e = ")
    (item,) = (await editor.request(INLINE, params(editor)))["items"]
    assert item["range"]["start"] == {"line": 0, "character": 21}


async def test_the_panel_gets_its_texts_as_one_answer_or_as_they_come(scripted: StartScripted) -> None:
    editor = await scripted(script=SCRIPT, options=COPILOT_EL)
    editor.open(URI, "python", "value = ")
    items = (await editor.request(PANEL, params(editor, 1)))["items"]
    texts = [item["insertText"] for item in items]
    assert texts[0] == "compute(1, 2)"
    assert len(set(texts)) == len(texts)
    assert items[0]["range"]["start"] == {"line": 0, "character": 8}
    assert await editor.request(PANEL, {**params(editor), "partialResultToken": "panel-1"}) == {"items": []}
    sent = [p["value"]["items"] for p in await heard(editor, "$/progress") if p["token"] == "panel-1"]
    assert [item["insertText"] for (item,) in sent] == texts


async def test_the_state_is_announced_to_plugins_alone(scripted: StartScripted) -> None:
    plain, plugin = await scripted(script=SCRIPT), await scripted(script=SCRIPT, options=NVIM_LSPCONFIG)
    ready = {"kind": "Normal", "busy": False, "message": ""}
    assert await heard(plugin, "didChangeStatus") == [{**ready, "busy": True}, ready]
    assert [p["status"] for p in await heard(plugin, "statusNotification")] == ["InProgress", "Normal"]
    assert await heard(plain, "didChangeStatus") == []
    # A client that is recognised later hears how things are then.
    await plain.request("checkStatus", {})
    assert await heard(plain, "didChangeStatus") == [ready]


@pytest.mark.parametrize(
    "plan, options, kind, message",
    [
        ({"fail": "No such model."}, {}, "Error", "No such model."),
        ({"fim": False}, {}, "Warning", "left to right only"),
        ({}, {"completion": {"enabled": False}}, "Inactive", "turned off"),
    ],
    ids=["no model", "half a model", "turned off"],
)
async def test_what_is_wrong_is_announced_once(
    scripted: StartScripted, plan: dict[str, Any], options: dict[str, Any], kind: str, message: str
) -> None:
    editor = await scripted(script=SCRIPT, options={**NVIM_LSPCONFIG, **options}, **plan)
    editor.open(URI, "python", "value = ")
    for key in ("c", "o"):
        await editor.complete(URI)
        editor.type(URI, key)
    while (await editor.status())["engine"] == "busy":
        await asyncio.sleep(0.01)
    said = [(p["kind"], p["message"]) for p in await heard(editor, "didChangeStatus") if p["kind"] != "Normal"]
    assert len(said) == 1
    assert said[0][0] == kind
    assert message in said[0][1]


async def test_it_never_calls_itself_by_the_other_name(scripted: StartScripted) -> None:
    editor = await scripted(script=SCRIPT, options=NVIM_LSPCONFIG)
    answers = [
        await editor.request(m, {}) for m in ("getVersion", "checkStatus", "signIn", "signOut", "copilot/models")
    ]
    told = [m["params"] for m in editor.messages if m.get("method") in ("window/showMessage", "didChangeStatus")]
    assert "copilot" not in json.dumps([answers, told]).lower()
    assert set(answers[0]) == {"version", "buildType", "runtimeVersion"}


async def test_focus_on_a_document_that_nobody_opened_is_no_matter(scripted: StartScripted) -> None:
    editor = await scripted(script=SCRIPT, options={**NVIM_LSPCONFIG, "context": {"recent": True}})
    for focus in ({}, None, {"textDocument": None}, {"textDocument": {"uri": "file:///other.py"}}):
        editor.notify("textDocument/didFocus", focus)
    editor.open(URI, "python", "value = ")
    editor.notify("textDocument/didFocus", {"textDocument": {"uri": URI}})
    assert await editor.complete(URI) == "compute(1, 2)"
    assert version(editor, URI) == 1
