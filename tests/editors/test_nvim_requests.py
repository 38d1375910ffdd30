"""When the plugin asks the server, and what becomes of the answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.editors.conftest import CannedServer, Neovim

pytestmark = pytest.mark.editors

CANCELLED, INTERNAL_ERROR = -32800, -32603


def test_every_place_is_asked_about_once_and_with_its_text_sent_before(nvim: Neovim, canned: CannedServer) -> None:
    nvim.type("i")
    canned.wait_for_requests(1)
    nvim.type("a")
    canned.wait_for_requests(2)
    nvim.stays(lambda: len(canned.requests) == 2, "two requests")
    assert canned.requests[1]["position"] == {"line": 0, "character": 1}
    assert canned.requests[1]["context"] == {"triggerKind": 2}
    assert nvim.lua("return canned.requests[2].changes - canned.requests[1].changes") == 1


def test_an_event_without_a_change_neither_asks_again_nor_cancels(nvim: Neovim, canned: CannedServer) -> None:
    canned.hold()
    nvim.type("i")
    canned.wait_for_requests(1)
    nvim.lua("vim.api.nvim_exec_autocmds('CursorMovedI', {})")
    nvim.stays(lambda: (len(canned.requests), canned.cancelled) == (1, 0), "the one request")


def test_a_server_that_comes_up_while_the_user_types_is_asked_at_once(nvim: Neovim, canned: CannedServer) -> None:
    nvim.type("i")
    canned.wait_for_requests(1)
    canned.answer("ghost")
    canned.restart("utf-8")
    nvim.wait_for_ghost("ghost")


def test_keys_that_follow_quickly_make_one_request(nvim: Neovim, canned: CannedServer) -> None:
    nvim.lua("require('spark').setup({ cmd = canned.cmd, debounce_ms = 200 })")
    nvim.type("iabc")
    canned.wait_for_requests(1)
    assert [request["position"]["character"] for request in canned.requests] == [3]


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
    canned.show("return x")
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
    canned.show("return")
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


def _asked_at(canned: CannedServer, character: int) -> bool:
    return any(request["position"]["character"] == character for request in canned.requests)
