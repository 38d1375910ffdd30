"""Sublime Text's LSP package: no position encodings, no inline completion, and it indents what it inserts."""

from __future__ import annotations

from tests.lsp.conftest import StartScripted, profile

URI = "file:///project/a.py"
SCRIPT = ["s = '😀'; value = compute(1)", "    def area(self):\n        return self.width"]
CLIENT = profile("sublime-lsp")


async def test_an_entry_of_its_menu_counts_in_utf_16(scripted: StartScripted) -> None:
    editor = await scripted(script=SCRIPT, client=CLIENT)
    assert editor.capabilities["positionEncoding"] == "utf-16"
    editor.open(URI, "python", "s = '😀'; value = co")
    result = await editor.request("textDocument/completion", editor.completion_params(URI))
    (entry,) = result["items"]
    where = {"start": {"line": 0, "character": 18}, "end": {"line": 0, "character": 20}}
    assert entry["textEdit"] == {"range": where, "newText": "compute(1)"}
    assert entry["label"].startswith(entry["filterText"]), "it shows the filter text in place of another label"


async def test_lines_come_without_the_indentation_that_it_adds(scripted: StartScripted) -> None:
    editor = await scripted(script=SCRIPT, client=CLIENT)
    editor.open(URI, "python", "class Box:\n    def area(self):")
    (entry,) = (await editor.request("textDocument/completion", editor.completion_params(URI)))["items"]
    assert entry["textEdit"]["newText"] == "\n    return self.width"
    assert "insertTextMode" not in entry


async def test_a_cancelled_request_is_answered_and_the_next_one_served(scripted: StartScripted) -> None:
    editor = await scripted(script=SCRIPT, client=CLIENT)
    editor.open(URI, "python", "s = '😀'; value = co")
    number, answer = editor.start_request("textDocument/completion", editor.completion_params(URI))
    editor.notify("$/cancelRequest", {"id": number})
    assert len((await editor.request("textDocument/completion", editor.completion_params(URI)))["items"]) == 1
    assert answer.done()
