"""What other servers find wrong goes to a server that wants to know."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.editors.conftest import Neovim

pytestmark = pytest.mark.editors

SET = "vim.diagnostic.set(vim.api.nvim_create_namespace('other'), 0, ...)"
FOUND = [
    {"lnum": 1, "col": 0, "end_lnum": 1, "end_col": 3, "severity": 2, "message": "a warning"},
    {"lnum": 0, "col": 2, "severity": 1, "message": "an error", "source": "checker"},
    {"lnum": 0, "col": 0, "severity": 4, "message": "a hint"},
]


def start(nvim: Neovim, tmp_path: Path, *, wanted: bool) -> None:
    nvim.lua("canned.experimental = { sparkDiagnostics = ... }", wanted)
    nvim.lua("require('spark').setup({ cmd = canned.cmd, debounce_ms = 0 })")
    (tmp_path / "work.py").write_text("x = y\nimport os\n")
    nvim.edit(tmp_path / "work.py")
    nvim.wait_for_client()


def sent(nvim: Neovim) -> list[dict[str, Any]]:
    """What was sent of the file, in order."""
    messages = nvim.lua("return canned.diagnostics")
    return [message for message in messages if message["uri"].endswith("work.py")]


def test_errors_and_warnings_are_sent_whenever_they_change(nvim: Neovim, tmp_path: Path) -> None:
    start(nvim, tmp_path, wanted=True)
    nvim.wait(lambda: sent(nvim), "what is known when the server comes up")
    nvim.lua(SET, FOUND)
    nvim.wait(lambda: sent(nvim)[-1]["diagnostics"], "news")
    error, warning = sent(nvim)[-1]["diagnostics"]
    assert (error["message"], error["severity"], error["source"]) == ("an error", 1, "checker")
    assert error["range"] == {"start": {"line": 0, "character": 2}, "end": {"line": 0, "character": 2}}
    assert warning["range"] == {"start": {"line": 1, "character": 0}, "end": {"line": 1, "character": 3}}
    assert sent(nvim)[-1]["uri"] == (tmp_path / "work.py").as_uri()
    nvim.lua(SET, [])
    nvim.wait(lambda: not sent(nvim)[-1]["diagnostics"], "news that nothing is wrong any more")


def test_nothing_is_sent_to_a_server_that_does_not_ask(nvim: Neovim, tmp_path: Path) -> None:
    start(nvim, tmp_path, wanted=False)
    nvim.lua(SET, FOUND)
    nvim.stays(lambda: sent(nvim) == [], "silence")


def test_nothing_is_sent_of_a_buffer_without_the_server(nvim: Neovim, tmp_path: Path) -> None:
    start(nvim, tmp_path, wanted=True)
    nvim.wait(lambda: sent(nvim), "what is known when the server comes up")
    nvim.lua("vim.cmd.enew(); vim.bo.buftype = 'nofile'")
    nvim.lua(SET, FOUND)
    nvim.stays(lambda: not any(m["diagnostics"] for m in nvim.lua("return canned.diagnostics")), "silence")
