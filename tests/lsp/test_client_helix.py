"""Helix: its master through the completion menu, and with pull request 14876 inline."""

from __future__ import annotations

from typing import Any

from spark_lsp.server.editor import Editor
from tests.lsp.conftest import StartScripted, profile

URI = "file:///project/a.py"
TEXT = "s = 'ä😀'\n"


async def menu(editor: Editor) -> list[dict[str, Any]]:
    params = editor.completion_params(URI)
    del params["context"]  # Helix sends none unless a server's trigger character was typed
    result = await editor.request("textDocument/completion", params)
    items: list[dict[str, Any]] = result["items"]
    return items


async def test_master_gets_an_entry_for_each_word_it_asks_for(scripted: StartScripted) -> None:
    """It asks after two characters of a word, and again for each one since the list is incomplete."""
    editor = await scripted(script=[TEXT + "b = 'ä'; compute(1)"], client=profile("helix-master"))
    assert editor.capabilities["positionEncoding"] == "utf-8"
    assert editor.capabilities["completionProvider"] == {}
    editor.open(URI, "python", TEXT + "b = 'ä'; ")
    begin = len("b = 'ä'; ".encode())
    for typed in ("co", "m", "p"):
        editor.type(URI, typed)
        (entry,) = await menu(editor)
        where = entry["textEdit"]["range"]
        assert where["start"] == {"line": 1, "character": begin}
        assert where["end"] == {"line": 1, "character": len(editor.text(URI).splitlines()[1].encode())}
        assert entry["textEdit"]["newText"] == "compute(1)"
        assert entry["filterText"] == "compute"
    assert (await editor.status())["reasons"]["cached"] == 2


async def test_an_accepted_entry_runs_its_command(scripted: StartScripted) -> None:
    editor = await scripted(script=["b = compute(1)"], client=profile("helix-master"))
    editor.open(URI, "python", "b = co")
    (entry,) = await menu(editor)
    editor.replace(URI, len("b = "), len("b = co"), entry["textEdit"]["newText"])
    command = {"command": entry["command"]["command"], "arguments": entry["command"]["arguments"]}
    assert await editor.request("workspace/executeCommand", command) is None
    assert editor.text(URI) == "b = compute(1)"
    assert (await editor.status())["acceptedCompletions"] == 1


async def test_with_the_pull_request_there_is_no_second_copy_in_the_menu(scripted: StartScripted) -> None:
    options = {"completion": {"candidatesMs": 60_000, "deadlineMs": 60_000}}
    editor = await scripted(
        script=[TEXT + "b = 1 + 2"], second=[TEXT + "b = None"], client=profile("helix-pr14876"), options=options
    )
    assert "completionProvider" not in editor.capabilities
    assert editor.capabilities["inlineCompletionProvider"] == {}
    editor.open(URI, "python", TEXT + "b = ")
    items = (await editor.request("textDocument/inlineCompletion", editor.completion_params(URI, True)))["items"]
    assert [item["insertText"] for item in items] == ["1 + 2", "None"]
    assert items[0]["range"]["end"] == {"line": 1, "character": 4}
    assert await menu(editor) == []
