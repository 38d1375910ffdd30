"""Accepting a suggestion, or a part of it, shows the next one at once, over a real pipe."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from spark_lsp.ahead import MOST_AHEAD
from spark_lsp.server.editor import Editor
from tests.lsp.conftest import StartScripted, pause

URI = "file:///project/a.py"
SCRIPT = ["value = compute(1, 2)\nother = compute(value)\nlast = 3\nend = 4\n"]
OFF = {"completion": {"pregenerate": False}}


async def pregenerated(editor: Editor, count: int) -> dict[str, Any]:
    for _ in range(500):
        status = await editor.status()
        if status["pregenerated"] == count:
            return status
        await asyncio.sleep(0.02)
    raise AssertionError(status)


async def test_each_accepted_suggestion_is_followed_by_one_that_is_there_already(scripted: StartScripted) -> None:
    editor = await scripted(script=SCRIPT)
    editor.open(URI, "python", "value = ")
    editor.type(URI, await editor.complete(URI))
    for number, line in enumerate(["\nother = compute(value)", "\nlast = 3", "\nend = 4"]):
        await pregenerated(editor, number + MOST_AHEAD if number < 2 else 3)
        generated = (await editor.status())["generatedTokens"]
        assert await editor.complete(URI) == line
        status = await editor.status()
        assert (status["lastReason"], status["generatedTokens"]) == ("cached", generated)
        assert status["pregeneratedUsed"] == number + 1
        editor.type(URI, line)


@pytest.mark.parametrize(("part", "rest"), [("\n    a = 1", "\n    b = 2"), ("\n    a", " = 1\n    b = 2")])
async def test_a_part_that_is_accepted_is_followed_by_the_rest_of_the_same_suggestion(
    scripted: StartScripted, part: str, rest: str
) -> None:
    editor = await scripted(script=["def f():\n    a = 1\n    b = 2\nx = 3"], options=OFF)
    editor.open(URI, "python", "def f():")
    assert await editor.complete(URI) == part + rest
    before = (await editor.status())["decodeSteps"]
    editor.type(URI, part)
    assert await editor.complete(URI) == rest
    assert (await editor.status())["decodeSteps"] == before


async def test_it_can_be_turned_off(scripted: StartScripted) -> None:
    editor = await scripted(script=SCRIPT, options=OFF)
    editor.open(URI, "python", "value = ")
    assert await editor.complete(URI)
    assert (await pause(editor, 1.0))["pregenerated"] == 0
