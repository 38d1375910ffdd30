"""Several suggestions to choose from: for who asks by hand, after the first one, and each an item like any other."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from spark_lsp.server.editor import Editor, ResponseError
from tests.lsp.conftest import StartScripted

URI = "file:///project/a.py"
METHOD = "textDocument/inlineCompletion"
FIRST = ["value = first(1)"]
SECOND = ["value = other(2)", "value = None"]
TEXTS = ["first(1)", "other(2)", "None"]
UNHURRIED = {"completion": {"candidatesMs": 60_000, "deadlineMs": 60_000, "pregenerate": False}}


async def items(editor: Editor, *, invoked: bool = True) -> list[dict[str, Any]]:
    result = await editor.request(METHOD, editor.completion_params(URI, invoked))
    found: list[dict[str, Any]] = result["items"]
    return found


def texts_of(found: list[dict[str, Any]]) -> list[str]:
    return [item["insertText"] for item in found]


@pytest.mark.parametrize(("invoked", "wanted"), [(True, TEXTS), (False, TEXTS[:1])], ids=["by hand", "by itself"])
async def test_only_who_asks_by_hand_gets_several(scripted: StartScripted, invoked: bool, wanted: list[str]) -> None:
    editor = await scripted(script=FIRST, second=SECOND, options=UNHURRIED)
    editor.open(URI, "python", "value = ")
    assert texts_of(await items(editor, invoked=invoked)) == wanted


@pytest.mark.parametrize("number", [1, 2])
async def test_a_setting_says_how_many(scripted: StartScripted, number: int) -> None:
    options = {"completion": {**UNHURRIED["completion"], "candidates": number}}
    editor = await scripted(script=FIRST, second=SECOND, options=options)
    editor.open(URI, "python", "value = ")
    assert texts_of(await items(editor)) == TEXTS[:number]


async def test_each_has_the_range_and_an_accept_command_of_its_own(scripted: StartScripted) -> None:
    editor = await scripted(script=FIRST, second=SECOND, options=UNHURRIED)
    editor.open(URI, "python", "value = ")
    found = await items(editor)
    here = {"line": 0, "character": 8}
    assert [item["range"] for item in found] == [{"start": here, "end": here}] * 3
    assert len({item["command"]["arguments"][0] for item in found}) == 3
    for number, item in enumerate(found):
        command = {"command": item["command"]["command"], "arguments": item["command"]["arguments"]}
        assert await editor.request("workspace/executeCommand", command) is None
        assert (await editor.status())["acceptedCompletions"] == number + 1


async def test_each_extends_the_selected_menu_entry_over_its_range(scripted: StartScripted) -> None:
    editor = await scripted(script=["value = self.first(1)"], second=["value = self.second(2)"], options=UNHURRIED)
    editor.open(URI, "python", "value = se")
    params = editor.completion_params(URI, True)
    where = {"start": {"line": 0, "character": 8}, "end": {"line": 0, "character": 10}}
    params["context"]["selectedCompletionInfo"] = {"range": where, "text": "self."}
    found = (await editor.request(METHOD, params))["items"]
    assert texts_of(found) == ["self.first(1)", "self.second(2)"]
    assert [item["range"] for item in found] == [where, where]


async def test_the_first_is_shown_while_the_others_are_written(scripted: StartScripted) -> None:
    editor = await scripted(script=FIRST, second=SECOND, options=UNHURRIED, seconds_per_token=0.01)
    editor.open(URI, "python", "value = ")
    grown: asyncio.Queue[str] = asyncio.Queue()
    params = editor.completion_params(URI, True, grown.put_nowait)
    _, answer = editor.start_request(METHOD, params)
    while (await grown.get()) != TEXTS[0]:
        assert not answer.done()
    assert texts_of((await answer)["items"]) == TEXTS


async def test_asking_again_computes_nothing(scripted: StartScripted) -> None:
    editor = await scripted(script=FIRST, second=SECOND, options=UNHURRIED)
    editor.open(URI, "python", "value = ")
    assert texts_of(await items(editor)) == TEXTS
    steps = (await editor.status())["decodeSteps"]
    assert texts_of(await items(editor)) == TEXTS
    assert texts_of(await items(editor, invoked=False)) == TEXTS[:1]
    assert (await editor.status())["decodeSteps"] == steps


async def test_typing_along_another_one_is_typing_into_it(scripted: StartScripted) -> None:
    editor = await scripted(script=FIRST, second=SECOND, options=UNHURRIED)
    editor.open(URI, "python", "value = ")
    await items(editor)
    steps = (await editor.status())["decodeSteps"]
    editor.type(URI, "oth")
    assert await editor.complete(URI) == "er(2)"
    status = await editor.status()
    assert status["decodeSteps"] == steps
    assert status["lastReason"] == "cached"


async def started(editor: Editor) -> tuple[int, asyncio.Future[Any]]:
    """Ask, and return as soon as the others are being written."""
    first: asyncio.Queue[str] = asyncio.Queue()
    number, answer = editor.start_request(METHOD, editor.completion_params(URI, True, first.put_nowait))
    for _ in range(2):  # as the last growth, and as what there is to see while the others are written
        while (await first.get()) != TEXTS[0]:
            pass
    return number, answer


async def test_an_edit_stops_them(scripted: StartScripted) -> None:
    editor = await scripted(script=FIRST, second=SECOND, options=UNHURRIED, seconds_per_token=0.05)
    editor.open(URI, "python", "value = ")
    _, answer = await started(editor)
    editor.type(URI, "f")
    assert await answer == {"items": []}
    assert await editor.complete(URI) == "irst(1)"


async def test_a_cancel_stops_them_and_the_first_is_known(scripted: StartScripted) -> None:
    editor = await scripted(script=FIRST, second=SECOND, options=UNHURRIED, seconds_per_token=0.05)
    editor.open(URI, "python", "value = ")
    number, answer = await started(editor)
    editor.notify("$/cancelRequest", {"id": number})
    with pytest.raises(ResponseError) as refused:
        await answer
    assert refused.value.code == -32800
    assert await editor.complete(URI) == TEXTS[0]
    assert (await editor.status())["lastReason"] == "cached"


async def test_what_is_still_being_written_is_not_stopped_by_asking_for_others(scripted: StartScripted) -> None:
    body = "\n    a = 1\n    return a + bb * ccc - dddd / eeeee"
    options = {"completion": {"candidatesMs": 60_000, "deadlineMs": 350, "pregenerate": False}}
    editor = await scripted(
        script=["def f():" + body], second=["def f():\n    return 1"], seconds_per_token=0.01, options=options
    )
    editor.open(URI, "python", "def f():")
    while not (await editor.complete(URI)):
        pass
    await items(editor)
    assert await editor.complete(URI) == body
