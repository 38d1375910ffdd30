"""The parts of the prompt beside the window over a real pipe, with a scripted engine: what it reads is counted."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from spark_lsp.server.editor import Editor
from tests.lsp.conftest import StartScripted

SECONDS = 20.0
SIGNATURE = "def join_rings(" + ", ".join(f"argument_{number}" for number in range(20)) + "):"
MAIN = "from ring import join_rings\nx = join_rings("


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / "hidden").mkdir(parents=True)
    (folder / ".gitignore").write_text("hidden/\n")
    (folder / "ring.py").write_text(SIGNATURE + "\n    pass\n")
    (folder / "hidden" / "ring.py").write_text(SIGNATURE + "\n    pass\n")
    return folder


async def prompt_tokens(editor: Editor, uri: str) -> int:
    """Return how many prompt tokens were computed once the server has nothing left to do for a document."""
    deadline = asyncio.get_running_loop().time() + SECONDS
    await editor.complete(uri, invoked=True)
    known, quiet = -1, 0
    while quiet < 10:
        assert asyncio.get_running_loop().time() < deadline
        await asyncio.sleep(0.05)
        status: dict[str, Any] = await editor.status()
        quiet = quiet + 1 if status["promptTokens"] == known else 0
        known = status["promptTokens"]
    return known


@pytest.mark.parametrize(
    ("parts", "module", "read"),
    [
        ({}, "ring", False),
        ({"definitions": True}, "ring", True),
        ({"definitions": True}, "hidden.ring", False),
        ({"definitions": True, "exclusions": False}, "hidden.ring", True),
    ],
    ids=["off", "on", "excluded", "without exclusions"],
)
async def test_signatures_of_imported_files_are_read_unless_they_are_excluded(
    scripted: StartScripted, project: Path, parts: dict[str, bool], module: str, read: bool
) -> None:
    editor = await scripted(folder=project, options={"context": parts, "completion": {"drafting": False}})
    text = MAIN.replace("ring", module, 1)
    uri = (project / "main.py").as_uri()
    editor.open(uri, "python", text)
    # The document is shorter than its window: more tokens than it has bytes can only come from another file.
    assert (await prompt_tokens(editor, uri) > len(text) + len(SIGNATURE)) is read


async def test_an_open_document_that_becomes_private_is_no_context_any_more(
    scripted: StartScripted, project: Path
) -> None:
    editor = await scripted(folder=project, options={"context": {"definitions": True}})
    other, uri = (project / "other.py").as_uri(), "untitled:main.py"
    editor.open(other, "python", SIGNATURE + "\n    pass\n")
    rules = project / ".gitignore"
    editor.open(rules.as_uri(), "ignore", "")
    assert await editor.complete(other) == ""
    rules.write_text("other.py\n")
    editor.notify("textDocument/didSave", {"textDocument": {"uri": rules.as_uri()}})
    deadline = asyncio.get_running_loop().time() + SECONDS
    while (await editor.status())["lastReason"] != "excluded":
        assert asyncio.get_running_loop().time() < deadline
        await editor.complete(other)
    before = (await editor.status())["promptTokens"]
    editor.open(uri, "python", "x = join_rings(")
    assert await prompt_tokens(editor, uri) - before <= len("x = join_rings(") + 3
