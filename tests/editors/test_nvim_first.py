from __future__ import annotations
import pytest
from tests.editors.conftest import CannedServer, Neovim
pytestmark = pytest.mark.editors

def test_first(nvim: Neovim, canned: CannedServer) -> None:
    canned.answer("return 1")
    nvim.type("i    ")
    nvim.wait_for_ghost("return 1")
    nvim.type("<Tab>")
    nvim.wait_for_text("    return 1")
    nvim.type("<Esc>u")
    nvim.wait_for_text("    ")

def test_real(nvim: Neovim, scripted, tmp_path) -> None:
    scripted("def add(a, b):\n    return a + b\n")
    nvim.edit(tmp_path / "a.py")
    nvim.wait_for_client()
    nvim.type("idef add(")
    nvim.wait_for_ghost("a, b):")
