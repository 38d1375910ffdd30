"""Rules, settings and folders that change under the server."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from spark_lsp.server.editor import Editor
from tests.lsp.conftest import CAPABILITIES, StartScripted, sent, until

WATCHING = {
    **CAPABILITIES,
    "workspace": {"workspaceFolders": True, "didChangeWatchedFiles": {"dynamicRegistration": True}},
}
SCRIPT = ["def f():\n    a = 1\n    b = 2\n"]


def changed(editor: Editor, *files: Path) -> None:
    changes = [{"uri": file.as_uri(), "type": 2} for file in files]
    editor.notify("workspace/didChangeWatchedFiles", {"changes": changes})


async def becomes(editor: Editor, uri: str, reason: str) -> None:
    async def found() -> bool:
        await editor.complete(uri)
        return str((await editor.status())["lastReason"]) == reason

    await until(found)


async def test_the_files_are_watched_by_a_client_that_can(scripted: StartScripted) -> None:
    editor = await scripted(client={"capabilities": WATCHING})

    async def registrations() -> list[Any]:
        return sent(editor, "client/registerCapability")

    (registration,) = (await until(registrations))[0]["registrations"]
    assert registration["method"] == "workspace/didChangeWatchedFiles"
    patterns = {watcher["globPattern"] for watcher in registration["registerOptions"]["watchers"]}
    assert patterns == {"**/.gitignore", "**/.sparkignore", "**/spark-lsp.toml"}


async def test_other_clients_are_not_asked(scripted: StartScripted) -> None:
    editor = await scripted()
    await editor.status()
    assert sent(editor, "client/registerCapability") == []


async def test_rules_that_change_on_the_disk_hold_for_open_documents(scripted: StartScripted, tmp_path: Path) -> None:
    editor = await scripted(script=SCRIPT, folder=tmp_path)
    uri, rules = (tmp_path / "a.py").as_uri(), tmp_path / ".sparkignore"
    editor.open(uri, "python", "def f():\n")
    await becomes(editor, uri, "shown")
    rules.write_text("a.py\n")
    changed(editor, rules)
    await becomes(editor, uri, "excluded")
    rules.unlink()
    changed(editor, rules, tmp_path / "other.txt")
    await becomes(editor, uri, "shown")


async def test_a_settings_file_that_changes_on_the_disk_holds(scripted: StartScripted, tmp_path: Path) -> None:
    editor = await scripted(script=SCRIPT, folder=tmp_path)
    uri, file = (tmp_path / "a.py").as_uri(), tmp_path / "spark-lsp.toml"
    editor.open(uri, "python", "def f():\n")
    file.write_text("[completion]\nenabled = false\n")
    changed(editor, file)
    await becomes(editor, uri, "disabled")
    file.unlink()
    changed(editor, file)
    await becomes(editor, uri, "shown")


async def test_workspace_folders_that_come_and_go_bring_their_rules_and_settings(
    scripted: StartScripted, tmp_path: Path
) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    for folder in (one, two / "inner"):
        folder.mkdir(parents=True)
    (two / ".sparkignore").write_text("inner/\n")
    (two / "spark-lsp.toml").write_text("[completion]\nmaxLines = 1\n")
    folders = [{"uri": one.as_uri(), "name": "one"}]
    editor = await scripted(script=SCRIPT, client={"workspaceFolders": folders, "rootUri": one.as_uri()})
    supported = editor.capabilities["workspace"]["workspaceFolders"]
    assert (supported["supported"], supported["changeNotifications"]) == (True, True)
    inside, beside = (two / "inner" / "a.py").as_uri(), (one / "b.py").as_uri()
    editor.open(inside, "python", "def f():\n")
    editor.open(beside, "python", "def f():\n")
    await becomes(editor, inside, "shown")
    assert len((await editor.complete(beside, invoked=True)).splitlines()) == 2
    event = {"added": [{"uri": two.as_uri(), "name": "two"}], "removed": []}
    editor.notify("workspace/didChangeWorkspaceFolders", {"event": event})
    await becomes(editor, inside, "excluded")
    assert len((await editor.complete(beside, invoked=True)).splitlines()) == 1
    event = {"added": [], "removed": [{"uri": two.as_uri(), "name": "two"}]}
    editor.notify("workspace/didChangeWorkspaceFolders", {"event": event})
    await becomes(editor, inside, "shown")
    assert len((await editor.complete(beside, invoked=True)).splitlines()) == 2


async def test_closing_documents_frees_what_was_kept_for_them(scripted: StartScripted) -> None:
    # What the drafters learn from a text stays, and is bounded; the text itself does not.
    options = {"context": {"recent": True, "snippets": True}, "completion": {"workspace": False}}
    editor = await scripted(script=SCRIPT, trace=True, options=options)
    text = "value = 'some text that is long enough'\n" * 2000 + "def f():\n"

    async def once(number: int) -> None:
        uri = f"untitled:{number}.py"
        editor.open(uri, "python", text)
        await editor.complete(uri)
        editor.type(uri, "    a")
        await editor.complete(uri)
        editor.close(uri)

    for number in range(3):
        await once(number)
    before = (await editor.request("test/memory", None))["bytes"]
    for number in range(3, 9):
        await once(number)

    async def freed() -> bool:
        now = (await editor.request("test/memory", None))["bytes"]
        return bool(now - before < 2 * len(text))

    await until(freed)
    assert (await editor.status())["documents"] == 0
