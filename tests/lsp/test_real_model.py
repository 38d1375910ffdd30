"""The real server with the real model, as an editor uses it. No test here measures time."""

from __future__ import annotations

import argparse
import asyncio
import inspect
import random
from pathlib import Path

import pytest
import pytest_asyncio

from spark_lsp.server.editor import Editor, ResponseError
from tests.lsp.conftest import StartReal

pytestmark = [pytest.mark.model, pytest.mark.timeout(600)]

URI = "file:///project/a.py"
PREFILL_SECONDS = 240.0


@pytest_asyncio.fixture
async def editor(real: StartReal) -> Editor:
    """A server that suggests one text, for tests that count what it takes."""
    return await real({"completion": {"candidates": 1}})


@pytest_asyncio.fixture
async def brief_editor(real: StartReal) -> Editor:
    """A server that suggests a few tokens only, for tests that are about prompts."""
    return await real({"completion": {"maxTokens": 3, "candidates": 1}})


async def warm(editor: Editor) -> None:
    """Ask until the prompt is in the KV cache, as an editor that asks again after a cold answer does."""
    deadline = asyncio.get_running_loop().time() + PREFILL_SECONDS
    while asyncio.get_running_loop().time() < deadline:
        await editor.complete(URI, invoked=True)
        if (await editor.status())["lastReason"] != "cold":
            return
    raise AssertionError("the prompt was not computed in time")


def three_hundred_lines() -> tuple[str, int]:
    """Return a file of 300 lines and the offset of the end of its 200th."""
    lines = inspect.getsource(argparse).splitlines(keepends=True)[:300]
    lines[199] = "\n"
    return "".join(lines), len("".join(lines[:199]))


async def test_it_completes_what_anybody_would(editor: Editor) -> None:
    before = "class Rectangle:\n    def __init__(self, width, height):\n        self.width = width\n"
    before += "        self.height = height\n\n    def area(self):\n        return self.wid"
    editor.open(URI, "python", before + "\n", cursor=len(before))
    grown: list[str] = []
    text = await editor.complete(URI, invoked=True, on_partial=grown.append)
    assert text == "th * self.height"
    assert grown
    assert all(text.startswith(partial) for partial in grown)


async def test_thirty_keystrokes_compute_at_most_four_prompt_tokens_each(editor: Editor) -> None:
    text, cursor = three_hundred_lines()
    editor.open(URI, "python", text, cursor=cursor)
    for key in "    ":
        editor.type(URI, key)
    await warm(editor)
    computed = []
    for key in "total_zq = max(self.left, qwert":
        before = (await editor.status())["promptTokens"]
        editor.type(URI, key)
        await editor.complete(URI, invoked=True)
        computed.append((await editor.status())["promptTokens"] - before)
    assert len(computed) >= 30
    assert max(computed[1:]) <= 4, computed
    # Not every answer came from the cache: the model was asked, and still computed next to nothing.
    assert sum(computed) > 0


EIGHT_LINES = [
    "def find(self, key):",
    "    for it in self.all:",
    "        if it.key == key:",
    "            return it",
    "        self.miss += 1",
    "    return None",
    "",
    "done = find(4)",
]
"""As they stand in the file; the indentation is sent by the editor, not typed."""


async def test_eight_typed_lines_with_automatic_indentation_compute_at_most_four_prompt_tokens_for_each_key(
    brief_editor: Editor,
) -> None:
    editor = brief_editor
    text, cursor = three_hundred_lines()
    editor.open(URI, "python", text, cursor=cursor)
    await warm(editor)
    computed: dict[str, list[int]] = {}

    async def ask(what: str, before: int) -> None:
        await editor.complete(URI, invoked=True)
        computed.setdefault(what, []).append((await editor.status())["promptTokens"] - before)

    for number, line in enumerate(EIGHT_LINES):
        for key in line.lstrip():
            before = (await editor.status())["promptTokens"]
            editor.type(URI, key)
            await ask(line, before)
        indentation = EIGHT_LINES[(number + 1) % len(EIGHT_LINES)]
        indentation = indentation[: len(indentation) - len(indentation.lstrip())]
        before, at = (await editor.status())["promptTokens"], editor.cursor(URI)
        if number % 2:  # two changes in one notification
            editor.edit(URI, [(at, at, "\n"), (at + 1, at + 1, indentation)])
        else:  # one change that is both
            editor.type(URI, "\n" + indentation)
        await ask("Enter", before)
    assert len(computed["Enter"]) == len(EIGHT_LINES)
    first = computed[EIGHT_LINES[0]].pop(0)
    assert max(cost for costs in computed.values() for cost in costs) <= 4, (first, computed)
    assert sum(cost for costs in computed.values() for cost in costs) > 0


async def test_enter_is_an_append_like_any_other_key(editor: Editor) -> None:
    text, cursor = three_hundred_lines()
    editor.open(URI, "python", text, cursor=cursor)
    await warm(editor)
    for line in ("    first = 1", "    second = first + 1"):
        for part in (line, "\n"):
            before = (await editor.status())["promptTokens"]
            editor.type(URI, part)
            await editor.complete(URI, invoked=True)
            assert (await editor.status())["promptTokens"] - before <= 4 + len(part)


async def test_a_cancel_during_a_long_prefill_stops_it_and_keeps_what_was_computed(editor: Editor) -> None:
    chance = random.Random(3)
    words = "".join(f"name{chance.randrange(10**6)} = {chance.randrange(10**6)}\n" for _ in range(200))
    editor.open(URI, "python", words)
    number, answer = editor.start_request("textDocument/inlineCompletion", editor.completion_params(URI, invoked=True))
    while (await editor.status())["engine"] != "busy":
        await asyncio.sleep(0.01)
    editor.notify("$/cancelRequest", {"id": number})
    with pytest.raises(ResponseError) as refused:
        await answer
    assert refused.value.code == -32800
    while (status := await editor.status())["engine"] != "idle":
        await asyncio.sleep(0.01)
    assert status["promptTokens"] < 400
    assert status["generatedTokens"] == 0


async def test_a_burst_of_fifty_requests_gets_fifty_answers_and_the_newest_the_text(editor: Editor) -> None:
    before = "def add(first, second):\n    return first + sec"
    editor.open(URI, "python", before + "\n", cursor=len(before))
    await warm(editor)
    editor.replace(URI, len(before) - 3, len(before), "")
    answers = []
    for number in range(50):
        key = "sec"[number] if number < 3 else ""
        if key:
            editor.type(URI, key)
        answers.append(
            editor.start_request("textDocument/inlineCompletion", editor.completion_params(URI, invoked=True))[1]
        )
    results = await asyncio.gather(*answers)
    assert all(set(result) == {"items"} for result in results)
    assert results[-1]["items"][0]["insertText"] == "ond"


async def test_leaving_during_a_generation_is_clean(editor: Editor) -> None:
    text, cursor = three_hundred_lines()
    editor.open(URI, "python", text, cursor=cursor)
    editor.start_request("textDocument/inlineCompletion", editor.completion_params(URI, invoked=True))
    while (await editor.status())["engine"] != "busy":
        await asyncio.sleep(0.01)


async def test_asked_by_hand_there_are_several_texts_and_the_first_is_the_one_shown_before(real: StartReal) -> None:
    editor = await real({"completion": {"candidatesMs": 60_000, "deadlineMs": 60_000, "pregenerate": False}})
    before = "class Rectangle:\n    def __init__(self, width, height):\n        self.width = width\n"
    before += "        self.height = height\n\n    def "
    editor.open(URI, "python", before + "\n", cursor=len(before))
    shown = await editor.complete(URI)
    computed = (await editor.status())["promptTokens"]
    params = editor.completion_params(URI, True)
    texts = [item["insertText"] for item in (await editor.request("textDocument/inlineCompletion", params))["items"]]
    assert texts[0] == shown == "area(self):\n        return self.width * self.height"
    assert 2 <= len(texts) <= 3
    assert len({"".join(text.split()) for text in texts}) == len(texts)
    assert (await editor.status())["promptTokens"] - computed <= 4, "the prompt is not computed again"


@pytest.mark.parametrize("damage", ["none", "truncated", "flipped"])
async def test_after_a_restart_the_first_suggestion_needs_no_prefill(
    real: StartReal, tmp_path: Path, damage: str
) -> None:
    text, cursor = three_hundred_lines()
    runs = []
    for _ in range(2):
        # No answer is cut short by a busy machine.
        editor = await real({"completion": {"deadlineMs": int(1000 * PREFILL_SECONDS), "gate": False}})
        editor.open(URI, "python", text, cursor=cursor)
        editor.type(URI, "    total = max(self.")
        suggestion = await editor.complete(URI)
        runs.append((suggestion, (await editor.status())["promptTokens"]))
        assert await editor.stop() == 0
        (snapshot,) = (tmp_path / "cache" / "snapshots").iterdir()
        content = bytearray(snapshot.read_bytes())
        assert len(content) > 1_000_000
        if damage == "truncated":
            del content[-1000:]
        elif damage == "flipped":
            content[len(content) // 2] ^= 1
        snapshot.write_bytes(content)
    (text_before, computed_before), (text_after, computed_after) = runs
    assert text_before
    assert text_after == text_before
    assert computed_before > 100
    if damage == "none":
        assert computed_after <= 4
    else:
        assert computed_after > 100
