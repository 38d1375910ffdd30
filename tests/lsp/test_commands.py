"""What a user can tell the server to do."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from spark_lsp.explanations import EXPLANATIONS
from spark_lsp.scheduler import SETTLE_SECONDS
from spark_lsp.server.editor import Editor
from tests.lsp.conftest import StartScripted, sent, shown
from tests.lsp.test_configuration import MODELS, answered, configure

URI = "file:///a.py"
SCRIPT = ["x = 42\n"]


async def run(editor: Editor, command: str, *arguments: Any) -> Any:
    return await editor.request("workspace/executeCommand", {"command": command, "arguments": list(arguments)})


async def test_the_capabilities_name_the_commands(scripted: StartScripted) -> None:
    editor = await scripted()
    names = {"accept", "status", "pause", "resume", "switchModel", "explainLast"}
    assert {f"spark.{name}" for name in names} <= {*editor.capabilities["executeCommandProvider"]["commands"]}


async def test_the_status_is_a_message_and_a_result(scripted: StartScripted) -> None:
    editor = await scripted(script=SCRIPT)
    editor.open(URI, "python", "x = ")
    await editor.complete(URI)
    status = await run(editor, "spark.status")
    assert status == {
        "engine": "idle",
        "model": "scripted",
        "variant": "",
        "message": "",
        "paused": False,
        "lastReason": "shown",
        "tokensPerSecond": status["tokensPerSecond"],
        "acceptanceRate": 0.0,
    }
    assert status["tokensPerSecond"] > 0
    (message,) = shown(editor)
    assert message.startswith("scripted: idle, ")
    assert message.endswith(" tokens/s, 0 % of suggestions accepted, last answer shown.")
    request = await editor.status()
    assert {key: request[key] for key in status} == status


async def test_a_paused_server_answers_with_nothing_and_computes_nothing(scripted: StartScripted) -> None:
    editor = await scripted(script=SCRIPT)
    editor.open(URI, "python", "x = ")
    assert (await run(editor, "spark.pause"))["paused"]
    assert await editor.complete(URI) == ""
    editor.type(URI, "4")
    assert await editor.complete(URI, invoked=True) == ""
    await asyncio.sleep(2 * SETTLE_SECONDS)  # then idle time would begin
    status = await editor.status()
    assert (status["lastReason"], status["paused"], status["promptTokens"]) == ("paused", True, 0)
    assert not (await run(editor, "spark.resume"))["paused"]
    assert await editor.complete(URI) == "2"
    assert shown(editor) == ["Completions are paused.", "Completions go on."]


async def test_a_model_is_switched_by_command_until_the_configuration_names_another(scripted: StartScripted) -> None:
    editor = await scripted(script=SCRIPT, models=MODELS)
    editor.open(URI, "python", "x = ")
    status = await run(editor, "spark.switchModel", "big")
    assert (status["model"], status["engine"]) == ("big", "idle")
    assert await editor.complete(URI) == "99"
    configure(editor, {"spark": {"completion": {"maxLines": 3}}})
    assert await editor.complete(URI) == "99"
    configure(editor, {"spark": {"model": "other"}})
    await answered(editor, "77")
    assert shown(editor) == ["big is in use."]


async def test_a_switch_that_fails_says_one_sentence_and_can_be_tried_again(scripted: StartScripted) -> None:
    editor = await scripted(script=SCRIPT, models=MODELS)
    editor.open(URI, "python", "x = ")
    for number in (1, 2):
        status = await run(editor, "spark.switchModel", "broken")
        assert (status["model"], status["engine"]) == ("scripted", "idle")
        assert len(shown(editor)) == number
    assert "not on this machine" in shown(editor)[-1]
    configure(editor, {"spark": {"completion": {"maxLines": 3}}})
    assert await editor.complete(URI) == "42"
    assert len(shown(editor)) == 2


@pytest.mark.parametrize("arguments", [[], [None], [5], [""], ["  "], [{"name": "big"}]], ids=str)
async def test_a_switch_needs_a_name(scripted: StartScripted, arguments: list[Any]) -> None:
    editor = await scripted(script=SCRIPT, models=MODELS)
    assert (await run(editor, "spark.switchModel", *arguments))["model"] == "scripted"
    assert shown(editor)[0].startswith("spark.switchModel needs the name of a model")


async def test_the_last_answer_is_explained_every_time(scripted: StartScripted) -> None:
    editor = await scripted(script=SCRIPT)
    assert await run(editor, "spark.explainLast") == "Nothing was asked yet."
    editor.open(URI, "python", "x = ")
    await editor.complete(URI)
    assert await run(editor, "spark.explainLast") == "The model wrote the suggestion."
    await editor.complete("file:///a.py")
    assert "known already" in await run(editor, "spark.explainLast")
    await editor.request(
        "textDocument/inlineCompletion", {**editor.completion_params(URI), "textDocument": {"uri": "x:"}}
    )
    for _ in range(2):
        assert "has not opened" in await run(editor, "spark.explainLast")
    assert len(shown(editor)) == 5
    assert set(shown(editor)[1:]) <= set(EXPLANATIONS.values())


async def test_progress_of_loading_begins_and_ends_once(scripted: StartScripted) -> None:
    await_progress = await scripted(script=SCRIPT)
    kinds = [params["value"]["kind"] for params in sent(await_progress, "$/progress")]
    assert (kinds[0], kinds[-1], kinds.count("begin"), kinds.count("end")) == ("begin", "end", 1, 1)
