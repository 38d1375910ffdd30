"""When Neovim shows ghost text, and when it does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.editors.conftest import CannedServer, Neovim

pytestmark = pytest.mark.editors

CANCELLED, INTERNAL_ERROR = -32800, -32603


def in_insert_mode(nvim: Neovim, canned: CannedServer, ghost: str) -> None:
    """Enter insert mode in the empty buffer, with `ghost` shown; later answers are held back."""
    canned.answer(ghost)
    nvim.type("i")
    nvim.wait_for_ghost(ghost)
    canned.hold()


def test_entering_insert_mode_shows_the_suggestion_at_the_cursor(nvim: Neovim, canned: CannedServer) -> None:
    nvim.api.current.buffer[:] = ["x = ", "y"]
    canned.answer("1 + 2")
    nvim.type("A")
    nvim.wait_for_ghost("1 + 2")
    assert (nvim.ghost_row, nvim.ghost_column) == (0, 4)


def test_further_lines_are_shown_below(nvim: Neovim, canned: CannedServer) -> None:
    in_insert_mode(nvim, canned, "for x in y:\n    print(x)\n\nprint(y)")
    assert nvim.lines == [""]


def test_tabs_are_shown_as_wide_as_they_will_be(nvim: Neovim, canned: CannedServer) -> None:
    nvim.lua("vim.bo.tabstop = 4")
    nvim.api.current.buffer[:] = ["ab"]
    canned.answer("\tc\n\t\td")
    nvim.type("A")
    nvim.wait_for_ghost("  c\n        d")


def test_every_place_is_asked_about_once_and_with_its_text_sent_before(nvim: Neovim, canned: CannedServer) -> None:
    nvim.type("i")
    canned.wait_for_requests(1)
    nvim.type("a")
    canned.wait_for_requests(2)
    nvim.stays(lambda: len(canned.requests) == 2, "two requests")
    assert canned.requests[1]["position"] == {"line": 0, "character": 1}
    assert canned.requests[1]["context"] == {"triggerKind": 2}
    assert nvim.lua("return canned.requests[2].changes - canned.requests[1].changes") == 1


def test_keys_that_follow_quickly_make_one_request(nvim: Neovim, canned: CannedServer) -> None:
    nvim.lua("require('spark').setup({ cmd = canned.cmd, debounce_ms = 200 })")
    nvim.type("iabc")
    canned.wait_for_requests(1)
    assert [request["position"]["character"] for request in canned.requests] == [3]


def test_typing_what_is_shown_shortens_it_without_the_server(nvim: Neovim, canned: CannedServer) -> None:
    in_insert_mode(nvim, canned, "return total")
    nvim.lua("hidden = 0; local r = require('spark.render'); r.clear = function() hidden = hidden + 1 end")
    for typed in ("r", "e", "t"):
        nvim.type(typed)
    nvim.wait_for_ghost("urn total")
    assert nvim.lua("return hidden") == 0


def test_typing_through_a_line_end_shortens_it_too(nvim: Neovim, canned: CannedServer) -> None:
    nvim.lua("vim.bo.indentexpr = ''; vim.bo.autoindent = false")
    in_insert_mode(nvim, canned, "if x:\n  y()")
    nvim.type("if x:<CR>  y")
    nvim.wait_for_ghost("()")
    assert nvim.lines == ["if x:", "  y"]


def test_a_suggestion_that_was_typed_to_its_end_is_gone(nvim: Neovim, canned: CannedServer) -> None:
    in_insert_mode(nvim, canned, "pass")
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


@pytest.mark.parametrize("keys", ["<Esc>", "<C-c>"])
def test_leaving_insert_mode_hides_it_and_cancels(nvim: Neovim, canned: CannedServer, keys: str) -> None:
    in_insert_mode(nvim, canned, "return")
    nvim.type("r")
    canned.wait_for_requests(2)
    nvim.type(keys)
    nvim.wait_for_no_ghost()
    nvim.wait(lambda: canned.cancelled == 1, "cancelled request")
    canned.respond(2, "eturn")
    nvim.stays(lambda: nvim.ghost is None, "absence of ghost text")


def test_it_does_not_stay_behind_in_another_buffer(nvim: Neovim, canned: CannedServer) -> None:
    in_insert_mode(nvim, canned, "return")
    nvim.type("<Cmd>new<CR>")
    marks = "return #vim.api.nvim_buf_get_extmarks(1, vim.api.nvim_get_namespaces().spark, 0, -1, {})"
    nvim.wait(lambda: nvim.lua(marks) == 0, "clean buffer")


def test_a_late_answer_is_dropped(nvim: Neovim, canned: CannedServer) -> None:
    canned.hold()
    nvim.type("ia")
    nvim.wait(lambda: _asked_at(canned, 1), "request after a")
    stale = len(canned.requests)
    nvim.type("b")
    nvim.wait(lambda: _asked_at(canned, 2), "request after b")
    canned.respond(stale, "for the older text")
    canned.progress(stale, "for the older text")
    nvim.stays(lambda: nvim.ghost is None, "absence of ghost text")
    canned.respond(-1, "fresh")
    nvim.wait_for_ghost("fresh")


def test_an_answer_is_dropped_when_something_else_changed_the_text(nvim: Neovim, canned: CannedServer) -> None:
    canned.hold()
    nvim.type("ia")
    nvim.wait(lambda: _asked_at(canned, 1), "request after a")
    # In one turn: no event tells the plugin about the change before the answer is there.
    nvim.lua(
        "vim.api.nvim_buf_set_text(0, 0, 0, 0, 1, { 'b' })"
        "for number in ipairs(canned.requests) do canned.respond(number, { { insertText = 'late' } }) end"
    )
    nvim.stays(lambda: nvim.ghost is None, "absence of ghost text")


def test_a_newer_request_cancels_the_older_one(nvim: Neovim, canned: CannedServer) -> None:
    canned.hold()
    nvim.type("i")
    canned.wait_for_requests(1)
    nvim.type("a")
    canned.wait_for_requests(2)
    assert canned.cancelled == 1


def test_partial_results_grow_the_ghost(nvim: Neovim, canned: CannedServer) -> None:
    canned.hold()
    nvim.type("i")
    canned.wait_for_requests(1)
    for text in ("for", "for x in y:", "for x in y:\n    z"):
        canned.progress(1, text)
        nvim.wait_for_ghost(text)
    canned.respond(1, "for x in y:\n    z()")
    nvim.wait_for_ghost("for x in y:\n    z()")


def test_a_partial_result_never_takes_back_what_is_shown_but_the_answer_may(nvim: Neovim, canned: CannedServer) -> None:
    in_insert_mode(nvim, canned, "return x")
    nvim.type("r")
    canned.wait_for_requests(2)
    canned.progress(2, "et")
    nvim.stays(lambda: nvim.ghost == "eturn x", "the longer text")
    canned.progress(2, "eturn y")
    nvim.wait_for_ghost("eturn y")
    canned.respond(2, "e")
    nvim.wait_for_ghost("e")


def test_partial_results_are_not_taken_for_work_progress(nvim: Neovim, canned: CannedServer) -> None:
    nvim.lua(
        "events = 0; vim.api.nvim_create_autocmd('LspProgress', { callback = function() events = events + 1 end })"
    )
    canned.hold()
    nvim.type("i")
    canned.wait_for_requests(1)
    canned.progress(1, "text")
    nvim.wait_for_ghost("text")
    assert nvim.lua("return events") == 0
    nvim.lua("canned.notify('$/progress', { token = 1, value = { kind = 'begin', title = 'Loading' } })")
    nvim.wait(lambda: nvim.lua("return events") == 1, "progress event")


def test_an_empty_answer_hides_what_was_typed_through(nvim: Neovim, canned: CannedServer) -> None:
    in_insert_mode(nvim, canned, "return")
    nvim.type("r")
    canned.wait_for_requests(2)
    nvim.wait_for_ghost("eturn")
    canned.respond(2)
    nvim.wait_for_no_ghost()


@pytest.mark.parametrize("code, logged", [(CANCELLED, False), (INTERNAL_ERROR, True)])
def test_an_error_is_never_shown_while_typing(
    nvim: Neovim, canned: CannedServer, tmp_path: Path, code: int, logged: bool
) -> None:
    canned.hold()
    nvim.type("i")
    canned.wait_for_requests(1)
    canned.refuse(1, code)
    canned.answer("next")
    nvim.lua("canned.held = false")
    nvim.type("a")
    nvim.wait_for_ghost("next")
    assert (nvim.notifications, nvim.messages) == ([], "")
    log = Path(nvim.lua("return vim.lsp.get_log_path()"))
    assert (log.exists() and "inlineCompletion failed" in log.read_text()) is logged


@pytest.mark.parametrize(
    "preparation",
    [
        "vim.bo.buftype = 'nofile'",
        "vim.b.spark_enabled = false",
        "vim.bo.filetype = 'excluded'",
        "require('spark').disable()",
    ],
)
def test_nothing_is_asked_where_no_suggestions_are_wanted(nvim: Neovim, canned: CannedServer, preparation: str) -> None:
    nvim.lua("require('spark').setup({ cmd = canned.cmd, debounce_ms = 0, exclude_filetypes = { 'excluded' } })")
    nvim.lua(preparation)
    nvim.type("iabc")
    nvim.wait_for_text("abc")
    nvim.stays(lambda: canned.requests == [], "silence")


def test_disabling_removes_every_autocommand(nvim: Neovim, canned: CannedServer) -> None:
    in_insert_mode(nvim, canned, "return")
    groups = "return #vim.fn.getcompletion('spark.show', 'augroup')"
    assert nvim.lua(groups) == 1
    assert nvim.lua("return require('spark').toggle()") is False
    nvim.wait_for_no_ghost()
    assert nvim.lua(groups) == 0
    nvim.lua("canned.held = false")
    assert nvim.lua("return require('spark').toggle()") is True
    nvim.wait_for_ghost("return")


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


def test_both_may_be_shown_together(nvim: Neovim, canned: CannedServer) -> None:
    nvim.lua("require('spark').setup({ cmd = canned.cmd, debounce_ms = 0, hide_on_popup_menu = false })")
    nvim.api.current.buffer[:] = ["retry return", ""]
    nvim.lua("vim.o.completeopt = 'menuone,noselect'")
    canned.answer("ghost")
    nvim.type("Gire<C-n>")
    nvim.wait(lambda: nvim.lua("return vim.fn.pumvisible()"), "popup menu")
    nvim.wait_for_ghost("ghost")


def test_cycling_asks_for_alternatives_and_goes_round(nvim: Neovim, canned: CannedServer) -> None:
    canned.answer("one")
    nvim.type("i")
    nvim.wait_for_ghost("one")
    canned.answer("one", "two", "three")
    for ghost in ("two", "three", "one"):
        nvim.type("<M-]>")
        nvim.wait_for_ghost(ghost)
    nvim.type("<M-[>")
    nvim.wait_for_ghost("three")
    assert [request["context"]["triggerKind"] for request in canned.requests] == [2, 1]


def test_cycling_keeps_what_is_shown_when_there_is_no_alternative(nvim: Neovim, canned: CannedServer) -> None:
    canned.answer("one")
    nvim.type("i")
    nvim.wait_for_ghost("one")
    nvim.type("<M-]>")
    canned.wait_for_requests(2)
    nvim.stays(lambda: nvim.ghost == "one", "the suggestion")


def test_cycling_asks_by_hand_when_nothing_is_shown(nvim: Neovim, canned: CannedServer) -> None:
    nvim.type("i")
    canned.wait_for_requests(1)
    canned.answer("by hand")
    nvim.type("<M-]>")
    nvim.wait_for_ghost("by hand")


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


def _asked_at(canned: CannedServer, character: int) -> bool:
    return any(request["position"]["character"] == character for request in canned.requests)


def _on_line(line: int, start: int, end: int) -> dict[str, dict[str, int]]:
    return {"start": {"line": line, "character": start}, "end": {"line": line, "character": end}}
