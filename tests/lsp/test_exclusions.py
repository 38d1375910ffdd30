"""Private files over a real pipe: neither completed nor read."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from spark_lsp.scheduler import SETTLE_SECONDS
from tests.lsp.conftest import StartScripted
from tests.lsp.test_workspace import SECONDS, learned, save


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / "gen").mkdir(parents=True)
    (folder / ".gitignore").write_text("gen/\n")
    (folder / ".sparkignore").write_text("private_*.py\n")
    (folder / "private_keys.py").write_text("key = 'hunter2'\n")
    (folder / "near.py").write_text("x = 1\n")
    return folder


async def test_an_excluded_document_is_not_completed_and_says_why(scripted: StartScripted, project: Path) -> None:
    editor = await scripted(script=["x = 1"], folder=project)
    for name in ("gen/a.py", "private_a.py", ".env", "id_rsa"):
        uri = (project / name).as_uri()
        editor.open(uri, "python", "x = ")
        assert await editor.complete(uri) == "", name
        editor.type(uri, " ")
        assert await editor.complete(uri) == "", name
    uri = (project / "a.py").as_uri()
    editor.open(uri, "python", "x = ")
    assert await editor.complete(uri) == "1"
    status = await editor.status()
    assert status["reasons"] == {"excluded": 8, "shown": 1}
    assert (await learned(editor, 2))["workspaceTexts"] == 2, "near.py and the document itself"


async def test_nothing_is_computed_for_an_excluded_document_while_somebody_types_in_it(
    scripted: StartScripted, project: Path
) -> None:
    editor = await scripted(script=["x = 1"], folder=project, options={"context": {"recent": True, "snippets": True}})
    uri = (project / "private_a.py").as_uri()
    editor.open(uri, "python", "x = ")
    assert await editor.complete(uri) == ""
    editor.type(uri, "y")
    await asyncio.sleep(2 * SETTLE_SECONDS)  # then idle time would begin
    status = await editor.status()
    assert (status["promptTokens"], status["workspaceTexts"]) == (0, 0)


async def test_without_exclusions_every_document_is_completed(scripted: StartScripted, project: Path) -> None:
    editor = await scripted(script=["x = 1"], folder=project, options={"context": {"exclusions": False}})
    uri = (project / "gen" / "a.py").as_uri()
    editor.open(uri, "python", "x = ")
    assert await editor.complete(uri) == "1"


async def test_rules_that_are_saved_hold_for_documents_that_are_open(scripted: StartScripted, project: Path) -> None:
    editor = await scripted(script=["x = 1"], folder=project)
    uri, rules = (project / "a.py").as_uri(), project / ".gitignore"
    editor.open(uri, "python", "x = ")
    editor.open(rules.as_uri(), "ignore", rules.read_text())
    assert await editor.complete(uri) == "1"
    for text, reason in [("a.py\n", "excluded"), ("", "shown")]:
        rules.write_text(text)
        save(editor, rules.as_uri())
        deadline = asyncio.get_running_loop().time() + SECONDS
        while (await editor.status())["lastReason"] != reason:
            assert asyncio.get_running_loop().time() < deadline
            await editor.complete(uri)
