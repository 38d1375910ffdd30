"""What the server tells about itself unasked: status notifications and its log."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from tests.lsp.conftest import CAPABILITIES, StartScripted, sent, until
from tests.lsp.test_commands import run

URI = "file:///a.py"
ASKING = {"capabilities": {**CAPABILITIES, "experimental": {"sparkStatus": True}}}


async def test_a_client_that_asked_for_it_is_told_what_changes(scripted: StartScripted) -> None:
    editor = await scripted(script=["x = 42\n"], client=ASKING)
    editor.open(URI, "python", "x = ")
    await editor.complete(URI)

    async def told() -> Any:
        statuses = sent(editor, "spark/status")
        return statuses and statuses[-1]["lastReason"] == "shown" and statuses[-1]["engine"] == "idle" and statuses[-1]

    status = await until(told)
    assert status == await run(editor, "spark.status")
    await run(editor, "spark.pause")

    async def paused() -> bool:
        return sent(editor, "spark/status")[-1]["paused"] is True

    await until(paused)
    statuses = sent(editor, "spark/status")
    assert all(one != other for one, other in itertools.pairwise(statuses)), "only what changes is told"


@pytest.mark.parametrize("experimental", [None, {}, {"sparkStatus": False}, True, [1]], ids=str)
async def test_other_clients_get_no_notification_that_they_do_not_know(
    scripted: StartScripted, experimental: Any
) -> None:
    capabilities = {**CAPABILITIES, "experimental": experimental}
    editor = await scripted(script=["x = 42\n"], client={"capabilities": capabilities})
    editor.open(URI, "python", "x = ")
    assert await editor.complete(URI) == "42"
    await run(editor, "spark.status")
    assert sent(editor, "spark/status") == []


@pytest.mark.parametrize(
    ("trace", "levels"), [(None, set()), ("off", set()), ("messages", {3}), ("verbose", {3, 4})], ids=str
)
async def test_the_log_follows_the_trace_level_of_the_client(
    scripted: StartScripted, trace: str | None, levels: set[int]
) -> None:
    editor = await scripted(script=["x = 42\n"], client={} if trace is None else {"trace": trace})
    editor.open(URI, "python", "x = ")
    await editor.complete(URI)
    editor.notify("workspace/didChangeConfiguration", {"settings": {"spark": {"completion": {"maxLines": 3}}}})
    await editor.status()
    assert {params["type"] for params in sent(editor, "window/logMessage")} == levels


async def test_the_trace_level_can_be_changed(scripted: StartScripted) -> None:
    editor = await scripted(script=["x = 42\n"])
    editor.open(URI, "python", "x = ")
    editor.notify("$/setTrace", {"value": "verbose"})
    await editor.complete(URI)

    async def answered() -> bool:
        return "Answered: shown" in [params["message"] for params in sent(editor, "window/logMessage")]

    await until(answered)
    editor.notify("$/setTrace", {"value": "off"})
    await editor.status()
    count = len(sent(editor, "window/logMessage"))
    await editor.complete(URI)
    await editor.status()
    assert len(sent(editor, "window/logMessage")) == count


async def test_warnings_reach_a_client_that_does_not_trace_without_a_traceback(scripted: StartScripted) -> None:
    editor = await scripted(fail="There is no model.")

    async def warned() -> list[Any]:
        return sent(editor, "window/logMessage")

    (warning,) = await until(warned)
    assert warning == {"type": 2, "message": "There is no model. Run `spark-lsp models pull`."}
