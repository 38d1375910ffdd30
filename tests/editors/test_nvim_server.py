"""The plugin with a real server process: a scripted engine stands in for the model."""

from __future__ import annotations

import itertools
import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.editors.conftest import Neovim, Scripted

pytestmark = pytest.mark.editors

ADD = "def add(a, b):\n    return a + b\n"


def test_a_suggestion_is_shown_accepted_counted_and_undone(nvim: Neovim, scripted: Scripted) -> None:
    scripted(ADD)
    nvim.type("idef add(")
    nvim.wait_for_ghost("a, b):\n    return a + b")
    nvim.type("<Tab>")
    nvim.wait_for_text("def add(a, b):\n    return a + b")
    nvim.wait(lambda: _status(nvim).get("acceptedCompletions") == 1, "counted acceptance")
    nvim.type("<Esc>u")
    nvim.wait_for_text("def add(")


def test_typing_through_is_answered_from_the_cache(nvim: Neovim, scripted: Scripted) -> None:
    scripted(ADD)
    nvim.type("idef add(")
    nvim.wait_for_ghost("a, b):\n    return a + b")
    for key, ghost in (("a", ", b):\n    return a + b"), (",", " b):\n    return a + b")):
        nvim.type(key)
        nvim.wait_for_ghost(ghost)
    nvim.wait(lambda: _status(nvim)["reasons"].get("cached", 0) >= 1, "answer from the cache")
    nvim.type("x")
    nvim.wait_for_no_ghost()


def test_the_ghost_grows_while_the_model_writes(nvim: Neovim, scripted: Scripted) -> None:
    scripted("value = one_two_three_four_five\n", seconds_per_token=0.1)
    nvim.type("ivalue = ")
    shown: list[str] = []

    def complete() -> bool:
        ghost = nvim.ghost
        if ghost and (not shown or ghost != shown[-1]):
            shown.append(ghost)
        return ghost == "one_two_three_four_five"

    nvim.wait(complete, "whole suggestion")
    assert len(shown) > 2
    assert all(later.startswith(earlier) for earlier, later in itertools.pairwise(shown))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
def test_beside_emoji_and_cjk_in_every_encoding(nvim: Neovim, scripted: Scripted, encoding: str) -> None:
    nvim.lua("vim.lsp.config('spark_lsp', { capabilities = { general = { positionEncodings = { ... } } } })", encoding)
    scripted('s = "😀漢字é"; t = [1, "😀"]\n')
    assert nvim.lua("return vim.lsp.get_clients({ bufnr = 0 })[1].offset_encoding") == encoding
    nvim.type('is = "😀漢字é"; t')
    nvim.wait_for_ghost(' = [1, "😀"]')
    nvim.type("<M-Right><M-Right><Tab>!")
    nvim.wait_for_text('s = "😀漢字é"; t = [1, "😀"]!')


def test_a_file_with_crlf_is_written_back_byte_by_byte(nvim: Neovim, scripted: Scripted, tmp_path: Path) -> None:
    scripted("def add(a, b):\n    c = a\n    return c\n", content=b"# \xe6\xbc\xa2\r\n\r\n# end\r\n")
    nvim.type("jidef add(")
    nvim.wait_for_ghost("a, b):\n    c = a\n    return c")
    nvim.type("<Tab><Esc>:write<CR>")
    expected = b"# \xe6\xbc\xa2\r\ndef add(a, b):\r\n    c = a\r\n    return c\r\n# end\r\n"
    nvim.wait(lambda: (tmp_path / "work.py").read_bytes() == expected, "written file")


def test_a_suggestion_appears_when_the_model_has_loaded_without_another_key(nvim: Neovim, scripted: Scripted) -> None:
    scripted(ADD, load_seconds=1.0)
    nvim.type("idef add(")
    nvim.wait(lambda: "loading" in _statusline(nvim), "loading in the status line")
    nvim.wait_for_ghost("a, b):\n    return a + b")
    nvim.wait(lambda: _statusline(nvim) == "spark idle", "idle in the status line")


def test_a_model_that_cannot_be_loaded_is_explained_once(nvim: Neovim, scripted: Scripted) -> None:
    scripted(ADD, fail="The model is not here.")
    nvim.wait(lambda: "The model is not here." in nvim.messages, "message")
    nvim.type("idef add(<Esc>odef add(<Esc>")
    nvim.wait_for_mode("n")
    nvim.wait(lambda: _statusline(nvim) == "spark failed", "failure in the status line")
    assert nvim.messages.count("The model is not here.") == 1


def test_a_server_that_is_not_there_is_explained_once(nvim: Neovim, tmp_path: Path) -> None:
    nvim.set_up(cmd=["no-such-server", "--stdio"])
    nvim.edit(tmp_path / "one.py")
    nvim.edit(tmp_path / "two.py")
    nvim.type("idef add(a<BS>b<Esc>")
    nvim.wait_for_text("def add(b")
    assert nvim.messages == ""
    [message] = nvim.notifications
    assert "`no-such-server` was not found" in message
    assert "Install spark-lsp" in message
    assert _statusline(nvim) == "spark stopped"


def test_nobody_is_told_about_a_missing_server_before_it_is_needed(nvim: Neovim, tmp_path: Path) -> None:
    nvim.set_up(cmd=["no-such-server"], filetypes=["lua"])
    nvim.edit(tmp_path / "one.py")
    nvim.stays(lambda: nvim.notifications == [], "silence")
    nvim.edit(tmp_path / "one.lua")
    nvim.wait(lambda: len(nvim.notifications) == 1, "message")


def test_typing_goes_on_when_the_server_dies_and_restart_brings_it_back(nvim: Neovim, scripted: Scripted) -> None:
    scripted(ADD)
    nvim.type("idef add(")
    nvim.wait_for_ghost("a, b):\n    return a + b")
    os.kill(_server_process(nvim), signal.SIGKILL)
    nvim.wait(lambda: _statusline(nvim) == "spark stopped", "end of the server")
    nvim.type("x, <Tab>b<BS><CR>c<Esc>ddA")
    nvim.wait(lambda: nvim.text.startswith("def add(x, ") and nvim.mode == "i", "text without a server")
    nvim.type("<C-u>def add(")
    nvim.wait_for_text("def add(")
    assert nvim.messages == ""
    assert len(nvim.notifications) == 1  # Neovim's own: the client quit with signal 9
    nvim.type("<Esc>:Spark restart<CR>")
    nvim.wait_for_client()
    nvim.type("A")
    nvim.wait_for_ghost("a, b):\n    return a + b")


def test_restart_replaces_a_running_server_for_every_buffer(nvim: Neovim, scripted: Scripted, tmp_path: Path) -> None:
    scripted(ADD)
    nvim.lua("vim.o.hidden = true")
    nvim.edit(tmp_path / "other.py")
    nvim.wait_for_client()
    before = _server_process(nvim)
    nvim.lua("require('spark').restart()")
    nvim.wait(lambda: _clients(nvim) and _server_process(nvim) not in (0, before), "another server process")
    nvim.wait(lambda: len(_clients(nvim)[0]["buffers"]) == 2, "both buffers attached")
    nvim.type("idef add(")
    nvim.wait_for_ghost("a, b):\n    return a + b")
    assert nvim.notifications == []


def test_one_server_serves_all_projects(nvim: Neovim, scripted: Scripted, tmp_path: Path) -> None:
    scripted(ADD)
    for project in ("one", "two"):
        (tmp_path / project / ".git").mkdir(parents=True)
        nvim.edit(tmp_path / project / "a.py")
        nvim.wait_for_client()
    assert len(_clients(nvim)) == 1


def test_the_settings_reach_the_server(nvim: Neovim, scripted: Scripted) -> None:
    scripted(ADD, options={"settings": {"completion": {"maxLines": 1}}})
    nvim.type("idef add(")
    nvim.wait_for_ghost("a, b):")


def test_the_status_command_shows_engine_and_model(nvim: Neovim, scripted: Scripted) -> None:
    scripted(ADD)
    nvim.wait(lambda: _statusline(nvim) == "spark idle", "idle engine")
    nvim.api.command("Spark")
    nvim.wait(lambda: nvim.notifications == ["spark: on, idle, scripted"], "status message")


def test_enabling_the_client_by_hand_is_enough(nvim: Neovim, tmp_path: Path) -> None:
    nvim.lua("vim.lsp.config('spark_lsp', { cmd = canned.cmd })")
    nvim.lua("canned.items = { { insertText = 'by default' } }; vim.lsp.enable('spark_lsp')")
    nvim.edit(tmp_path / "work.py")
    nvim.wait_for_client()
    nvim.type("i")
    nvim.wait_for_ghost("by default")


def test_neovim_leaves_no_server_behind(nvim: Neovim, scripted: Scripted) -> None:
    scripted(ADD)
    process = _server_process(nvim)
    nvim.close()
    nvim.wait(lambda: not _exists(process), "end of the server")


def _exists(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return sys.platform != "linux" or "Z" not in Path(f"/proc/{process}/stat").read_text().rpartition(")")[2][:3]


def _clients(nvim: Neovim) -> list[dict[str, list[int]]]:
    return list(
        nvim.lua(
            "return vim.tbl_map(function(client) return { buffers = vim.tbl_keys(client.attached_buffers) } end,"
            "vim.lsp.get_clients({ name = 'spark_lsp' }))"
        )
    )


def _status(nvim: Neovim) -> dict[str, Any]:
    nvim.lua("answer = nil; require('spark').status(function(status) answer = status or {} end)")
    status: dict[str, Any] = nvim.wait(lambda: nvim.lua("return answer"), "status")
    return status


def _statusline(nvim: Neovim) -> str:
    return str(nvim.lua("return require('spark').statusline()"))


def _server_process(nvim: Neovim) -> int:
    """The process that Neovim started, or 0."""
    return int(nvim.lua("return vim.api.nvim_get_proc_children(vim.uv.os_getpid())[1] or 0"))
