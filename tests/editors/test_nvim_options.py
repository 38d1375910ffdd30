"""Options, commands, help and health of the plugin."""

from __future__ import annotations

from pathlib import Path

import pynvim
import pytest

from tests.editors.conftest import REPOSITORY, CannedServer, Neovim

pytestmark = pytest.mark.editors

PLUGIN = REPOSITORY / "editors" / "nvim"


@pytest.mark.parametrize(
    "options, sentence",
    [
        ("{ debouce_ms = 5 }", "spark: unknown option `debouce_ms`; known are cmd, "),
        ("{ debounce_ms = 'fast' }", "spark.debounce_ms: expected number, got string"),
        ("{ debounce_ms = -1 }", "spark: the option `debounce_ms` is a whole number of milliseconds, 0 or more"),
        ("{ keymaps = { acept = '<Tab>' } }", "spark: unknown key mapping `acept`; known are accept, "),
        ("{ keymaps = { accept = 1 } }", "spark.keymaps.accept: expected string, got number"),
        ("{ native = 'yes' }", "spark: the option `native` is 'auto', true or false"),
        ("{ native = true }", "spark: the option `native` needs Neovim 0.12 or newer"),
        ("{ cmd = 'spark-lsp' }", "spark.cmd: expected table"),
        ("'fast'", "opts: expected table, got string"),
    ],
)
def test_a_wrong_option_is_named(nvim: Neovim, options: str, sentence: str) -> None:
    with pytest.raises(pynvim.NvimError) as caught:
        nvim.lua(f"require('spark').setup({options})")
    assert sentence in str(caught.value)


def test_a_refused_setup_changes_nothing(nvim: Neovim, canned: CannedServer) -> None:
    with pytest.raises(pynvim.NvimError):
        nvim.lua("require('spark').setup({ debounce_ms = -1 })")
    canned.answer("ghost")
    nvim.type("i")
    nvim.wait_for_ghost("ghost")


def test_setup_without_options_uses_the_defaults(nvim: Neovim) -> None:
    nvim.lua("require('spark').setup()")
    assert nvim.lua("return require('spark.config').current.cmd") == ["spark-lsp", "--stdio"]
    assert nvim.lua("return require('spark.config').current.debounce_ms") == 60


def test_the_groups_follow_the_colour_scheme(nvim: Neovim) -> None:
    nvim.lua("require('spark').setup()")
    for _ in range(2):
        assert nvim.lua("return vim.api.nvim_get_hl(0, { name = 'SparkSuggestion' }).link") == "Comment"
        nvim.api.command("colorscheme habamax")
    nvim.api.command("highlight link SparkSuggestion NonText")
    nvim.lua("require('spark').setup()")
    assert nvim.lua("return vim.api.nvim_get_hl(0, { name = 'SparkSuggestion' }).link") == "NonText"


def test_the_command_turns_suggestions_off_and_on(nvim: Neovim, canned: CannedServer) -> None:
    nvim.api.command("Spark toggle")
    assert nvim.lua("return require('spark').statusline()") == "spark off"
    nvim.api.command("Spark toggle")
    assert nvim.lua("return require('spark').statusline()") == "spark idle"
    nvim.api.command("Spark fly")
    assert nvim.notifications[-1].startswith("spark: unknown subcommand `fly`; known are accept, ")
    assert nvim.lua("return vim.fn.getcompletion('Spark re', 'cmdline')") == ["restart"]


def test_the_status_line_shows_that_a_request_runs(nvim: Neovim, canned: CannedServer) -> None:
    canned.hold()
    nvim.type("i")
    canned.wait_for_requests(1)
    assert nvim.lua("return require('spark').statusline()") == "spark ..."
    canned.respond(1)
    nvim.wait(lambda: nvim.lua("return require('spark').statusline()") == "spark idle", "idle status line")


def test_disabled_from_the_start(nvim: Neovim, tmp_path: Path) -> None:
    nvim.lua("require('spark').setup({ cmd = canned.cmd, debounce_ms = 0, enabled = false })")
    nvim.edit(tmp_path / "work.py")
    nvim.wait_for_client()
    nvim.type("i")
    nvim.stays(lambda: nvim.lua("return #canned.requests") == 0, "silence")
    nvim.lua("canned.items = { { insertText = 'ghost' } }; require('spark').enable()")
    nvim.wait_for_ghost("ghost")


def test_the_health_check_says_what_is_missing(nvim: Neovim) -> None:
    nvim.set_up(cmd=["no-such-server"])
    nvim.api.command("checkhealth spark")
    assert "`no-such-server` was not found" in nvim.text
    assert "The server is not running" in nvim.text


def test_the_health_check_of_a_running_server(nvim: Neovim, canned: CannedServer) -> None:
    nvim.api.command("checkhealth spark")
    assert "The server is running: idle" in nvim.text
    assert "ERROR" not in nvim.text


def test_the_help_explains_every_option_key_and_function(nvim: Neovim, tmp_path: Path) -> None:
    help_text = (PLUGIN / "doc" / "spark.txt").read_text()
    names = nvim.lua("return vim.tbl_keys(require('spark.config').defaults.keymaps)")
    names += ["debounce_ms", "native", "hide_on_popup_menu", "popup_menu_visible", "exclude_filetypes", "keymaps"]
    names += ["cmd", "cmd_env", "cmd_cwd", "filetypes", "root_markers", "settings", "enabled"]
    functions = set(nvim.lua("return vim.tbl_keys(require('spark'))")) - {"ensure_setup"}
    assert [name for name in names if f"`{name}`" not in help_text] == []
    assert [name for name in functions if f"*spark.{name}()*" not in help_text] == []
    assert max(map(len, help_text.splitlines())) <= 78
    doc = tmp_path / "doc"
    doc.mkdir()
    (doc / "spark.txt").write_text(help_text)
    nvim.lua("vim.cmd.helptags(...)", str(doc))  # raises for a tag that is there twice
    assert "spark-options" in (doc / "tags").read_text()


def test_no_module_leaves_a_global_behind(nvim: Neovim, canned: CannedServer) -> None:
    canned.answer("ghost")
    before = set(nvim.lua("return vim.tbl_keys(_G)"))
    nvim.lua("for name in pairs(package.loaded) do if name:match('^spark') then package.loaded[name] = nil end end")
    for module in sorted((PLUGIN / "lua" / "spark").glob("*.lua")):
        nvim.lua("require('spark.' .. ...)", module.stem) if module.stem != "init" else nvim.lua("require('spark')")
    assert set(nvim.lua("return vim.tbl_keys(_G)")) == before
