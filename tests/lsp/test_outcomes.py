"""What became of suggestions, counted over a real pipe and kept on disk."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from spark_lsp.server.editor import Editor
from spark_lsp.statistics import store
from spark_lsp.statistics.counts import Counts, Row
from tests.lsp.conftest import StartScripted, until

URI = "file:///a.py"
SCRIPT = ["x = compute(1, 2)\ny = 5\n"]


async def accept(editor: Editor, uri: str = URI) -> str:
    """Ask, put in the text and say so, as editors do."""
    result = await editor.request("textDocument/inlineCompletion", editor.completion_params(uri))
    (item,) = result["items"]
    editor.type(uri, item["insertText"])
    command = {"command": item["command"]["command"], "arguments": item["command"]["arguments"]}
    await editor.request("workspace/executeCommand", command)
    return str(item["insertText"])


async def test_shown_accepted_and_kept_are_counted_and_left_on_disk(scripted: StartScripted) -> None:
    editor = await scripted(script=SCRIPT, kept_seconds=0.05)
    editor.open(URI, "python", "x = ")
    await editor.complete(URI)
    editor.type(URI, "c")
    await editor.complete(URI)
    await accept(editor)

    async def kept() -> bool:
        return bool((await editor.status())["kept"])

    await until(kept)
    status = await editor.status()
    assert (status["shown"], status["acceptedCompletions"], status["acceptanceRate"]) == (1, 1, 1.0)
    await editor.stop()
    (counts,) = store.load(store.statistics_path()).table.values()
    assert (counts.shown, counts.accepted, counts.kept) == (1, 1, 1)


async def test_a_text_that_is_taken_back_is_not_kept(scripted: StartScripted) -> None:
    editor = await scripted(script=SCRIPT)
    editor.open(URI, "python", "x = ")
    text = await accept(editor)
    editor.replace(URI, 4, 4 + len(text), "")
    editor.close(URI)
    await editor.stop()
    assert store.load(store.statistics_path()).table[Row("python", "none")] == Counts(
        shown=1, accepted=1, shown_characters=len(text), accepted_characters=len(text)
    )


async def test_a_document_with_crlf_is_followed_too(scripted: StartScripted) -> None:
    editor = await scripted(script=["x = [\n    1,\n]\n"])
    editor.open(URI, "python", "a = 1\r\n\r\nx = ")
    result = await editor.request("textDocument/inlineCompletion", editor.completion_params(URI))
    (item,) = result["items"]
    assert "\n" in item["insertText"]
    editor.type(URI, item["insertText"].replace("\n", "\r\n"))
    await editor.request(
        "workspace/executeCommand", {"command": "spark.accept", "arguments": item["command"]["arguments"]}
    )
    editor.replace(URI, 0, 0, "import os\r\n")
    editor.close(URI)
    assert (await editor.status())["kept"] == 1


async def test_several_servers_add_to_the_same_counts(scripted: StartScripted) -> None:
    for _ in range(2):
        editor = await scripted(script=SCRIPT)
        editor.open(URI, "python", "x = ")
        await accept(editor)
        await editor.stop()
    counts = store.load(store.statistics_path()).table.values()
    assert sum(count.accepted for count in counts) == 2


async def test_nothing_is_kept_where_the_user_does_not_want_it(scripted: StartScripted) -> None:
    editor = await scripted(script=SCRIPT, options={"statistics": {"keep": False}})
    editor.open(URI, "python", "x = ")
    await accept(editor)
    assert (await editor.status())["acceptedCompletions"] == 1
    await editor.stop()
    assert not store.statistics_path().exists()


async def test_a_directory_that_cannot_be_written_harms_nobody(scripted: StartScripted) -> None:
    state = Path(os.environ[store.DIRECTORY_VARIABLE])
    state.write_text("a file where the directory should be")
    editor = await scripted(script=SCRIPT)
    editor.open(URI, "python", "x = ")
    await accept(editor)
    assert await editor.stop() == 0
    assert state.is_file()


async def test_no_answer_is_no_suggestion(scripted: StartScripted) -> None:
    editor = await scripted(script=[])
    editor.open(URI, "python", "x = ")
    assert await editor.complete(URI) == ""
    status: dict[str, Any] = await editor.status()
    assert (status["shown"], status["acceptanceRate"]) == (0, None)
