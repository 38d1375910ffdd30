"""The methods of Copilot's older plugins over a real pipe: copilot.lua and LSP-copilot, and copilot.el's panel."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from spark_lsp.server.editor import ResponseError
from tests.lsp.conftest import StartScripted
from tests.lsp.copilot_plugins import (
    COPILOT_EL,
    LSP_COPILOT,
    NEOVIM_ENCODINGS,
    NVIM_LSPCONFIG,
    SCRIPT,
    copilot_lua_params,
    doc,
    heard,
    lsp_copilot_params,
)

URI = "file:///project/a.py"


async def test_lsp_copilot_asks_for_one_text_and_for_several_with_every_key(scripted: StartScripted) -> None:
    editor = await scripted(script=SCRIPT, seconds_per_token=0.02)
    version = await editor.request("getVersion", {})
    assert version["version"]
    assert (await editor.request("checkStatus", {}))["status"] == "OK"
    assert await editor.request("setEditorInfo", LSP_COPILOT) == "OK"
    editor.open(URI, "python", "value = ")
    _, one = editor.start_request("getCompletions", lsp_copilot_params(editor, URI))
    _, several = editor.start_request("getCompletionsCycling", lsp_copilot_params(editor, URI))
    (completion,) = (await several)["completions"]
    assert (await one)["completions"] == [completion]
    assert completion["text"] == "value = compute(1, 2)"
    assert completion["displayText"] == "compute(1, 2)"
    # Nobody asked by hand: it was one request to the engine.
    assert (await editor.status())["requests"] == 1
    assert await editor.request("notifyAccepted", {"uuid": completion["uuid"]}) == "OK"
    assert await editor.request("notifyRejected", {"uuids": ["another"]}) == "OK"
    assert (await editor.status())["acceptedCompletions"] == 1


async def test_a_text_is_that_of_the_whole_line(scripted: StartScripted) -> None:
    editor = await scripted(script=["    print(first, second"], options=NVIM_LSPCONFIG)
    editor.open(URI, "python", "if x:\n    print()\n", cursor=len("if x:\n    print("))
    (completion,) = (await editor.request("getCompletions", copilot_lua_params(editor, URI)))["completions"]
    assert completion["text"] == "    print(first, second)"
    assert completion["displayText"] == "first, second"
    assert completion["range"] == {"start": {"line": 1, "character": 0}, "end": {"line": 1, "character": 11}}
    assert completion["position"] == {"line": 1, "character": 10}
    assert completion["docVersion"] == 1


async def test_positions_are_utf_16_even_where_something_else_was_agreed_on(scripted: StartScripted) -> None:
    editor = await scripted(script=SCRIPT, encodings=NEOVIM_ENCODINGS)
    assert editor.capabilities["positionEncoding"] == "utf-8"
    editor.open(URI, "python", "s = '😀 世界'; value = ")
    params = {"doc": doc(editor, URI, position={"line": 0, "character": 21})}
    (completion,) = (await editor.request("getCompletions", params))["completions"]
    assert completion["text"] == "s = '😀 世界'; value = compute(1, 2)"
    assert completion["range"] == {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 21}}
    assert completion["position"] == {"line": 0, "character": 21}
    # The edits of the same client go on in what was agreed on.
    editor.type(URI, "c")
    assert await editor.complete(URI) == "ompute(1, 2)"


async def test_asking_for_more_by_hand_gives_distinct_texts(scripted: StartScripted) -> None:
    editor = await scripted(script=SCRIPT, options=NVIM_LSPCONFIG)
    editor.open(URI, "python", "value = ")
    found = (await editor.request("getCompletionsCycling", copilot_lua_params(editor, URI)))["completions"]
    texts = [completion["text"] for completion in found]
    assert texts[0] == "value = compute(1, 2)"
    assert len(set(texts)) == len(texts)


async def test_shown_accepted_and_partially_accepted_are_counted(scripted: StartScripted) -> None:
    editor = await scripted(script=SCRIPT, options=NVIM_LSPCONFIG)
    editor.open(URI, "python", "value = ")
    (completion,) = (await editor.request("getCompletions", copilot_lua_params(editor, URI)))["completions"]
    uuid = completion["uuid"]
    for method, params in (
        ("notifyShown", {"uuid": uuid, "_": True}),
        ("notifyAccepted", {"uuid": uuid, "acceptedLength": 7}),
        ("notifyAccepted", {"uuid": uuid, "acceptedLength": len("value = compute(1, 2)")}),
        ("notifyAccepted", {"uuid": uuid, "acceptedLength": len("value = compute(1, 2)")}),
        ("notifyAccepted", {"uuid": "unknown"}),
    ):
        assert await editor.request(method, params) == "OK"
    status = await editor.status()
    assert (status["shown"], status["partiallyAccepted"], status["acceptedCompletions"]) == (1, 1, 1)


async def test_a_rejected_text_is_not_accepted_any_more(scripted: StartScripted) -> None:
    editor = await scripted(script=SCRIPT, options=NVIM_LSPCONFIG)
    editor.open(URI, "python", "value = ")
    (completion,) = (await editor.request("getCompletions", copilot_lua_params(editor, URI)))["completions"]
    assert await editor.request("notifyRejected", {"uuids": [completion["uuid"], 3, None], "_": True}) == "OK"
    assert await editor.request("notifyAccepted", {"uuid": completion["uuid"]}) == "OK"
    assert (await editor.status())["acceptedCompletions"] == 0


async def test_a_request_that_was_overtaken_by_typing_is_answered_with_nothing(scripted: StartScripted) -> None:
    # copilot.lua shows every error to the user, and asks anew after each key anyway.
    editor = await scripted(script=SCRIPT, options=NVIM_LSPCONFIG)
    editor.open(URI, "python", "value =")
    older = copilot_lua_params(editor, URI)
    editor.type(URI, " ")
    assert await editor.request("getCompletions", older) == {"completions": []}
    assert (await editor.status())["lastReason"] == "superseded"
    assert len((await editor.request("getCompletions", copilot_lua_params(editor, URI)))["completions"]) == 1


async def test_a_version_that_also_counts_saves_is_taken_if_the_text_has_the_place(scripted: StartScripted) -> None:
    # Neovim opens a document with version 0; its `changedtick`, which copilot.lua sends, is 4 by then.
    editor = await scripted(script=SCRIPT, options=NVIM_LSPCONFIG)
    editor.open(URI, "python", "value = ")
    ahead = copilot_lua_params(editor, URI, version=4)
    (completion,) = (await editor.request("getCompletions", ahead))["completions"]
    assert completion["docVersion"] == 4
    beyond = copilot_lua_params(editor, URI, version=4, position={"line": 0, "character": 9})
    with pytest.raises(ResponseError) as refused:
        await editor.request("getCompletions", beyond)
    assert refused.value.code == -32801


async def test_a_cancelled_request_gets_its_error(scripted: StartScripted) -> None:
    editor = await scripted(script=SCRIPT, options=NVIM_LSPCONFIG, seconds_per_token=0.05)
    editor.open(URI, "python", "x = 1\n" * 50 + "value = ")
    number, answer = editor.start_request("getCompletions", copilot_lua_params(editor, URI))
    while (await editor.status())["engine"] != "busy":
        await asyncio.sleep(0.01)
    editor.notify("$/cancelRequest", {"id": number})
    with pytest.raises(ResponseError) as refused:
        await answer
    assert refused.value.code == -32800


async def test_one_of_two_requests_with_the_same_answer_may_be_cancelled(scripted: StartScripted) -> None:
    patient = {**NVIM_LSPCONFIG, "completion": {"deadlineMs": 60_000}}
    editor = await scripted(script=SCRIPT, options=patient, seconds_per_token=0.02)
    editor.open(URI, "python", "x = 1\n" * 20 + "value = ")
    number, cancelled = editor.start_request("getCompletions", copilot_lua_params(editor, URI))
    _, other = editor.start_request("getCompletions", copilot_lua_params(editor, URI))
    editor.notify("$/cancelRequest", {"id": number})
    with pytest.raises(ResponseError) as refused:
        await cancelled
    assert refused.value.code == -32800
    (completion,) = (await other)["completions"]
    assert completion["displayText"] == "compute(1, 2)"


async def test_the_panel_is_filled_after_the_answer(scripted: StartScripted) -> None:
    editor = await scripted(script=SCRIPT, options=COPILOT_EL)
    editor.open(URI, "python", "s = '😀'; value = ")
    before_the_answer: list[dict[str, Any]] = []
    _, answer = editor.start_request("getPanelCompletions", {"doc": doc(editor, URI), "panelId": "copilot-panel<2>"})
    answer.add_done_callback(lambda _: before_the_answer.extend(editor.messages))
    target = (await answer)["solutionCountTarget"]
    assert [m for m in before_the_answer if m.get("method") == "PanelSolution"] == []
    while not await heard(editor, "PanelSolutionsDone"):
        await asyncio.sleep(0.01)
    solutions = await heard(editor, "PanelSolution")
    assert 1 <= len(solutions) <= target
    here = {"line": 0, "character": 18}
    assert solutions[0]["completionText"] == solutions[0]["displayText"] == "compute(1, 2)"
    assert solutions[0]["range"] == {"start": here, "end": here}
    assert {solution["panelId"] for solution in solutions} == {"copilot-panel<2>"}
    assert len({solution["completionText"] for solution in solutions}) == len(solutions)
    scores = [solution["score"] for solution in solutions]
    assert scores == sorted(scores, reverse=True)
    assert await heard(editor, "PanelSolutionsDone") == [{"panelId": "copilot-panel<2>", "status": "OK"}]
    assert await editor.request("notifyAccepted", {"uuid": solutions[0]["solutionId"]}) == "OK"
    assert (await editor.status())["acceptedCompletions"] == 1


async def test_a_newer_panel_ends_the_older_one(scripted: StartScripted) -> None:
    editor = await scripted(script=SCRIPT, options=NVIM_LSPCONFIG, seconds_per_token=0.02)
    editor.open(URI, "python", "x = 1\n" * 20 + "value = ")
    for panel in ("1:panel", "2:panel"):
        await editor.request("getPanelCompletions", {**copilot_lua_params(editor, URI), "panelId": panel})
    while len(await heard(editor, "PanelSolutionsDone")) < 2:
        await asyncio.sleep(0.01)
    assert [done["panelId"] for done in await heard(editor, "PanelSolutionsDone")] == ["1:panel", "2:panel"]
    assert {solution["panelId"] for solution in await heard(editor, "PanelSolution")} == {"2:panel"}
