"""When Neovim shows ghost text, and when it does not."""

from __future__ import annotations

import pytest

from tests.editors.conftest import CannedServer, Neovim

pytestmark = pytest.mark.editors


def test_entering_insert_mode_shows_the_suggestion_at_the_cursor(nvim: Neovim, canned: CannedServer) -> None:
    nvim.api.current.buffer[:] = ["x = ", "y"]
    canned.answer("1 + 2")
    nvim.type("A")
    nvim.wait_for_ghost("1 + 2")
    assert (nvim.ghost_row, nvim.ghost_column) == (0, 4)


def test_further_lines_are_shown_below(nvim: Neovim, canned: CannedServer) -> None:
    canned.show("for x in y:\n    print(x)\n\nprint(y)")
    assert nvim.lines == [""]


def test_tabs_are_shown_as_wide_as_they_will_be(nvim: Neovim, canned: CannedServer) -> None:
    nvim.lua("vim.bo.tabstop = 4")
    nvim.api.current.buffer[:] = ["ab"]
    canned.answer("\tc\n\t\td")
    nvim.type("A")
    nvim.wait_for_ghost("  c\n        d")


def test_typing_what_is_shown_shortens_it_without_the_server(nvim: Neovim, canned: CannedServer) -> None:
    canned.show("return total")
    nvim.lua("hidden = 0; local r = require('spark.render'); r.clear = function() hidden = hidden + 1 end")
    for typed in ("r", "e", "t"):
        nvim.type(typed)
    nvim.wait_for_ghost("urn total")
    assert nvim.lua("return hidden") == 0


def test_typing_through_a_line_end_shortens_it_too(nvim: Neovim, canned: CannedServer) -> None:
    nvim.lua("vim.bo.indentexpr = ''; vim.bo.autoindent = false")
    canned.show("if x:\n  y()")
    nvim.type("if x:<CR>  y")
    nvim.wait_for_ghost("()")
    assert nvim.lines == ["if x:", "  y"]


def test_a_suggestion_that_was_typed_to_its_end_is_gone(nvim: Neovim, canned: CannedServer) -> None:
    canned.show("pass")
    nvim.type("pas")
    nvim.wait_for_ghost("s")
    nvim.type("s")
    nvim.wait_for_no_ghost()


@pytest.mark.parametrize("keys", ["x", "<Left>", "<BS>", "<CR>", "<Down>", "<C-w>", "<C-o>0"])
def test_anything_else_hides_it(nvim: Neovim, canned: CannedServer, keys: str) -> None:
    nvim.api.current.buffer[:] = ["a = b", "c"]
    canned.answer("ghost")
    nvim.type("A")
    nvim.wait_for_ghost("ghost")
    canned.hold()
    nvim.type(keys)
    nvim.wait_for_no_ghost()


@pytest.mark.parametrize("keys", ["<Right>", "<Del>"])
def test_what_stands_after_the_cursor_is_not_taken_for_typed(nvim: Neovim, canned: CannedServer, keys: str) -> None:
    nvim.api.current.buffer[:] = ["rest"]
    canned.show("ret")
    nvim.type(keys)
    nvim.wait_for_no_ghost()


def test_what_stands_in_the_next_line_is_not_taken_for_typed(nvim: Neovim, canned: CannedServer) -> None:
    nvim.api.current.buffer[:] = ["if x:", "  y"]
    canned.answer("\n  y()")
    nvim.type("A")
    nvim.wait_for_ghost("\n  y()")
    canned.hold()
    nvim.type("<Down><End>")
    nvim.wait_for_no_ghost()


@pytest.mark.parametrize("change", ["set_text(0, 0, 0, 0, 1, { 'y' })", "set_lines(0, 0, 0, true, { 'new' })"])
def test_a_change_before_it_hides_it(nvim: Neovim, canned: CannedServer, change: str) -> None:
    nvim.api.current.buffer[:] = ["x = "]
    canned.answer("1")
    nvim.type("A")
    nvim.wait_for_ghost("1")
    canned.hold()
    nvim.lua(f"vim.api.nvim_buf_{change}; vim.api.nvim_exec_autocmds('TextChangedI', {{}})")
    nvim.wait_for_no_ghost()


@pytest.mark.parametrize("keys", ["<Esc>", "<C-c>"])
def test_leaving_insert_mode_hides_it_and_cancels(nvim: Neovim, canned: CannedServer, keys: str) -> None:
    canned.show("return")
    nvim.type("r")
    canned.wait_for_requests(2)
    nvim.type(keys)
    nvim.wait_for_no_ghost()
    nvim.wait(lambda: canned.cancelled == 1, "cancelled request")
    canned.respond(2, "eturn")
    nvim.stays(lambda: nvim.ghost is None, "absence of ghost text")


def test_it_does_not_stay_behind_in_another_buffer(nvim: Neovim, canned: CannedServer) -> None:
    canned.show("return")
    nvim.type("<Cmd>new<CR>")
    marks = "return #vim.api.nvim_buf_get_extmarks(1, vim.api.nvim_get_namespaces().spark, 0, -1, {})"
    nvim.wait(lambda: nvim.lua(marks) == 0, "clean buffer")


def test_disabling_removes_every_autocommand(nvim: Neovim, canned: CannedServer) -> None:
    canned.show("return")
    groups = "return #vim.fn.getcompletion('spark.show', 'augroup')"
    assert nvim.lua(groups) == 1
    assert nvim.lua("return require('spark').toggle()") is False
    nvim.wait_for_no_ghost()
    assert nvim.lua(groups) == 0
    nvim.lua("canned.held = false")
    assert nvim.lua("return require('spark').toggle()") is True
    nvim.wait_for_ghost("return")


def test_no_key_asks_while_suggestions_are_off(nvim: Neovim, canned: CannedServer) -> None:
    nvim.lua("require('spark').disable()")
    canned.answer("ghost")
    nvim.type("ia<M-]>b")
    nvim.wait_for_text("ab")
    nvim.stays(lambda: nvim.ghost is None and canned.requests == [], "silence")


def test_a_menu_that_opens_before_the_answer_keeps_it_away(nvim: Neovim, canned: CannedServer) -> None:
    nvim.lua(
        "menu = false; require('spark').setup({ cmd = canned.cmd, debounce_ms = 0,"
        "popup_menu_visible = function() return menu end })"
    )
    canned.hold()
    nvim.type("i")
    canned.wait_for_requests(1)
    nvim.lua("menu = true")
    canned.respond(1, "ghost")
    nvim.stays(lambda: nvim.ghost is None, "absence of ghost text")


def test_a_dismissed_suggestion_stays_away_until_something_changes(nvim: Neovim, canned: CannedServer) -> None:
    canned.answer("return")
    nvim.type("i")
    nvim.wait_for_ghost("return")
    nvim.type("<C-]>")
    nvim.wait_for_no_ghost()
    nvim.stays(lambda: nvim.ghost is None, "absence of ghost text")
    nvim.type("a")
    nvim.wait_for_ghost("return")


def test_a_range_says_where_the_text_begins(nvim: Neovim, canned: CannedServer) -> None:
    nvim.api.current.buffer[:] = ["x = ret"]
    canned.answer({"insertText": "return y", "range": _on_line(0, 4, 7)})
    nvim.type("A")
    nvim.wait_for_ghost("urn y")


@pytest.mark.parametrize(
    "item",
    [
        {"insertText": "other", "range": {"start": {"line": 0, "character": 4}, "end": {"line": 0, "character": 7}}},
        {"insertText": "ret", "range": {"start": {"line": 0, "character": 4}, "end": {"line": 0, "character": 7}}},
        {"insertText": "ret", "range": {"start": {"line": 0, "character": 4}, "end": {"line": 1, "character": 0}}},
        {"insertText": {"kind": "snippet", "value": "x"}},
        {"insertText": ""},
        {},
    ],
    ids=["another word", "nothing new", "two lines", "snippet", "empty", "no text"],
)
def test_an_item_that_cannot_be_shown_is_left_out(nvim: Neovim, canned: CannedServer, item: dict[str, object]) -> None:
    nvim.api.current.buffer[:] = ["x = ret", ""]
    canned.answer(item)
    nvim.type("A")
    canned.wait_for_requests(1)
    nvim.stays(lambda: nvim.ghost is None, "absence of ghost text")
    assert (nvim.notifications, nvim.messages) == ([], "")


def test_the_popup_menu_hides_it_and_gives_it_back(nvim: Neovim, canned: CannedServer) -> None:
    nvim.api.current.buffer[:] = ["retry return", ""]
    nvim.lua("vim.o.completeopt = 'menuone,noselect'")
    canned.answer("ghost")
    nvim.type("Gire")
    nvim.wait_for_ghost("ghost")
    nvim.type("<C-n>")
    nvim.wait(lambda: nvim.lua("return vim.fn.pumvisible()"), "popup menu")
    nvim.wait_for_no_ghost()
    nvim.type("t")
    nvim.stays(lambda: nvim.ghost is None, "absence of ghost text")
    nvim.type("<C-e>")
    nvim.wait_for_ghost("ghost")


def test_a_menu_that_a_plugin_opens_and_closes_does_the_same(nvim: Neovim, canned: CannedServer) -> None:
    nvim.lua("vim.o.completeopt = 'menuone,noselect,noinsert'")
    canned.show("ghost")
    nvim.lua("canned.held = false")
    nvim.lua("vim.fn.complete(1, { 'retry', 'return' })")
    nvim.wait(lambda: nvim.lua("return vim.fn.pumvisible()"), "popup menu")
    nvim.wait_for_no_ghost()
    nvim.lua("vim.fn.complete(1, {})")
    nvim.wait(lambda: not nvim.lua("return vim.fn.pumvisible()"), "end of the popup menu")
    nvim.wait_for_ghost("ghost")


def test_both_may_be_shown_together(nvim: Neovim, canned: CannedServer) -> None:
    nvim.lua("require('spark').setup({ cmd = canned.cmd, debounce_ms = 0, hide_on_popup_menu = false })")
    nvim.api.current.buffer[:] = ["retry return", ""]
    nvim.lua("vim.o.completeopt = 'menuone,noselect'")
    canned.answer("ghost")
    nvim.type("Gire<C-n>")
    nvim.wait(lambda: nvim.lua("return vim.fn.pumvisible()"), "popup menu")
    nvim.wait_for_ghost("ghost")


def test_the_text_that_will_be_replaced_is_marked(nvim: Neovim, canned: CannedServer) -> None:
    nvim.api.current.buffer[:] = ["f(old)"]
    canned.answer({"insertText": "new, newer)", "range": _on_line(0, 2, 6)})
    nvim.type("fo")
    nvim.type("i")
    nvim.wait_for_ghost("new, newer)")
    marks = nvim.lua(
        "return vim.tbl_map(function(m) return { m[3], m[4].end_col, m[4].hl_group } end,"
        "vim.api.nvim_buf_get_extmarks(0, vim.api.nvim_get_namespaces().spark, 0, -1, { details = true }))"
    )
    assert [2, 6, "SparkReplaced"] in marks


def _on_line(line: int, start: int, end: int) -> dict[str, dict[str, int]]:
    return {"start": {"line": line, "character": start}, "end": {"line": line, "character": end}}
