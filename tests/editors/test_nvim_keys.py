"""Keys: ours when there is something to do, otherwise what they were before."""

from __future__ import annotations

import pytest

from tests.editors.conftest import CannedServer, Neovim

pytestmark = pytest.mark.editors

SETUP = "require('spark').setup({ cmd = canned.cmd, debounce_ms = 0, keymaps = ... })"


def test_tab_is_a_tab_when_nothing_is_shown(nvim: Neovim, canned: CannedServer) -> None:
    nvim.lua("vim.bo.expandtab = false")
    nvim.type("ia<Tab>b")
    nvim.wait_for_text("a\tb")


def test_tab_follows_expandtab_and_softtabstop(nvim: Neovim, canned: CannedServer) -> None:
    nvim.lua("vim.bo.expandtab = true; vim.bo.softtabstop = 3; vim.bo.shiftwidth = 3")
    nvim.type("i<Tab>a<Tab>b")
    nvim.wait_for_text("   a  b")


def test_tab_ends_an_abbreviation_as_without_the_plugin(nvim: Neovim, canned: CannedServer) -> None:
    nvim.lua("vim.bo.expandtab = false; require('spark.keymaps').remove()")
    nvim.lua("vim.keymap.del('i', '<Tab>')")  # the one of Neovim itself, which does not end abbreviations
    nvim.lua(SETUP, {})
    nvim.lua("vim.cmd.iabbrev('teh the')")
    nvim.type("iteh<Tab>x teh y")
    nvim.wait_for_text("the\tx the y")


@pytest.mark.parametrize(
    "mapping, text",
    [
        ("inoremap <Tab> [tab]", "a[tab]b"),
        ("inoremap <expr> <Tab> &filetype . '!'", "apython!b"),
        ("imap <Tab> <lt>", "a<b"),
        ("imap <Tab> <Tab>.", "a\t.b"),
        ("lua vim.keymap.set('i', '<Tab>', function() vim.api.nvim_put({ '-' }, 'c', false, true) end)", "a-b"),
        ("lua vim.keymap.set('i', '<Tab>', function() return '<C-v>u00e9' end, { expr = true })", "aéb"),
        ("inoremap <buffer> <Tab> [buffer]", "a[buffer]b"),
    ],
    ids=["keys", "expression", "recursive", "itself", "function", "function expression", "buffer"],
)
def test_tab_does_what_the_user_mapped_it_to(nvim: Neovim, canned: CannedServer, mapping: str, text: str) -> None:
    nvim.lua("vim.bo.expandtab = false; require('spark.keymaps').remove()")
    nvim.api.command(mapping)
    nvim.lua(SETUP, {})
    nvim.type("ia<Tab>b")
    nvim.wait_for_text(text)


def test_a_mapped_tab_still_accepts(nvim: Neovim, canned: CannedServer) -> None:
    nvim.lua("require('spark.keymaps').remove()")
    nvim.api.command("inoremap <Tab> [tab]")
    nvim.lua(SETUP, {})
    canned.answer("ghost")
    nvim.type("i")
    nvim.wait_for_ghost("ghost")
    nvim.type("<Tab>")
    nvim.wait_for_text("ghost")


@pytest.mark.parametrize("key", ["<C-]>", "<C-Right>", "<C-l>", "<F5>", "<End>"])
def test_other_keys_do_what_they_did_when_nothing_is_shown(nvim: Neovim, canned: CannedServer, key: str) -> None:
    nvim.lua(SETUP, False)
    without = _effect_of(nvim, key)
    nvim.lua(SETUP, {"accept": False, "accept_word": False, "accept_line": False, "dismiss": key})
    assert _mapped(nvim, key)
    assert _effect_of(nvim, key) == without
    assert nvim.messages == ""


@pytest.mark.parametrize("key", ["<M-Right>", "<M-C-Right>", "<A-w>"])
def test_alt_with_a_key_pressed_once_too_often_does_not_leave_insert_mode(
    nvim: Neovim, canned: CannedServer, key: str
) -> None:
    nvim.lua(SETUP, {"accept_word": key})
    assert _effect_of(nvim, key) == (["one xtwo three"], (1, 5), "i")


def test_a_key_that_came_too_late_to_accept_is_not_lost(nvim: Neovim, canned: CannedServer) -> None:
    nvim.lua("vim.bo.expandtab = false")
    canned.answer("return")
    nvim.type("i")
    nvim.wait_for_ghost("return")
    canned.hold()
    nvim.type("x<Tab>y")  # Vim looks up the mapping of Tab before x is in the buffer
    nvim.wait_for_text("x\ty")


def _effect_of(nvim: Neovim, key: str) -> tuple[list[str], tuple[int, int], str]:
    nvim.type("<Esc>")
    nvim.wait_for_mode("n")
    nvim.api.current.buffer[:] = ["one two three"]
    nvim.lua("done = false")
    nvim.type(f"0wi{key}x<Cmd>lua done = true<CR>")
    nvim.wait(lambda: nvim.lua("return done"), "end of the keys")
    return nvim.lines, nvim.cursor, nvim.mode


def test_keys_can_be_chosen_one_by_one_or_turned_off(nvim: Neovim, canned: CannedServer) -> None:
    nvim.lua(SETUP, {"accept": "<C-y>", "accept_word": False})
    assert _mapped(nvim, "<C-y>")
    assert _mapped(nvim, "<M-]>")
    assert not _mapped(nvim, "<M-Right>")
    canned.answer("ghost")
    nvim.type("i")
    nvim.wait_for_ghost("ghost")
    nvim.type("<C-y>")
    nvim.wait_for_text("ghost")


def test_without_keymaps_the_functions_are_there_for_own_mappings(nvim: Neovim, canned: CannedServer) -> None:
    nvim.lua(SETUP, False)
    assert not any(_mapped(nvim, key) for key in ("<Tab>", "<M-Right>", "<C-]>", "<M-]>"))
    nvim.lua("vim.keymap.set('i', '<C-l>', require('spark').accept)")
    canned.answer("ghost")
    nvim.type("i")
    nvim.wait_for_ghost("ghost")
    assert nvim.lua("return require('spark').visible()") is True
    nvim.type("<C-l>")
    nvim.wait_for_text("ghost")
    nvim.type("<Esc>u")
    nvim.wait_for_text("")


def test_a_second_setup_brings_back_what_the_first_covered(nvim: Neovim, canned: CannedServer) -> None:
    nvim.lua("require('spark.keymaps').remove()")
    nvim.api.command("inoremap <Tab> [tab]")
    for _ in range(2):
        nvim.lua(SETUP, {})
        assert _mapped(nvim, "<Tab>")
    nvim.lua(SETUP, False)
    assert nvim.lua("return vim.fn.maparg('<Tab>', 'i')") == "[tab]"


def test_a_mapping_of_one_buffer_does_not_hide_the_one_of_all_others(nvim: Neovim, canned: CannedServer) -> None:
    nvim.lua("require('spark.keymaps').remove()")
    nvim.api.command("inoremap <Tab> [tab]")
    nvim.api.command("inoremap <buffer> <Tab> [buffer]")
    nvim.lua(SETUP, {})
    nvim.api.command("iunmap <buffer> <Tab>")
    nvim.type("ia<Tab>b")
    nvim.wait_for_text("a[tab]b")
    nvim.lua(SETUP, False)
    assert nvim.lua("return vim.fn.maparg('<Tab>', 'i')") == "[tab]"


def test_a_key_that_the_user_mapped_later_is_left_alone(nvim: Neovim, canned: CannedServer) -> None:
    nvim.api.command("inoremap <Tab> [later]")
    nvim.lua(SETUP, False)
    assert nvim.lua("return vim.fn.maparg('<Tab>', 'i')") == "[later]"


def _mapped(nvim: Neovim, key: str) -> bool:
    description = nvim.lua("return vim.fn.maparg(..., 'i', false, true).desc or ''", key)
    return bool(description.startswith("spark: "))
