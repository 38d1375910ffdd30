"""What is not shown by itself, over a real pipe, with an engine that is as sure of its lines as the script says."""

from __future__ import annotations

import asyncio
import math
from typing import Any

import pytest

from spark_lsp.gate import AUTOMATIC, INVOKED
from spark_lsp.scheduler import SETTLE_SECONDS
from spark_lsp.server.editor import Editor
from tests.lsp.conftest import StartScripted
from tests.scripted_engine import scripted_vocabulary

URI = "file:///project/a.py"
SCRIPT = ["value = compute(1, 2)"]
WEAK, GUESSED = "BCDGHJKLMPRSTVWXYZ", "QAEIOU"


def logit(probability: float) -> float:
    """What makes the scripted engine this sure of a character."""
    return math.log(probability / (1 - probability) * len(scripted_vocabulary())) - 1


LOGITS = {
    WEAK[0]: logit(math.exp((max(INVOKED.text, INVOKED.line) + min(AUTOMATIC.text, AUTOMATIC.line)) / 2)),
    **dict.fromkeys(GUESSED, logit(math.exp((min(INVOKED.text, INVOKED.line) - 1) / len(GUESSED)))),
}
"""Of the first letter of WEAK the engine is sure enough for who asks only, of all of GUESSED for nobody."""


async def answer(editor: Editor, *, invoked: bool = False) -> tuple[str, str]:
    """The text of an answer and the reason for it."""
    text = await editor.complete(URI, invoked=invoked)
    return text, (await editor.status())["lastReason"]


async def computed(editor: Editor) -> tuple[int, int]:
    status = await editor.status()
    return status["decodeSteps"], status["promptTokens"]


async def test_a_guessed_text_is_shown_to_nobody(scripted: StartScripted) -> None:
    editor = await scripted(script=["value = " + GUESSED], logits=LOGITS)
    editor.open(URI, "python", "value = ")
    assert await answer(editor) == ("", "low-confidence")
    assert await answer(editor, invoked=True) == ("", "low-confidence")


async def test_a_text_that_was_withheld_is_there_at_once_for_who_asks_for_it(scripted: StartScripted) -> None:
    options = {"completion": {"candidates": 1, "pregenerate": False}}  # nothing else is computed meanwhile
    editor = await scripted(script=["value = " + WEAK], logits=LOGITS, options=options)
    editor.open(URI, "python", "value = ")
    assert await answer(editor) == ("", "low-confidence")
    before = await computed(editor)
    assert await answer(editor) == ("", "low-confidence")
    assert await answer(editor, invoked=True) == (WEAK, "cached")
    assert await answer(editor) == ("", "low-confidence")
    assert await computed(editor) == before


async def test_a_text_that_was_asked_for_stays_while_it_is_typed(scripted: StartScripted) -> None:
    editor = await scripted(script=["value = " + WEAK], logits=LOGITS)
    editor.open(URI, "python", "value = ")
    assert await answer(editor, invoked=True) == (WEAK, "shown")
    editor.type(URI, WEAK[0])
    assert await answer(editor) == (WEAK[1:], "cached")


async def test_lines_from_a_guessed_one_on_are_left_to_who_asks(scripted: StartScripted) -> None:
    body = f"\n    a = 1\n    b = 2\n    {WEAK}\n    c = 3"
    editor = await scripted(script=["def f():" + body + "\nend"], logits=LOGITS)
    editor.open(URI, "python", "def f():")
    grown: list[str] = []
    assert await editor.complete(URI, on_partial=grown.append) == "\n    a = 1\n    b = 2"
    assert all(WEAK[0] not in text for text in grown)
    assert await answer(editor, invoked=True) == (body, "cached")


async def test_a_deadline_shows_no_line_that_is_guessed(scripted: StartScripted) -> None:
    body = f"\n    a = 1\n    {WEAK}\n    c = " + "abcdefghijklmnopqrstuvwxyz_0123456789"
    options = {"completion": {"deadlineMs": 400}}
    editor = await scripted(
        script=["def f():" + body + "\nend"], logits=LOGITS, seconds_per_token=0.01, options=options
    )
    editor.open(URI, "python", "def f():")
    assert "\n    a = 1".startswith((await answer(editor))[0])
    for _ in range(200):
        if (await editor.status())["engine"] == "idle":
            break
        await asyncio.sleep(0.02)
    assert await answer(editor) == ("\n    a = 1", "cached")
    assert await answer(editor, invoked=True) == (body, "cached")


async def test_the_gate_can_be_opened(scripted: StartScripted) -> None:
    editor = await scripted(script=["value = " + GUESSED], logits=LOGITS, options={"completion": {"gate": False}})
    editor.open(URI, "python", "value = ")
    assert await answer(editor) == (GUESSED, "shown")


@pytest.mark.parametrize(
    ("setting", "text", "script", "reason"),
    [
        ("comments", "x = 1\n# the first ", "# the first one", "comment"),
        ("comments", 'def f():\n    """Return ', '"""Return one."""', "comment"),
        ("strings", "x = 'the first ", "'the first one'", "string"),
        ("strings", 'x = f("""the first ', '"""the first one""")', "string"),
    ],
)
async def test_comments_and_strings_can_be_left_to_who_asks(
    scripted: StartScripted, setting: str, text: str, script: str, reason: str
) -> None:
    editor = await scripted(script=[script], options={"completion": {setting: False}})
    editor.open(URI, "python", text)
    before = await computed(editor)
    assert await answer(editor) == ("", reason)
    assert (await computed(editor))[0] == before[0], "nothing was generated"
    asked = await editor.complete(URI, invoked=True)
    assert asked.startswith("one")


async def test_the_line_below_a_comment_is_no_comment(scripted: StartScripted) -> None:
    editor = await scripted(script=["# two\nvalue = 2"], options={"completion": {"comments": False, "strings": False}})
    editor.open(URI, "python", "# two")
    assert await answer(editor) == ("", "comment")
    editor.type(URI, "\n")
    assert await answer(editor) == ("value = 2", "shown")


async def test_comments_and_strings_are_completed_unless_turned_off(scripted: StartScripted) -> None:
    editor = await scripted(script=["# the first one", "'the second'"])
    editor.open(URI, "python", "# the first ")
    assert await answer(editor) == ("one", "shown")
    editor.type(URI, "\nx = 'the ")
    assert await answer(editor) == ("second'", "shown")


@pytest.mark.parametrize(
    ("encoding", "deleted", "whole"),
    [
        ("utf-8", "😀", False),
        ("utf-16", "😀", False),
        ("utf-32", "x", False),
        ("utf-16", "\r\n", False),
        ("utf-16", "é", True),
    ],
    ids=["UTF-8", "UTF-16", "UTF-32", "line end", "from a client that sends the whole document"],
)
async def test_a_character_that_was_deleted_asks_for_nothing(
    scripted: StartScripted, encoding: str, deleted: str, whole: bool
) -> None:
    editor = await scripted(script=SCRIPT, encodings=[encoding])
    text = "a = 'ü😀'\nvalue = "
    editor.open(URI, "python", text + deleted, cursor=len(text))
    if whole:
        changed = {"textDocument": {"uri": URI, "version": 2}, "contentChanges": [{"text": text}]}
        editor.notify("textDocument/didChange", changed)
    else:
        editor.replace(URI, len(text), len(text + deleted), "")
    assert await answer(editor) == ("", "deletion")
    assert (await computed(editor))[0] == 0
    assert await answer(editor, invoked=True) == ("compute(1, 2)", "shown")


async def test_typing_after_a_deletion_asks_again(scripted: StartScripted) -> None:
    editor = await scripted(script=SCRIPT)
    editor.open(URI, "python", "value = x")
    editor.replace(URI, len("value = "), len("value = x"), "")
    assert await answer(editor) == ("", "deletion")
    editor.type(URI, "c")
    assert await answer(editor) == ("ompute(1, 2)", "shown")


@pytest.mark.parametrize(
    ("text", "start", "end", "new"),
    [("value = xx", 8, 10, ""), ("value = x", 8, 9, "c"), ("value =x", 7, 8, " ")],
    ids=["two characters", "a replacement", "another replacement"],
)
async def test_other_edits_are_no_deletion(scripted: StartScripted, text: str, start: int, end: int, new: str) -> None:
    editor = await scripted(script=SCRIPT)
    editor.open(URI, "python", text)
    editor.replace(URI, start, end, new)
    assert await answer(editor) == ("compute(1, 2)"[len(text[:start] + new) - 8 :], "shown")


async def test_a_deletion_elsewhere_is_none_here(scripted: StartScripted) -> None:
    editor = await scripted(script=SCRIPT)
    editor.open(URI, "python", "aa = 1\nvalue = ")
    editor.replace(URI, 0, 1, "")
    editor.move(URI, len("a = 1\nvalue = "))
    assert await answer(editor) == ("compute(1, 2)", "shown")


async def test_deleting_back_over_a_ghost_shows_it_again(scripted: StartScripted) -> None:
    editor = await scripted(script=SCRIPT)
    editor.open(URI, "python", "value = ")
    ghost = await editor.complete(URI)
    for key in "comx":
        editor.type(URI, key)
        await editor.complete(URI)
    before = await computed(editor)
    for typed in ("com", "co", "c", ""):
        editor.replace(URI, len("value = " + typed), len("value = " + typed) + 1, "")
        assert await answer(editor) == (ghost[len(typed) :], "cached")
    assert (await computed(editor))[0] == before[0]


async def test_the_place_of_a_deletion_is_prepared_all_the_same(scripted: StartScripted) -> None:
    editor = await scripted(script=SCRIPT)
    editor.open(URI, "python", "x = ")
    await editor.complete(URI)  # so that the server knows that the document is not private
    editor.type(URI, "1\n" + "y = 2\n" * 20 + "value = x")
    end = editor.cursor(URI)
    editor.replace(URI, end - 1, end, "")
    assert await answer(editor) == ("", "deletion")
    before = (await computed(editor))[1]
    for _ in range(100):
        await asyncio.sleep(SETTLE_SECONDS / 4)
        status: dict[str, Any] = await editor.status()
        if status["promptTokens"] > before:
            break
    assert status["promptTokens"] > before
