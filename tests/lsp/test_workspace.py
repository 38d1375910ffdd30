"""Neighbouring files and open documents as a source of drafts, over a real pipe."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from spark_lsp.server.editor import Editor
from tests.lsp.conftest import StartScripted

STATEMENT = "value = compute_the_total(first_argument, second_argument)"
REST = STATEMENT.removeprefix("value = ")
SECONDS = 20.0


async def learned(editor: Editor, texts: int) -> dict[str, Any]:
    """Return the status once so many texts were learned."""
    deadline = asyncio.get_running_loop().time() + SECONDS
    while True:
        status = await editor.status()
        if status["workspaceTexts"] >= texts and status["workspacePending"] == 0:
            return status
        assert asyncio.get_running_loop().time() < deadline, status
        await asyncio.sleep(0.02)


def save(editor: Editor, uri: str) -> None:
    editor.notify("textDocument/didSave", {"textDocument": {"uri": uri}})


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "near.py").write_text(f"def f():\n    {STATEMENT}\n")
    (folder / "other.py").write_text("x = 1\n")
    (folder / "secrets.py").write_text("PASSWORD = 'hunter2'\n")
    (folder / "notes.txt").write_text("not Python\n")
    (folder / "broken.py").write_bytes(b"\xff\xfe\0\0")
    return folder


async def test_neighbours_are_learned_when_a_file_is_opened_and_drafts_are_copied_from_them(
    scripted: StartScripted, project: Path
) -> None:
    editor = await scripted(script=[STATEMENT])
    uri = (project / "new.py").as_uri()
    editor.open(uri, "python", "value = ")
    # near.py, other.py and the document itself
    assert (await learned(editor, 3))["decodeSteps"] == 0
    assert await editor.complete(uri) == REST
    status = await editor.status()
    assert status["workspaceTexts"] == 3
    assert status["acceptedTokens"] > len(REST) // 2
    assert status["decodeSteps"] < len(REST) // 2


async def test_turned_off_nothing_is_read_and_the_text_is_the_same(scripted: StartScripted, project: Path) -> None:
    editor = await scripted(script=[STATEMENT], options={"completion": {"workspace": False}})
    uri = (project / "new.py").as_uri()
    editor.open(uri, "python", "value = ")
    save(editor, uri)
    assert await editor.complete(uri) == REST
    status = await editor.status()
    assert (status["workspaceTexts"], status["workspacePending"], status["acceptedTokens"]) == (0, 0, 0)


async def test_another_open_document_helps_also_if_it_is_on_no_disk(scripted: StartScripted) -> None:
    editor = await scripted(script=[STATEMENT])
    editor.open("untitled:Untitled-1", "python", STATEMENT + "\n")
    await learned(editor, 1)
    editor.open("untitled:Untitled-2", "python", "value = ")
    await learned(editor, 2)
    assert await editor.complete("untitled:Untitled-2") == REST
    assert (await editor.status())["acceptedTokens"] > len(REST) // 2


async def test_a_saved_document_is_learned_again_only_if_it_changed_substantially(
    scripted: StartScripted, tmp_path: Path
) -> None:
    editor = await scripted(script=[])
    assert editor.capabilities["textDocumentSync"]["save"]
    uri = (tmp_path / "a.py").as_uri()
    editor.open(uri, "python", "".join(f"name_{number} = {number}\n" for number in range(20)))
    await learned(editor, 1)
    save(editor, uri)
    editor.type(uri, "one = 1\n")
    save(editor, uri)
    editor.type(uri, "".join(f"more_{number} = {number}\n" for number in range(20)))
    save(editor, uri)
    await learned(editor, 2)
    save(editor, uri)
    other = (tmp_path / "b.py").as_uri()
    editor.open(other, "python", "x = 1\n")  # read after everything before it
    assert (await learned(editor, 3))["workspaceTexts"] == 3


async def test_files_opened_while_the_model_loads_are_read_once_it_is_there(
    scripted: StartScripted, project: Path
) -> None:
    editor = await scripted(script=[STATEMENT], load_seconds=0.5, wait=False)
    uri = (project / "new.py").as_uri()
    editor.open(uri, "python", "value = ")
    status = await editor.status()
    assert (status["engine"], status["workspaceTexts"]) == ("loading", 0)
    await learned(editor, 3)


@pytest.mark.parametrize(
    "uri",
    [
        "file:///no/such/folder/a.py",
        "file:///with%00nul/a.py",
        "file://another-host/share/a.py",
        "file://[broken/a.py",
        "untitled:a.py",
        "git:/a.py?%7B%7D",
        "no uri",
        "",
    ],
)
async def test_a_document_without_a_folder_is_completed_all_the_same(scripted: StartScripted, uri: str) -> None:
    editor = await scripted(script=[STATEMENT])
    editor.open(uri, "python", "value = ")
    assert (await learned(editor, 1))["workspaceTexts"] == 1
    assert await editor.complete(uri) == REST


async def test_an_open_document_that_looks_like_a_secret_is_not_learned(
    scripted: StartScripted, tmp_path: Path
) -> None:
    editor = await scripted(script=[])
    editor.open((tmp_path / ".env").as_uri(), "shellscript", "PASSWORD=hunter2\n")
    editor.open((tmp_path / "a.py").as_uri(), "python", "x = 1\n")  # read after it
    assert (await learned(editor, 1))["workspaceTexts"] == 1


async def test_the_answer_does_not_wait_for_a_large_folder(scripted: StartScripted, tmp_path: Path) -> None:
    for number in range(300):
        (tmp_path / f"f{number}.py").write_text(json.dumps(list(range(number, number + 500))))
    editor = await scripted(script=[STATEMENT])
    uri = (tmp_path / "a.py").as_uri()
    editor.open(uri, "python", "value = ")
    assert await editor.complete(uri, invoked=True) == REST
    await learned(editor, 20)
    assert await editor.stop() == 0
