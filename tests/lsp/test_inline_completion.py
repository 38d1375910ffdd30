"""`textDocument/inlineCompletion` over a real pipe, with an engine that knows its lines."""

from __future__ import annotations

import asyncio
import itertools
from typing import Any

import pytest

from spark_lsp.server.editor import Editor, ResponseError
from tests.lsp.conftest import StartScripted

URI = "file:///project/a.py"
SCRIPT = ["value = compute(1, 2)", "def area(self):\n        return self.width * self.height"]


async def test_the_capability_is_advertised(scripted: StartScripted) -> None:
    editor = await scripted(script=SCRIPT)
    assert editor.capabilities["inlineCompletionProvider"] == {}
    assert editor.capabilities["textDocumentSync"]["change"] == 2
    assert "spark.accept" in editor.capabilities["executeCommandProvider"]["commands"]


async def test_an_item_has_text_a_single_line_range_and_the_accept_command(scripted: StartScripted) -> None:
    editor = await scripted(script=SCRIPT)
    editor.open(URI, "python", "value = ")
    result = await editor.request("textDocument/inlineCompletion", editor.completion_params(URI))
    (item,) = result["items"]
    here = {"line": 0, "character": 8}
    assert item["insertText"] == "compute(1, 2)"
    assert item["range"] == {"start": here, "end": here}
    assert item["command"]["command"] == "spark.accept"
    accept = {"command": item["command"]["command"], "arguments": item["command"]["arguments"]}
    assert await editor.request("workspace/executeCommand", accept) is None
    assert (await editor.status())["acceptedCompletions"] == 1


async def test_nothing_to_add_is_an_empty_list_with_a_reason(scripted: StartScripted) -> None:
    editor = await scripted(script=SCRIPT)
    editor.open(URI, "python", "other")
    result = await editor.request("textDocument/inlineCompletion", editor.completion_params(URI))
    assert result == {"items": []}
    status = await editor.status()
    assert status["reasons"] == {"nothing-to-add": 1}
    assert status["lastReason"] == "nothing-to-add"


async def test_typing_into_the_ghost_needs_no_model(scripted: StartScripted) -> None:
    editor = await scripted(script=SCRIPT, options={"completion": {"pregenerate": False}})
    editor.open(URI, "python", "value = ")
    rest = await editor.complete(URI)
    steps = (await editor.status())["decodeSteps"]
    for key in "compute(1":
        editor.type(URI, key)
        rest = rest[1:]
        assert await editor.complete(URI) == rest
    status = await editor.status()
    assert status["decodeSteps"] == steps
    assert status["reasons"]["cached"] == len("compute(1")


async def test_typing_something_else_asks_the_model_again(scripted: StartScripted) -> None:
    editor = await scripted(script=[*SCRIPT, "value = other"])
    editor.open(URI, "python", "value = ")
    await editor.complete(URI)
    editor.type(URI, "o")
    assert await editor.complete(URI) == "ther"


async def test_a_growing_ghost_is_sent_as_progress_when_the_client_asks_for_it(scripted: StartScripted) -> None:
    editor = await scripted(script=SCRIPT, seconds_per_token=0.01)
    editor.open(URI, "python", "value = ")
    grown: list[str] = []
    final = await editor.complete(URI, on_partial=grown.append)
    assert final == "compute(1, 2)"
    assert len(grown) > 3
    assert all(later.startswith(earlier) for earlier, later in itertools.pairwise(grown))
    assert final.startswith(grown[-1])


async def test_a_deadline_answers_with_whole_lines_and_the_rest_comes_from_the_running_job(
    scripted: StartScripted,
) -> None:
    body = "\n    a = 1\n    return a + bb * ccc - dddd / eeeee"
    editor = await scripted(
        script=["def f():" + body], seconds_per_token=0.01, options={"completion": {"deadlineMs": 350}}
    )
    editor.open(URI, "python", "def f():")
    assert await editor.complete(URI) == "\n    a = 1"
    for _ in range(200):
        later = await editor.complete(URI)
        if later == body:
            break
        await asyncio.sleep(0.02)
    assert later == body


async def test_a_deadline_shows_no_text_that_breaks_the_syntax(scripted: StartScripted) -> None:
    body = "\n    a = 1\n    b = = 2\n    c = " + "3 + " * 100
    editor = await scripted(
        script=["def f():" + body], seconds_per_token=0.01, options={"completion": {"deadlineMs": 800}}
    )
    editor.open(URI, "python", "def f():")
    assert await editor.complete(URI) == "\n    a = 1"
    assert (await editor.status())["lastReason"] == "shown"


async def test_a_cold_deadline_has_its_own_reason_and_loses_no_prefill(scripted: StartScripted) -> None:
    editor = await scripted(
        script=["# end\nvalue = compute"], seconds_per_token=0.001, options={"completion": {"deadlineMs": 100}}
    )
    editor.open(URI, "python", "x = 1\n" * 100 + "# end\nvalue = ")
    assert await editor.complete(URI) == ""
    assert (await editor.status())["lastReason"] == "cold"
    for _ in range(200):
        text = await editor.complete(URI)
        if text == "compute":  # a part of it may be answered at a deadline before
            break
        await asyncio.sleep(0.02)
    assert text == "compute"


async def test_a_burst_of_fifty_is_answered_fifty_times_and_the_newest_gets_the_text(scripted: StartScripted) -> None:
    editor = await scripted(script=SCRIPT, seconds_per_token=0.003)
    editor.open(URI, "python", "value = ")
    answers = []
    for number in range(50):
        if number:
            editor.type(URI, "xx")  # two, since nothing is asked for after the deletion of one
            editor.replace(URI, len("value = "), len("value = xx"), "")
        answers.append(editor.start_request("textDocument/inlineCompletion", editor.completion_params(URI))[1])
    results = await asyncio.gather(*answers)
    assert results[-1]["items"][0]["insertText"] == "compute(1, 2)"
    assert all(result == {"items": []} for result in results[:-1])
    assert (await editor.status())["requests"] == 50


async def test_a_cancelled_request_gets_its_error_and_frees_the_engine(scripted: StartScripted) -> None:
    editor = await scripted(script=SCRIPT, seconds_per_token=0.05)
    editor.open(URI, "python", "x = 1\n" * 50 + "value = ")
    number, answer = editor.start_request("textDocument/inlineCompletion", editor.completion_params(URI))
    while (await editor.status())["engine"] != "busy":
        await asyncio.sleep(0.01)
    editor.notify("$/cancelRequest", {"id": number})
    with pytest.raises(ResponseError) as refused:
        await answer
    assert refused.value.code == -32800
    while (await editor.status())["engine"] != "idle":
        await asyncio.sleep(0.01)
    assert (await editor.status())["reasons"] == {"cancelled": 1}


async def test_an_edit_supersedes_the_request_before_it(scripted: StartScripted) -> None:
    editor = await scripted(script=SCRIPT, seconds_per_token=0.05)
    editor.open(URI, "python", "x = 1\n" * 50 + "value = ")
    _, answer = editor.start_request("textDocument/inlineCompletion", editor.completion_params(URI))
    editor.type(URI, "c")
    assert await answer == {"items": []}
    assert (await editor.status())["lastReason"] == "superseded"


async def test_typing_along_is_answered_from_the_job_that_is_running(scripted: StartScripted) -> None:
    text = "compute(first_of_them, second_of_them, third_of_them)"
    editor = await scripted(script=["value = " + text], seconds_per_token=0.01)
    editor.open(URI, "python", "value = ")
    grown: asyncio.Queue[str] = asyncio.Queue()
    older = asyncio.ensure_future(editor.complete(URI, on_partial=grown.put_nowait))
    for typed in "com":
        while len(await grown.get()) < 6:
            pass
        editor.type(URI, typed)
        newer = asyncio.ensure_future(editor.complete(URI, on_partial=grown.put_nowait))
        assert await older == ""
        older = newer
    assert await newer == text.removeprefix("com")
    status = await editor.status()
    assert status["generatedTokens"] == len(text) + 1, "one generation"
    assert status["reasons"] == {"superseded": 3, "shown": 1}


async def test_a_request_that_overtakes_its_edit_is_answered_for_the_newer_text(scripted: StartScripted) -> None:
    editor = await scripted(script=SCRIPT)
    editor.open(URI, "python", "value =")
    params = editor.completion_params(URI)
    params["position"]["character"] += 1
    _, answer = editor.start_request("textDocument/inlineCompletion", params)
    editor.type(URI, " ")
    assert (await answer)["items"][0]["insertText"] == "compute(1, 2)"


@pytest.mark.parametrize(
    "position", [{"line": 0, "character": 999}, {"line": 99, "character": 0}], ids=["beyond the line", "beyond the end"]
)
async def test_a_position_out_of_range_is_clamped(scripted: StartScripted, position: dict[str, int]) -> None:
    editor = await scripted(script=SCRIPT)
    editor.open(URI, "python", "value = ")
    params = {**editor.completion_params(URI), "position": position}
    result = await editor.request("textDocument/inlineCompletion", params)
    assert result["items"][0]["range"]["start"] == {"line": 0, "character": 8}


async def test_a_selected_menu_entry_is_extended_over_its_own_range(scripted: StartScripted) -> None:
    editor = await scripted(script=SCRIPT)
    editor.open(URI, "python", "value = com")
    params = editor.completion_params(URI)
    where = {"start": {"line": 0, "character": 8}, "end": {"line": 0, "character": 11}}
    params["context"]["selectedCompletionInfo"] = {"range": where, "text": "compute"}
    (item,) = (await editor.request("textDocument/inlineCompletion", params))["items"]
    assert item["insertText"] == "compute(1, 2)"
    assert item["range"] == where


@pytest.mark.parametrize(
    ("text", "units"), [("s = '😀'; value = ", 18), ("s = '世界'; value = ", 18), ("\tvalue = ", 9)]
)
async def test_positions_are_utf_16_units_unless_agreed_otherwise(
    scripted: StartScripted, text: str, units: int
) -> None:
    editor = await scripted(script=SCRIPT)
    editor.open(URI, "python", text)
    params = editor.completion_params(URI)
    assert params["position"]["character"] == units
    (item,) = (await editor.request("textDocument/inlineCompletion", params))["items"]
    assert item["range"]["end"]["character"] == units
    assert item["insertText"] == "compute(1, 2)"


async def test_a_document_that_is_not_open_has_its_own_reason(scripted: StartScripted) -> None:
    editor = await scripted(script=SCRIPT)
    params: dict[str, Any] = {
        "textDocument": {"uri": "file:///never/opened.py"},
        "position": {"line": 0, "character": 0},
        "context": {"triggerKind": 2},
    }
    assert await editor.request("textDocument/inlineCompletion", params) == {"items": []}
    assert (await editor.status())["lastReason"] == "unknown-document"


async def test_completions_can_be_turned_off(scripted: StartScripted) -> None:
    editor: Editor = await scripted(script=SCRIPT, options={"completion": {"enabled": False}})
    editor.open(URI, "python", "value = ")
    assert await editor.complete(URI) == ""
    assert (await editor.status())["lastReason"] == "disabled"
