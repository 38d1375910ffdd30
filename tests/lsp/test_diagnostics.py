"""`spark/diagnostics` over a real pipe, with a scripted engine that shows what it read."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from spark_lsp.context.diagnostics import Severity
from spark_lsp.documents.text import TextSnapshot
from spark_lsp.server.diagnostics import read_diagnostic
from spark_lsp.server.editor import Editor
from tests.lsp.conftest import StartScripted
from tests.lsp.test_context import prompt_tokens

METHOD = "spark/diagnostics"
URI = "untitled:main.py"
MESSAGE = "undefined_name is not defined, and this message is long enough to be seen in the count of tokens"
TEXT = "x = undefined_name\ny = 1\nz = "
ON = {"context": {"diagnostics": True}, "completion": {"drafting": False}}


def finding(line: int = 0, message: str = MESSAGE, **more: Any) -> dict[str, Any]:
    place = {"line": line, "character": 0}
    return {"range": {"start": place, "end": {"line": line, "character": 3}}, "message": message, **more}


def send(editor: Editor, *items: Any, uri: str = URI, **more: Any) -> None:
    editor.notify(METHOD, {"uri": uri, "diagnostics": list(items), **more})


def warnings(editor: Editor) -> list[str]:
    return [m["params"]["message"] for m in editor.messages if m.get("method") == "window/showMessage"]


async def reads_the_message(editor: Editor, uri: str = URI, text: str = TEXT) -> bool:
    # The document is shorter than its window: more tokens than it has bytes can only come from the message.
    return await prompt_tokens(editor, uri) > len(text) + len(MESSAGE)


@pytest.mark.parametrize("on", [True, False])
async def test_the_server_says_whether_it_wants_them_and_shows_them_to_the_model(
    scripted: StartScripted, on: bool
) -> None:
    editor = await scripted(options={**ON, "context": {"diagnostics": on}})
    assert editor.capabilities["experimental"] == {"sparkDiagnostics": on}
    editor.open(URI, "python", TEXT)
    send(editor, finding())
    assert await reads_the_message(editor) is on


OTHERS = [
    ("of a document that is not open", {"uri": "untitled:other.py"}, finding()),
    ("of an older text", {"version": 0}, finding()),
    ("only a hint", {}, finding(severity=4)),
    ("of the cursor's line", {}, finding(2)),
    ("of a line that is not there", {}, finding(99)),
]


@pytest.mark.parametrize(("case", "more", "item"), OTHERS, ids=[case[0] for case in OTHERS])
async def test_it_is_not_shown(scripted: StartScripted, case: str, more: dict[str, Any], item: Any) -> None:
    editor = await scripted(options=ON)
    editor.open(URI, "python", TEXT)
    send(editor, item, **more)
    assert not await reads_the_message(editor)
    assert warnings(editor) == []


@pytest.mark.parametrize("version", [None, 1, 2], ids=["none", "the same", "a newer one"])
async def test_the_version_may_be_missing_or_ahead(scripted: StartScripted, version: int | None) -> None:
    editor = await scripted(options=ON)
    editor.open(URI, "python", TEXT)
    send(editor, finding(), version=version)
    assert await reads_the_message(editor)


@pytest.mark.parametrize(
    "params",
    [
        None,
        [],
        3,
        {},
        {"uri": 3, "diagnostics": []},
        {"uri": URI, "diagnostics": {}},
        {"uri": URI, "diagnostics": [3, finding(message=3), {"range": {}, "message": "m"}, finding(-1), finding()]},
    ],
)
async def test_wrong_input_is_one_warning_and_loses_nothing(scripted: StartScripted, params: Any) -> None:
    editor = await scripted(options=ON)
    editor.open(URI, "python", TEXT)
    send(editor, finding())
    for _ in range(3):
        editor.notify(METHOD, params)
    assert await reads_the_message(editor)
    assert len(warnings(editor)) == 1


async def test_it_moves_with_its_line_and_goes_with_it(scripted: StartScripted) -> None:
    editor = await scripted(options=ON)
    editor.open(URI, "python", TEXT)
    send(editor, finding())
    editor.edit(URI, [(0, 0, "import os\n")])
    editor.move(URI, len(editor.text(URI)))
    assert await reads_the_message(editor, text=editor.text(URI))
    other = "untitled:other.py"
    editor.open(other, "python", TEXT)
    send(editor, finding(), uri=other)
    editor.edit(other, [(0, 1, "w")])
    editor.move(other, len(TEXT))
    before = (await editor.status())["promptTokens"]
    assert await prompt_tokens(editor, other) - before < len(TEXT) + len(MESSAGE)


async def test_it_is_forgotten_when_the_document_is_closed(scripted: StartScripted) -> None:
    editor = await scripted(options=ON)
    editor.open(URI, "python", TEXT)
    send(editor, finding())
    editor.close(URI)
    editor.open(URI, "python", TEXT)
    assert not await reads_the_message(editor)


async def test_nothing_is_kept_of_a_document_that_was_private(scripted: StartScripted, tmp_path: Path) -> None:
    editor = await scripted(folder=tmp_path, options=ON)
    rules, file = tmp_path / ".sparkignore", tmp_path / "main.py"
    rules.write_text("main.py\n")
    uri = file.as_uri()
    editor.open(rules.as_uri(), "ignore", "main.py\n")
    editor.open(uri, "python", TEXT)
    send(editor, finding(), uri=uri)
    assert await editor.complete(uri) == ""
    assert (await editor.status())["lastReason"] == "excluded"
    rules.write_text("")
    editor.notify("textDocument/didSave", {"textDocument": {"uri": rules.as_uri()}})
    deadline = asyncio.get_running_loop().time() + 20
    while (await editor.status())["lastReason"] == "excluded":
        assert asyncio.get_running_loop().time() < deadline
        await editor.complete(uri)
    assert not await reads_the_message(editor, uri)


@pytest.mark.parametrize(
    ("severity", "expected"),
    [(1, Severity.ERROR), (2, Severity.WARNING), (None, Severity.ERROR), (9, Severity.ERROR), ([], Severity.ERROR)],
)
def test_a_severity_that_is_missing_or_unknown_is_an_error(severity: Any, expected: Severity) -> None:
    found = read_diagnostic(finding(severity=severity), TextSnapshot.of("x"))
    assert found is not None
    assert found[0].severity is expected
