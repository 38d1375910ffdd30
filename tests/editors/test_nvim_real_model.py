"""Neovim, the real server and the real model, as a user has them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.editors.conftest import Neovim

pytestmark = [pytest.mark.editors, pytest.mark.model, pytest.mark.timeout(300)]

FIRST_TEXT_SECONDS = 60.0
"""For loading the model and computing the first prompt on a busy machine."""

RECTANGLE = [
    "class Rectangle:",
    "    def __init__(self, width, height):",
    "        self.width = width",
    "        self.height = height",
    "",
    "    def area(self):",
    "",
    "",
]
"""The cursor goes to the last line, which is empty."""
TYPED = "        return self.wid"


@pytest.fixture
def start(nvim: Neovim, real_server_cmd: list[str], model_path: Path, tmp_path: Path) -> Callable[[bytes], Path]:
    """Open a Python file with the given bytes and wait for the server."""

    def open_file(content: bytes) -> Path:
        file = tmp_path / "rectangle.py"
        file.write_bytes(content)
        nvim.set_up(cmd=real_server_cmd, settings={"model": str(model_path)})
        nvim.edit(file)
        nvim.wait_for_client(FIRST_TEXT_SECONDS)
        return file

    return open_file


def settled_ghost(nvim: Neovim) -> str:
    """The ghost text after the model has finished it."""
    nvim.wait(lambda: nvim.ghost, "ghost text", FIRST_TEXT_SECONDS)
    nvim.wait(lambda: not nvim.lua("return require('spark.request').busy()"), "whole answer", FIRST_TEXT_SECONDS)
    ghost = nvim.ghost
    assert ghost
    return ghost


def test_the_model_completes_tab_inserts_exactly_that_and_undo_restores(
    nvim: Neovim, start: Callable[[bytes], Path]
) -> None:
    start("\n".join(RECTANGLE).encode())
    nvim.type("GA" + TYPED)
    ghost = settled_ghost(nvim)
    assert ghost.startswith("th * self.height")
    before = nvim.text
    nvim.type("<Tab>")
    nvim.wait_for_text(before + ghost)
    nvim.type("<Esc>u")
    nvim.wait_for_text(before)
    assert nvim.notifications == []


def test_a_file_with_crlf_and_emoji_stays_whole(nvim: Neovim, start: Callable[[bytes], Path]) -> None:
    lines = ["# 📐 漢字", *RECTANGLE]
    file = start("\r\n".join(lines).encode())
    assert nvim.lua("return vim.bo.fileformat") == "dos"
    nvim.type("GA" + '        return "📐", self.wid')
    ghost = settled_ghost(nvim)
    before = nvim.text
    assert "\r" not in before + ghost
    nvim.type("<Tab>")
    nvim.wait_for_text(before + ghost)
    nvim.type("<Esc>:write<CR>")
    expected = (before + ghost).replace("\n", "\r\n").encode()
    nvim.wait(lambda: file.read_bytes().removesuffix(b"\r\n") == expected, "written file")
    nvim.type("u")
    nvim.wait_for_text(before)
