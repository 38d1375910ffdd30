"""What Neovim 0.10 lacks is taken away from the real one: functions with a client as `self`, `vim.lsp.enable`, and
string encodings by name. It stands in for a real 0.10, for which there is no package."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.editors.conftest import CannedServer, Neovim, Scripted

pytestmark = pytest.mark.editors

TAKE_AWAY = """
local has = vim.fn.has
vim.fn.has = function(feature) return feature == 'nvim-0.11' and 0 or has(feature) end
vim.deprecate = function() end -- the old ways are what is tested
vim.lsp.enable, vim.lsp.config = nil, nil
"""


@pytest.fixture
def older(nvim: Neovim) -> Neovim:
    nvim.lua(TAKE_AWAY)
    return nvim


def test_the_file_type_starts_the_server_and_everything_works(older: Neovim, scripted: Scripted) -> None:
    scripted("def add(a, b):\n    return a + b\n")
    older.type("idef add(")
    older.wait_for_ghost("a, b):\n    return a + b")
    older.type("a<M-Right><Tab>")
    older.wait_for_text("def add(a, b):\n    return a + b")
    older.type("<Esc>:Spark restart<CR>")
    older.wait(lambda: older.lua("return require('spark').statusline()") == "spark idle", "restarted server")
    assert (older.notifications, older.messages) == ([], "")


@pytest.mark.parametrize("encoding, column", [("utf-8", 11), ("utf-16", 5), ("utf-32", 4)])
def test_columns_are_counted_as_the_server_counts(
    older: Neovim, canned: CannedServer, encoding: str, column: int
) -> None:
    canned.restart(encoding)
    older.api.current.buffer[:] = ["😀漢字 ret"]
    where = {"start": {"line": 0, "character": column}, "end": {"line": 0, "character": column + 3}}
    canned.answer({"insertText": "return", "range": where})
    older.type("A")
    older.wait_for_ghost("urn")
    assert canned.requests[-1]["position"] == {"line": 0, "character": column + 3}


def test_a_wrong_option_is_named(older: Neovim) -> None:
    message = "return select(2, pcall(require('spark').setup, { debounce_ms = 'fast' }))"
    assert "spark.debounce_ms: expected number, got string" in older.lua(message)


def test_a_missing_server_is_explained_once(older: Neovim, tmp_path: Path) -> None:
    older.set_up(cmd=["no-such-server"])
    for name in ("one.py", "two.py"):
        older.edit(tmp_path / name)
    assert len(older.notifications) == 1
    assert older.messages == ""
