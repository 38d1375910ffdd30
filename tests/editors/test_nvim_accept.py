"""What accepting does to the buffer, to undo, and to the server."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.editors.conftest import CannedServer, Neovim

pytestmark = pytest.mark.editors

ITEM: dict[str, Any] = {
    "insertText": "return 1",
    "command": {"title": "Accept", "command": "spark.accept", "arguments": ["id-1"]},
}
EXECUTED = [{"command": "spark.accept", "arguments": ["id-1"]}]


def show(nvim: Neovim, canned: CannedServer, keys: str, item: str | dict[str, Any]) -> None:
    """Type `keys` and wait for the ghost text of `item`; nothing is suggested after that."""
    text = item if isinstance(item, str) else str(item["insertText"])
    canned.answer(item)
    nvim.type(keys)
    nvim.wait_for_ghost(text)
    canned.answer()


def test_tab_inserts_exactly_the_ghost_text_and_stays_in_insert_mode(nvim: Neovim, canned: CannedServer) -> None:
    show(nvim, canned, "i    ", ITEM)
    nvim.type("<Tab>")
    nvim.wait_for_text("    return 1")
    assert (nvim.cursor, nvim.mode, nvim.ghost) == ((1, 12), "i", None)
    nvim.wait(lambda: canned.commands == EXECUTED, "executed command")
    nvim.type("0")
    nvim.wait_for_text("    return 10")
    assert canned.commands == EXECUTED


def test_undo_restores_the_line_and_redo_brings_the_text_back(nvim: Neovim, canned: CannedServer) -> None:
    show(nvim, canned, "i    ", "return 1")
    nvim.type("<Tab><Esc>u")
    nvim.wait_for_text("    ")
    nvim.type("<C-r>")
    nvim.wait_for_text("    return 1")


def test_what_is_typed_before_and_after_has_undo_steps_of_its_own(nvim: Neovim, canned: CannedServer) -> None:
    nvim.api.current.buffer[:] = ["x"]
    show(nvim, canned, "A = ", "f(\n    y\n)")
    nvim.type("<Tab>")
    nvim.wait_for_text("x = f(\n    y\n)")
    nvim.type(".z<CR>w<Esc>")
    nvim.wait_for_mode("n")
    assert nvim.lines[:4] == ["x = f(", "    y", ").z", "w"]
    for text in ("x = f(\n    y\n)", "x = ", "x"):
        nvim.type("u")
        nvim.wait_for_text(text)
    for text in ("x = ", "x = f(\n    y\n)", "x = f(\n    y\n).z\nw"):
        nvim.type("<C-r>")
        nvim.wait_for_text(text)


def test_several_lines_go_between_what_stands_around(nvim: Neovim, canned: CannedServer) -> None:
    nvim.api.current.buffer[:] = ["before", "call()", "after"]
    show(nvim, canned, "j$i", "\n    a,\n    b\n")
    nvim.type("<Tab>")
    nvim.wait_for_text("before\ncall(\n    a,\n    b\n)\nafter")
    assert nvim.cursor == (5, 0)


def test_after_typing_through_only_the_rest_is_inserted(nvim: Neovim, canned: CannedServer) -> None:
    show(nvim, canned, "i", ITEM)
    canned.hold()
    nvim.type("ret")
    nvim.wait_for_ghost("urn 1")
    nvim.type("<Tab>")
    nvim.wait_for_text("return 1")
    nvim.wait(lambda: canned.commands == EXECUTED, "executed command")


def test_the_range_is_replaced(nvim: Neovim, canned: CannedServer) -> None:
    nvim.api.current.buffer[:] = ["f(old) + 1"]
    canned.answer({"insertText": "f(new, newer)", "range": _on_line(0, 0, 6)})
    nvim.type("foi")
    nvim.wait_for_ghost("new, newer)")
    nvim.type("<Tab>")
    nvim.wait_for_text("f(new, newer) + 1")
    assert nvim.cursor == (1, 13)


def test_a_range_whose_end_is_the_end_of_the_suggestion_shows_only_what_is_new(
    nvim: Neovim, canned: CannedServer
) -> None:
    nvim.api.current.buffer[:] = ["f()"]
    canned.answer({"insertText": "f(x)", "range": _on_line(0, 0, 3)})
    nvim.type("$i")
    nvim.wait_for_ghost("x")
    nvim.type("<Tab>")
    nvim.wait_for_text("f(x)")


def test_word_by_word(nvim: Neovim, canned: CannedServer) -> None:
    whole = "foo_bar(a, 'b')\n    end"
    show(nvim, canned, "i", {**ITEM, "insertText": whole})
    canned.hold()
    steps = ["foo_bar", "foo_bar(", "foo_bar(a", "foo_bar(a,", "foo_bar(a, '", "foo_bar(a, 'b", "foo_bar(a, 'b')"]
    for text in steps:
        nvim.type("<M-Right>")
        nvim.wait_for_text(text)
        assert nvim.ghost == whole[len(text) :]
    assert canned.commands == []
    nvim.type("<M-Right>")
    nvim.wait_for_text(whole)
    nvim.wait(lambda: canned.commands == EXECUTED, "executed command")
    for text in reversed(steps):
        nvim.type("<C-o>u")
        nvim.wait_for_text(text)


def test_words_of_scripts_without_spaces_and_emoji(nvim: Neovim, canned: CannedServer) -> None:
    show(nvim, canned, "i", "héllo漢字😀😀x")
    canned.hold()
    for text in ("héllo", "héllo漢字", "héllo漢字😀😀", "héllo漢字😀😀x"):
        nvim.type("<M-Right>")
        nvim.wait_for_text(text)


def test_line_by_line(nvim: Neovim, canned: CannedServer) -> None:
    whole = "if x:\n    y\n\n    z"
    show(nvim, canned, "i", {**ITEM, "insertText": whole})
    canned.hold()
    for text in ("if x:", "if x:\n    y"):
        nvim.type("<M-C-Right>")
        nvim.wait_for_text(text)
        assert nvim.ghost == whole[len(text) :]
    assert canned.commands == []
    nvim.type("<M-C-Right>")
    nvim.wait_for_text(whole)
    nvim.wait(lambda: canned.commands == EXECUTED, "executed command")


def test_every_line_end_becomes_one_of_the_buffer(nvim: Neovim, canned: CannedServer) -> None:
    canned.answer("a\r\nb\rc\nd")
    nvim.type("i")
    nvim.wait_for_ghost("a\nb\nc\nd")
    nvim.type("<Tab>")
    nvim.wait_for_text("a\nb\nc\nd")


def test_the_indentation_that_return_made_is_kept(nvim: Neovim, canned: CannedServer) -> None:
    show(nvim, canned, "idef f():<CR>", "return 1")
    nvim.type("<Tab><Esc>")
    nvim.wait_for_mode("n")
    assert nvim.text == "def f():\n    return 1"


def test_accepting_asks_for_what_comes_next(nvim: Neovim, canned: CannedServer) -> None:
    canned.answer("a")
    nvim.type("i")
    nvim.wait_for_ghost("a")
    canned.answer("b")
    nvim.type("<Tab>")
    nvim.wait_for_ghost("b")
    assert nvim.text == "a"


def test_a_dot_repeats_what_was_typed(nvim: Neovim, canned: CannedServer) -> None:
    nvim.api.current.buffer[:] = ["one", "two"]
    show(nvim, canned, "Ax", "yz")
    nvim.type("<Tab>w<Esc>")
    nvim.wait_for_text("onexyzw\ntwo")
    nvim.type("j.")
    nvim.wait_for_text("onexyzw\ntwoxw")


def test_a_macro_records_the_key_and_nothing_else(nvim: Neovim, canned: CannedServer) -> None:
    show(nvim, canned, "qqi", "yz")
    nvim.type("<Tab><Esc>q")
    nvim.wait(lambda: nvim.lua("return vim.fn.getreg('q')") == "i\t\x1b", "recorded macro")


def test_a_buffer_that_may_not_be_changed_is_left_alone(nvim: Neovim, canned: CannedServer) -> None:
    show(nvim, canned, "i", "text")
    nvim.lua("vim.bo.modifiable = false")
    assert nvim.lua("return require('spark').accept()") is False
    assert nvim.text == ""


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
def test_columns_are_counted_as_the_server_counts(nvim: Neovim, canned: CannedServer, encoding: str) -> None:
    before, word = "😀 漢字 = é", "ret"
    column = {"utf-8": 16, "utf-16": 9, "utf-32": 8}[encoding]
    canned.restart(encoding)
    nvim.api.current.buffer[:] = [before + word + " 😀"]
    canned.answer({"insertText": "return 漢\n😀", "range": _on_line(0, column, column + 3)})
    nvim.type("0ft")
    nvim.type("a")
    nvim.wait_for_ghost("urn 漢\n😀")
    assert canned.requests[-1]["position"] == {"line": 0, "character": column + 3}
    nvim.type("<Tab>")
    nvim.wait_for_text(before + "return 漢\n😀 😀")
    assert nvim.cursor == (2, 4)


def test_a_file_with_crlf_stays_one(nvim: Neovim, canned: CannedServer, tmp_path: Path) -> None:
    file = tmp_path / "dos.py"
    file.write_bytes(b"# \xf0\x9f\x98\x80\r\ndef f():\r\n    \r\n# end\r\n")
    nvim.edit(file)
    nvim.wait_for_client()
    assert nvim.lua("return vim.bo.fileformat") == "dos"
    show(nvim, canned, "jjA", "x = 1\n    return x")
    nvim.type("<Tab><Esc>:write<CR>")
    expected = b"# \xf0\x9f\x98\x80\r\ndef f():\r\n    x = 1\r\n    return x\r\n# end\r\n"
    nvim.wait(lambda: file.read_bytes() == expected, "written file")


def _on_line(line: int, start: int, end: int) -> dict[str, dict[str, int]]:
    return {"start": {"line": line, "character": start}, "end": {"line": line, "character": end}}
