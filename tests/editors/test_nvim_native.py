"""Neovim 0.12 has inline completion of its own. Its module is replaced by a stub that records how it is called."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.editors.conftest import Neovim

pytestmark = pytest.mark.editors

STUB = """
calls, shown = {}, false
vim.lsp.inline_completion = {
  enable = function(on, filter) table.insert(calls, { 'enable', on, filter.client_id ~= nil }) end,
  select = function(options) table.insert(calls, { 'select', options.count }) end,
  get = function(options)
    if not shown then return false end
    local item = {
      insert_text = 'return first, second',
      range = { start = { row = 0, col = 0 }, end_ = { row = 0, col = 3 } },
    }
    vim.schedule(function()
      if options and options.on_accept then
        options.on_accept(item)
      else
        vim.api.nvim_buf_set_text(0, 0, 0, 0, 3, { item.insert_text })
      end
    end)
    return true
  end,
}
"""


@pytest.fixture
def native(nvim: Neovim, tmp_path: Path) -> Neovim:
    nvim.lua(STUB)
    nvim.lua("require('spark').setup({ cmd = canned.cmd, debounce_ms = 0 })")
    nvim.edit(tmp_path / "work.py")
    nvim.wait_for_client()
    nvim.lua("vim.bo.expandtab = false")
    return nvim


def test_it_is_turned_on_for_our_client_and_off_again(native: Neovim) -> None:
    native.wait(lambda: native.lua("return calls") == [["enable", True, True]], "enabled inline completion")
    native.lua("require('spark').disable()")
    assert native.lua("return calls[#calls]") == ["enable", False, True]


def test_the_plugin_asks_and_draws_nothing_itself(native: Neovim) -> None:
    native.lua("canned.items = { { insertText = 'ghost' } }")
    native.type("ia")
    native.stays(lambda: native.ghost is None and native.lua("return #canned.requests") == 0, "silence")


@pytest.mark.parametrize(
    "key, text",
    [("<Tab>", "return first, second"), ("<M-Right>", "return"), ("<M-C-Right>", "return first, second")],
)
def test_the_same_keys_accept(native: Neovim, key: str, text: str) -> None:
    native.lua("shown = true")
    native.type("iret")
    native.wait_for_text("ret")
    native.type(key)
    native.wait_for_text(text)


def test_the_same_keys_cycle_and_dismiss(native: Neovim) -> None:
    native.lua("calls, shown = {}, true")
    native.type("iret<M-]><M-[><C-]>")
    native.wait(lambda: native.lua("return calls") == [["select", 1], ["select", -1]], "selected items")
    assert native.text == "ret"


def test_tab_is_a_tab_when_neovim_shows_nothing(native: Neovim) -> None:
    native.type("ia<Tab>b")
    native.wait_for_text("a\tb")


def test_our_own_display_can_be_forced(nvim: Neovim, tmp_path: Path) -> None:
    nvim.lua(STUB)
    nvim.lua("require('spark').setup({ cmd = canned.cmd, debounce_ms = 0, native = false })")
    nvim.edit(tmp_path / "work.py")
    nvim.wait_for_client()
    nvim.lua("canned.items = { { insertText = 'ghost' } }")
    nvim.type("i")
    nvim.wait_for_ghost("ghost")
    assert nvim.lua("return calls") == []
