"""Notebooks: the cells of one language are one text, and positions stay in the cell."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from spark_lsp.server.editor import Editor
from tests.lsp.conftest import StartScripted, profile

NOTEBOOK = "file:///project/a.ipynb"
CODE, TEXT = 2, 1
SCRIPT = ["a = 1\n\nb = 2", "b = alone", "# Title\n\nWords", "s = '\x0c\u2028'\nc = \n\nb = 3"]
VSCODE = profile("vscode-1.139")


def cell(name: str) -> str:
    return f"vscode-notebook-cell:/project/a.ipynb#{name}"


def item(name: str, text: str, language: str = "python") -> dict[str, Any]:
    return {"uri": cell(name), "languageId": language, "version": 1, "text": text}


def entry(name: str, kind: int = CODE) -> dict[str, Any]:
    return {"kind": kind, "document": cell(name)}


def open_notebook(editor: Editor, texts: dict[str, str], languages: dict[str, str] | None = None) -> None:
    kinds = {name: TEXT if name in (languages or {}) else CODE for name in texts}
    document = {
        "uri": NOTEBOOK,
        "notebookType": "jupyter-notebook",
        "version": 1,
        "cells": [entry(name, kinds[name]) for name in texts],
    }
    documents = [item(name, text, (languages or {}).get(name, "python")) for name, text in texts.items()]
    editor.notify("notebookDocument/didOpen", {"notebookDocument": document, "cellTextDocuments": documents})


def change(editor: Editor, **cells: Any) -> None:
    identifier = {"uri": NOTEBOOK, "version": 2}
    editor.notify("notebookDocument/didChange", {"notebookDocument": identifier, "change": {"cells": cells}})


def insert(editor: Editor, name: str, line: int, character: int, text: str) -> None:
    here = {"line": line, "character": character}
    edit = {"range": {"start": here, "end": here}, "text": text}
    change(editor, textContent=[{"document": {"uri": cell(name), "version": 2}, "changes": [edit]}])


def move(editor: Editor, start: int, deleted: int, cells: Sequence[str] = (), **opened: Any) -> None:
    array = {"start": start, "deleteCount": deleted, "cells": [entry(name) for name in cells]}
    change(editor, structure={"array": array, **opened})


async def complete(editor: Editor, name: str, line: int, character: int) -> list[tuple[str, int, int]]:
    """Return text and place of each item."""
    params = {
        "textDocument": {"uri": cell(name)},
        "position": {"line": line, "character": character},
        "context": {"triggerKind": 2},
    }
    found = (await editor.request("textDocument/inlineCompletion", params))["items"]
    assert all(one["range"]["start"] == one["range"]["end"] for one in found)
    places = [one["range"]["start"] for one in found]
    return [(one["insertText"], at["line"], at["character"]) for one, at in zip(found, places, strict=True)]


async def test_they_are_asked_for_from_clients_that_have_them(scripted: StartScripted) -> None:
    editor = await scripted(script=SCRIPT, client=VSCODE)
    assert editor.capabilities["notebookDocumentSync"] == {"notebookSelector": [{"notebook": "*"}]}
    other = await scripted(script=SCRIPT, client=profile("neovim-0.12"))
    assert "notebookDocumentSync" not in other.capabilities


async def test_the_cells_before_and_after_are_text_above_and_below(scripted: StartScripted) -> None:
    editor = await scripted(script=SCRIPT, client=VSCODE)
    open_notebook(editor, {"first": "a = 1", "second": "b = ", "third": "b = "})
    assert await complete(editor, "second", 0, 4) == [("2", 0, 4)]
    assert await complete(editor, "third", 0, 4) == [("alone", 0, 4)]


async def test_what_the_next_cell_begins_with_is_not_suggested_again(scripted: StartScripted) -> None:
    editor = await scripted(script=["k = 1\n\nprint(k)"], client=VSCODE, options={"completion": {"pregenerate": False}})
    open_notebook(editor, {"first": "k = 1", "second": "", "third": "print(k)"})
    assert await complete(editor, "second", 0, 0) == []
    assert (await editor.status())["lastReason"] == "duplicate-suffix"
    move(editor, 2, 1)
    assert await complete(editor, "second", 0, 0) == [("print(k)", 0, 0)]


async def test_a_cell_of_another_language_is_another_text(scripted: StartScripted) -> None:
    editor = await scripted(script=SCRIPT, client=VSCODE)
    texts = {"title": "# Title", "first": "a = 1", "words": "", "second": "b = "}
    open_notebook(editor, texts, {"title": "markdown", "words": "markdown"})
    assert await complete(editor, "second", 0, 4) == [("2", 0, 4)]
    assert await complete(editor, "words", 0, 0) == [("Words", 0, 0)]


async def test_edits_are_made_in_the_cell(scripted: StartScripted) -> None:
    editor = await scripted(script=SCRIPT, client=VSCODE)
    open_notebook(editor, {"first": "", "second": "\n# end", "third": "print(b)"})
    insert(editor, "first", 0, 0, "a = 1")
    insert(editor, "second", 0, 0, "b ")
    insert(editor, "second", 0, 2, "= ")
    change(editor, textContent=[{"document": {"uri": cell("second"), "version": 3}, "changes": [{"text": "b = "}]}])
    assert await complete(editor, "second", 0, 4) == [("2", 0, 4)]


async def test_cells_are_added_moved_and_taken_out(scripted: StartScripted) -> None:
    editor = await scripted(script=SCRIPT, client=VSCODE, options={"completion": {"pregenerate": False}})
    open_notebook(editor, {"second": "b = "})
    assert await complete(editor, "second", 0, 4) == [("alone", 0, 4)]
    move(editor, 1, 0, ["first"], didOpen=[item("first", "a = 1")])
    assert await complete(editor, "second", 0, 4) == [("alone", 0, 4)], "the new cell stands below"
    move(editor, 0, 2, ["first", "second"])
    assert await complete(editor, "second", 0, 4) == [("2", 0, 4)]
    move(editor, 2, 0, ["third"], didOpen=[item("third", "print(b)")])
    assert await complete(editor, "second", 0, 4) == [("2", 0, 4)]
    move(editor, 0, 1, didClose=[{"uri": cell("first")}])
    assert await complete(editor, "second", 0, 4) == [("alone", 0, 4)]
    assert await complete(editor, "first", 0, 0) == []
    assert (await editor.status())["lastReason"] == "unknown-document"


async def test_lines_end_where_the_protocol_says(scripted: StartScripted) -> None:
    editor = await scripted(script=SCRIPT, client=VSCODE)
    open_notebook(editor, {"first": "s = '\x0c\u2028'\nX = ", "second": "b = "})
    where = {"start": {"line": 1, "character": 0}, "end": {"line": 1, "character": 1}}
    edit = {"range": where, "text": "c"}
    change(editor, textContent=[{"document": {"uri": cell("first"), "version": 2}, "changes": [edit]}])
    assert await complete(editor, "second", 0, 4) == [("3", 0, 4)]


async def test_positions_are_clamped_to_the_cell(scripted: StartScripted) -> None:
    editor = await scripted(script=SCRIPT, client=VSCODE)
    open_notebook(editor, {"first": "a = 1", "second": "b = ", "third": "print(b)\n"})
    assert await complete(editor, "second", 7, 99) == [("2", 0, 4)]


async def test_a_selected_entry_replaces_its_range_in_the_cell(scripted: StartScripted) -> None:
    editor = await scripted(script=["a = 1\n\nb = self.x"], client=VSCODE)
    open_notebook(editor, {"first": "a = 1", "second": "b = se", "third": "print(b)\n"})
    where = {"start": {"line": 0, "character": 4}, "end": {"line": 0, "character": 6}}
    params = {
        "textDocument": {"uri": cell("second")},
        "position": {"line": 0, "character": 6},
        "context": {"triggerKind": 2, "selectedCompletionInfo": {"range": where, "text": "self"}},
    }
    (found,) = (await editor.request("textDocument/inlineCompletion", params))["items"]
    assert (found["insertText"], found["range"]) == ("self.x", where)


async def test_a_closed_notebook_is_forgotten(scripted: StartScripted) -> None:
    editor = await scripted(script=SCRIPT, client=VSCODE)
    open_notebook(editor, {"first": "a = 1", "words": "Words"}, {"words": "markdown"})
    assert (await editor.status())["documents"] == 2
    closed = {"notebookDocument": {"uri": NOTEBOOK}, "cellTextDocuments": [{"uri": cell("first")}]}
    editor.notify("notebookDocument/didClose", closed)
    assert await complete(editor, "first", 0, 5) == []
    status = await editor.status()
    assert (status["documents"], status["lastReason"]) == (0, "unknown-document")


async def test_a_private_notebook_is_not_completed(scripted: StartScripted, tmp_path: Path) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / ".sparkignore").write_text("*.ipynb\n")
    editor = await scripted(script=SCRIPT, client=VSCODE, folder=folder)
    uri = (folder / "a.ipynb").as_uri()
    document = {"uri": uri, "notebookType": "x", "version": 1, "cells": [entry("first")]}
    texts = [item("first", "b = ")]
    editor.notify("notebookDocument/didOpen", {"notebookDocument": document, "cellTextDocuments": texts})
    assert await complete(editor, "first", 0, 4) == []
    assert (await editor.status())["lastReason"] == "excluded"


@pytest.mark.parametrize(
    "changed",
    [
        {"structure": {"array": {"start": 99, "deleteCount": 7}}},
        {"structure": {"array": {"start": 0, "deleteCount": 0, "cells": [entry("nowhere")]}}},
        {"structure": {"array": {"start": 0, "deleteCount": 0}, "didClose": [{"uri": cell("nowhere")}]}},
        {"textContent": [{"document": {"uri": cell("nowhere"), "version": 2}, "changes": [{"text": "x"}]}]},
        {"textContent": [{"document": {"uri": cell("first"), "version": 2}, "changes": []}]},
        {"data": [{"kind": CODE, "document": cell("nowhere"), "metadata": {"a": 1}}]},
        {},
    ],
    ids=["out of range", "no text", "close unknown", "edit unknown", "no edit", "metadata", "nothing"],
)
async def test_a_change_that_makes_no_sense_changes_nothing(scripted: StartScripted, changed: dict[str, Any]) -> None:
    editor = await scripted(script=SCRIPT, client=VSCODE)
    open_notebook(editor, {"first": "a = 1", "second": "b = ", "third": "print(b)\n"})
    change(editor, **changed)
    assert await complete(editor, "second", 0, 4) == [("2", 0, 4)]
