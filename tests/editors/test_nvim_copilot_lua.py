"""copilot.lua, the plugin as it is, in a real Neovim with our server in place of the one it was written for.

The plugin is not ours and not in this repository. `SPARK_LSP_COPILOT_LUA` names a checkout; otherwise git may fetch it.
Where neither works, what it sends is replayed from a session that was recorded here.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from spark_lsp.server.editor import Editor
from tests.editors.conftest import HERE, REPOSITORY, Neovim

pytestmark = pytest.mark.editors

SOURCE = "https://github.com/zbirenbaum/copilot.lua"
COMMIT = "760912b5992e1d6437378a9c7f2b0cb950966cf5"
"""Of 30 June 2026; the session was recorded with it."""
FETCH_SECONDS = 20.0
"""Tests do not wait longer for a plugin that they can do without."""
READY_SECONDS = 60.0
SCRIPT = ["value = compute(1, 2)", "def area(self):\n        return self.width * self.height"]
BODY = "\n        return self.width * self.height"

SETUP = """
local folder, server = ...
vim.opt.runtimepath:prepend(folder)
require('copilot').setup({
  server = { type = 'binary', custom_server_filepath = server },
  filetypes = { ['*'] = true },
  panel = { enabled = true },
  suggestion = { auto_trigger = true, keymap = { accept = '<Tab>', accept_word = '<C-l>', next = '<C-n>' } },
})
"""
GHOST = """
local namespace = vim.api.nvim_get_namespaces()['copilot.suggestion']
local mark = vim.api.nvim_buf_get_extmarks(0, namespace, 0, -1, { details = true })[1]
if not mark then return vim.NIL end
local lines = { '' }
for _, chunk in ipairs(mark[4].virt_text or {}) do lines[1] = lines[1] .. chunk[1] end
for _, line in ipairs(mark[4].virt_lines or {}) do lines[#lines + 1] = line[1][1] end
return table.concat(lines, '\\n')
"""


@pytest.fixture(scope="session")
def copilot_lua(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the plugin."""
    named = os.environ.get("SPARK_LSP_COPILOT_LUA")
    if named:
        assert (Path(named) / "lua" / "copilot" / "init.lua").is_file(), "SPARK_LSP_COPILOT_LUA has no copilot.lua"
        return Path(named)
    folder = tmp_path_factory.mktemp("copilot.lua")
    commands = (
        ["init", "--quiet"],
        ["remote", "add", "origin", SOURCE],
        ["fetch", "--quiet", "--depth=1", "--filter=blob:none", "origin", COMMIT],
        ["checkout", "--quiet", COMMIT, "--", "lua", "plugin"],  # the rest is the other server, 100 MB of it
    )
    try:
        for command in commands:
            subprocess.run(
                ["git", "-C", str(folder), *command],
                env={**os.environ, "GIT_TERMINAL_PROMPT": "0"},
                timeout=FETCH_SECONDS,
                check=True,
                capture_output=True,
            )
    except (OSError, subprocess.SubprocessError):
        pytest.skip("copilot.lua is not on this machine and cannot be fetched; its recorded session is replayed")
    return folder


class Plugin:
    """A Neovim in which copilot.lua talks to our server."""

    def __init__(self, nvim: Neovim) -> None:
        self.nvim = nvim

    @property
    def ghost(self) -> Any:
        return self.nvim.lua(GHOST)

    def wait_for_ghost(self, text: str) -> None:
        self.nvim.wait(lambda: self.ghost == text, f"ghost {text!r} of copilot.lua")


@pytest.fixture
def plugin(nvim: Neovim, copilot_lua: Path, tmp_path: Path) -> Plugin:
    plan, server, file = tmp_path / "plan.json", tmp_path / "server", tmp_path / "work.py"
    plan.write_text(json.dumps({"script": SCRIPT}))
    command = shlex.join([sys.executable, "-m", "tests.lsp.scripted_server", str(plan)])
    server.write_text(f"#!/bin/sh\ncd {shlex.quote(str(REPOSITORY))} && exec {command}\n")
    server.chmod(0o755)
    file.write_text("")
    nvim.edit(file)
    nvim.lua(SETUP, str(copilot_lua), str(server))
    nvim.wait(lambda: nvim.lua("return require('copilot.client').initialized"), "client of copilot.lua")
    nvim.wait(lambda: nvim.lua("return require('copilot.status').data.status") == "Normal", "model", READY_SECONDS)
    return Plugin(nvim)


def test_ghost_text_is_shown_typed_along_and_accepted(plugin: Plugin) -> None:
    nvim = plugin.nvim
    nvim.type("ivalue = ")
    plugin.wait_for_ghost("compute(1, 2)")
    nvim.type("com")
    plugin.wait_for_ghost("pute(1, 2)")
    nvim.type("<Tab>")
    nvim.wait_for_text("value = compute(1, 2)")
    nvim.type("<CR>def area(self):")
    plugin.wait_for_ghost(BODY)
    nvim.type("<Tab>")
    nvim.wait_for_text("value = compute(1, 2)\ndef area(self):" + BODY)
    assert nvim.notifications == []


def test_words_are_accepted_on_a_line_that_is_longer_in_bytes_than_in_utf_16(plugin: Plugin) -> None:
    nvim = plugin.nvim
    nvim.type("is = '😀 世界'; value = ")
    plugin.wait_for_ghost("compute(1, 2)")
    nvim.type("<Tab>")
    nvim.wait_for_text("s = '😀 世界'; value = compute(1, 2)")
    nvim.type("<CR>value = ")
    plugin.wait_for_ghost("compute(1, 2)")
    nvim.type("<C-l>")
    nvim.wait(lambda: nvim.lines[-1] == "value = compute", "accepted word")
    assert nvim.notifications == []


def test_saving_undoing_and_asking_for_more_raise_no_error(plugin: Plugin) -> None:
    nvim = plugin.nvim
    nvim.type("ivalue = ")
    plugin.wait_for_ghost("compute(1, 2)")
    nvim.type("<C-n>")
    nvim.wait(lambda: str(plugin.ghost).startswith("compute(1, 2) (1/"), "number of the first text")
    nvim.type("x<Esc>u")
    nvim.wait_for_mode("n")
    nvim.type("ivalue = <Esc>")
    nvim.wait_for_text("value = ")
    nvim.api.command("silent write")
    nvim.type("A")
    plugin.wait_for_ghost("compute(1, 2)")
    nvim.type("<Esc>")
    nvim.wait_for_mode("n")
    nvim.lua("require('copilot.panel').open({})")
    nvim.wait(lambda: "compute(1, 2)" in nvim.lines, "solution in the panel")
    assert nvim.notifications == []


async def test_the_recorded_session_is_answered_as_it_was(tmp_path: Path) -> None:
    session = json.loads((HERE / "copilot_lua_session.json").read_text())
    plan, uri = tmp_path / "plan.json", (tmp_path / "work.py").as_uri()
    plan.write_text(json.dumps({"script": session["script"]}))
    editor = Editor(
        [sys.executable, "-m", "tests.lsp.scripted_server", str(plan)],
        environment={"PYTHONPATH": str(REPOSITORY)},
        encodings=session["positionEncodings"],
    )
    try:
        await editor.start(session["initializationOptions"])
        assert editor.capabilities["positionEncoding"] == "utf-16"
        await editor.ready(READY_SECONDS)
        names: dict[str, Any] = {"$URI": uri}
        for step in session["steps"]:
            params = renamed(step["params"], lambda name: names.get(name, name))
            if "notify" in step:
                editor.notify(step["notify"], params)
                continue
            result = await editor.request(step["request"], params)
            for expected, given in matched(step["result"], result):
                names.setdefault(expected, given)
            assert result == renamed(step["result"], lambda name: names.get(name, name)), step["request"]
        status = await editor.status()
        assert (status["shown"] > 0, status["acceptedCompletions"]) == (True, 1)
    finally:
        assert await editor.stop() == 0


def renamed(value: Any, name: Callable[[str], Any]) -> Any:
    """`value` with every string replaced by what `name` makes of it."""
    if isinstance(value, dict):
        return {key: renamed(item, name) for key, item in value.items()}
    if isinstance(value, list):
        return [renamed(item, name) for item in value]
    return name(value) if isinstance(value, str) else value


def matched(expected: Any, given: Any) -> list[tuple[str, Any]]:
    """What stands in an answer where the recording has a name (`$UUID1`)."""
    if isinstance(expected, dict) and isinstance(given, dict):
        return [pair for key in expected for pair in matched(expected[key], given.get(key))]
    if isinstance(expected, list) and isinstance(given, list):
        return [pair for one, other in zip(expected, given, strict=False) for pair in matched(one, other)]
    return [(expected, given)] if isinstance(expected, str) and expected.startswith("$") else []
