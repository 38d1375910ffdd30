"""Modules that a document imports are known to the engine soon after it was opened, over a real pipe."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from spark_lsp.server.editor import Editor
from tests.lsp.conftest import StartScripted

SECONDS = 20.0
SCRIPT = 'import * as tools from "./tools";\n\nconst x = tools.trimmed(y);'
INVENTED = "import tools\nx = tools.trimmed(y)"
DOT = INVENTED.index("trimmed")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / "hidden").mkdir(parents=True)
    (folder / ".gitignore").write_text("hidden/\n")
    for place in (folder, folder / "hidden"):
        (place / "tools.py").write_text("def trim(text):\n    pass\n")
    return folder


async def status_with(editor: Editor, modules: int) -> dict[str, Any]:
    """Return the status as soon as so many modules are known."""
    deadline = asyncio.get_running_loop().time() + SECONDS
    while True:
        status: dict[str, Any] = await editor.status()
        if status["indexedModules"] == modules:
            return status
        assert asyncio.get_running_loop().time() < deadline, status
        await asyncio.sleep(0.05)


async def written(editor: Editor, uri: str) -> dict[str, Any]:
    assert await editor.complete(uri, invoked=True) == INVENTED[DOT:]
    status: dict[str, Any] = await editor.status()
    return status


async def test_an_invented_name_of_an_imported_module_is_noticed(scripted: StartScripted, project: Path) -> None:
    editor = await scripted(script=[INVENTED], folder=project)
    uri = (project / "main.py").as_uri()
    editor.open(uri, "python", INVENTED[:DOT])
    await status_with(editor, 1)
    assert (await written(editor, uri))["unknownNames"] == 1


async def test_a_name_that_was_added_and_saved_is_known(scripted: StartScripted, project: Path) -> None:
    editor = await scripted(script=[INVENTED], folder=project)
    uri, tools = (project / "main.py").as_uri(), project / "tools.py"
    editor.open(uri, "python", INVENTED[:DOT])
    await status_with(editor, 1)
    editor.open(tools.as_uri(), "python", tools.read_text())
    tools.write_text("from math import *\ntrim = trimmed = 1\n")
    editor.notify("textDocument/didSave", {"textDocument": {"uri": tools.as_uri()}})
    await status_with(editor, 2)
    assert (await written(editor, uri))["unknownNames"] == 0


async def test_an_import_that_is_typed_is_read(scripted: StartScripted, project: Path) -> None:
    editor = await scripted(script=[INVENTED], folder=project)
    uri = (project / "main.py").as_uri()
    editor.open(uri, "python", "")
    editor.type(uri, "import tools\n")
    await status_with(editor, 1)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"completion": {"names": False}}, INVENTED),
        ({}, INVENTED.replace("import tools", "from hidden import tools")),
    ],
    ids=["switched off", "excluded"],
)
async def test_nothing_is_read(scripted: StartScripted, project: Path, options: dict[str, Any], text: str) -> None:
    editor = await scripted(script=[text], folder=project, options=options)
    uri, cursor = (project / "main.py").as_uri(), text.index("trimmed")
    editor.open(uri, "python", text[:cursor])
    # The document is read in the same order as another one, which tells when it was its turn.
    editor.open((project / "other.py").as_uri(), "python", "import math\n")
    if options:
        await editor.complete(uri, invoked=True)
        await editor.complete(uri, invoked=True)
        assert (await editor.status())["indexedModules"] == 0
    else:
        await status_with(editor, 1)
    assert await editor.complete(uri, invoked=True) == text[cursor:]
    assert (await editor.status())["unknownNames"] == 0


async def script_project(scripted: StartScripted, project: Path) -> tuple[Editor, str]:
    """Return an editor with a script that writes a name which the file that it imports does not export."""
    (project / "tools.ts").write_text("export function trim(text: string) {}\n")
    editor = await scripted(script=[SCRIPT], folder=project)
    uri = (project / "main.ts").as_uri()
    editor.open(uri, "typescript", SCRIPT[: SCRIPT.index("trimmed")])
    await status_with(editor, 1)
    return editor, uri


async def test_an_invented_name_of_a_script_is_noticed(scripted: StartScripted, project: Path) -> None:
    editor, uri = await script_project(scripted, project)
    assert await editor.complete(uri, invoked=True) == SCRIPT[SCRIPT.index("trimmed") :]
    assert (await editor.status())["unknownNames"] == 1


async def test_a_name_that_a_saved_script_passes_on_is_known(scripted: StartScripted, project: Path) -> None:
    editor, uri = await script_project(scripted, project)
    tools = project / "tools.ts"
    editor.open(tools.as_uri(), "typescript", tools.read_text())
    tools.write_text("export * from './more';\n")
    (project / "more.ts").write_text("export const trimmed = 1;\n")
    editor.notify("textDocument/didSave", {"textDocument": {"uri": tools.as_uri()}})
    await status_with(editor, 2)  # both are of the one document; the text of the other one is as it was
    assert await editor.complete(uri, invoked=True) == SCRIPT[SCRIPT.index("trimmed") :]
    assert (await editor.status())["unknownNames"] == 0
