"""A client that behaves as Helix does, for tests: its configuration file, its handshake, when it asks, what it applies.

Written after what Helix does in its helix-lsp/src/client.rs, helix-term/src/application.rs and
helix-term/src/handlers/completion, and its pull request 14876 in handlers/inline_completion.rs.
"""

from __future__ import annotations

import os
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from spark_lsp.server.editor import Editor
from tests.lsp.conftest import profile

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

TRIGGER_LENGTH = 2
"""Word characters before the cursor for which Helix asks: its default for `completion-trigger-len`."""
INVOKED, TRIGGER_CHARACTER, INCOMPLETE = 1, 2, 3
_NO_WORD = re.compile(r"\W")


@dataclass(frozen=True, slots=True)
class Configuration:
    """A `languages.toml`."""

    data: dict[str, Any]

    @staticmethod
    def read(file: Path) -> Configuration:
        return Configuration(tomllib.loads(file.read_text(encoding="utf-8")))

    def server(self, name: str) -> dict[str, Any]:
        server: dict[str, Any] = self.data["language-server"][name]
        return server

    def servers_of(self, language: str) -> list[str]:
        """The names in the list of the language; Helix has no other servers for it then."""
        (found,) = [entry["language-servers"] for entry in self.data["language"] if entry["name"] == language]
        return list(found)


@dataclass(slots=True)
class Helix:
    """One buffer in insert mode, with the server of the configuration."""

    editor: Editor
    config: dict[str, Any] | None
    uri: str
    menu: list[dict[str, Any]] = field(default_factory=list)
    """The entries of the completion menu that match what is typed."""
    asked: list[int] = field(default_factory=list)
    """The trigger kinds of the requests so far."""
    _open: bool = False
    _incomplete: bool = False
    _request_cursor: int = 0

    @staticmethod
    async def start(server: dict[str, Any], client: str, path: str, file: Path, language: str, text: str) -> Helix:
        """Start the command of a server's table, found on `path`, and open `file` with the cursor behind `text`."""
        config = server.get("config")
        editor = Editor(
            [server["command"], *server.get("args", [])],
            environment={"PATH": path, "PYTHONPATH": str(Path(__file__).parents[2]), **server.get("environment", {})},
            folder=file.parent,
            client=profile(client),
            answers={"workspace/configuration": [looked_up(config, "spark")]},
        )
        await editor.start(config)
        if config is not None:
            editor.notify("workspace/didChangeConfiguration", {"settings": config})
        editor.open(file.as_uri(), language, text)
        return Helix(editor, config, file.as_uri())

    @property
    def text(self) -> str:
        return self.editor.text(self.uri)

    async def type(self, keys: str) -> None:
        """Type, and ask where Helix would: the menu is what is shown after the last key."""
        for key in keys:
            self.editor.type(self.uri, key)
            before = self.text[: self.editor.cursor(self.uri)]
            triggers = self.editor.capabilities["completionProvider"].get("triggerCharacters") or []
            trigger = next((known for known in triggers if before.endswith(known)), None)
            if trigger is not None:
                await self._ask(TRIGGER_CHARACTER, triggerCharacter=trigger)
            elif not is_word(key):
                self._close()
            elif self._open and self._incomplete:
                await self._ask(INCOMPLETE)
            elif not self._open and len(before) >= TRIGGER_LENGTH and all(map(is_word, before[-TRIGGER_LENGTH:])):
                await self._ask(INVOKED)
            self._filter()

    async def ask_by_hand(self) -> None:
        """Press C-x."""
        await self._ask(INVOKED)
        self._filter()

    def accept(self, entry: dict[str, Any]) -> None:
        """Apply an entry: its edit is moved along with the cursor, and ends there (`completion-replace = false`)."""
        edit, cursor = entry["textEdit"], self.editor.cursor(self.uri)
        start = self._offset(edit["range"]["start"]) - self._request_cursor
        assert self._offset(edit["range"]["end"]) >= self._request_cursor
        self.editor.replace(self.uri, cursor + start, cursor, edit["newText"])
        self._close()

    async def inline(self, kind: int = 2) -> list[dict[str, Any]]:
        """The inline suggestions that pull request 14876 would show: those whose range has the cursor in it."""
        params = self.editor.completion_params(self.uri, invoked=kind == INVOKED)
        items = (await self.editor.request("textDocument/inlineCompletion", params))["items"]
        cursor, shown = self.editor.cursor(self.uri), []
        for item in items:
            start, end = (self._offset(item["range"][edge]) for edge in ("start", "end"))
            if start <= cursor <= end and item["insertText"][cursor - start :]:
                shown.append({**item, "ghost": item["insertText"][cursor - start :]})
        return shown

    def accept_inline(self, item: dict[str, Any]) -> None:
        start, end = (self._offset(item["range"][edge]) for edge in ("start", "end"))
        self.editor.replace(self.uri, start, end, item["insertText"])

    async def _ask(self, kind: int, **context: Any) -> None:
        self.asked.append(kind)
        self._request_cursor = self.editor.cursor(self.uri)
        params = {**self.editor.completion_params(self.uri), "context": {"triggerKind": kind, **context}}
        result = await self.editor.request("textDocument/completion", params)
        self._incomplete, self.menu = result["isIncomplete"], result["items"]
        self._open = bool(self.menu)

    def _filter(self) -> None:
        """Keep what the typed word is part of, letter by letter, in `filterText` or else in the label."""
        before = self.text[: self.editor.cursor(self.uri)]
        word = _NO_WORD.split(before)[-1]
        self.menu = [entry for entry in self.menu if fuzzy(word, entry.get("filterText") or entry["label"])]

    def _close(self) -> None:
        self.menu, self._open, self._incomplete = [], False, False

    def _offset(self, position: dict[str, int]) -> int:
        """Positions are in bytes of UTF-8, which Helix prefers."""
        assert self.editor.capabilities["positionEncoding"] == "utf-8"
        lines = self.text.splitlines(keepends=True) or [""]
        line = lines[position["line"]] if position["line"] < len(lines) else ""
        in_line = len(line.encode()[: position["character"]].decode())
        return sum(map(len, lines[: position["line"]])) + in_line


def is_word(char: str) -> bool:
    return char.isalnum() or char == "_"


def fuzzy(typed: str, candidate: str) -> bool:
    """Whether the letters of `typed` occur in `candidate` in their order, whatever their case."""
    rest = iter(candidate.lower())
    return all(letter in rest for letter in typed.lower())


def looked_up(config: dict[str, Any] | None, section: str) -> Any:
    """What Helix answers to `workspace/configuration`: the member of that name, or null."""
    return None if config is None else config.get(section)


def path_with(folder: Path) -> str:
    """A search path with `folder` in front."""
    return os.pathsep.join([str(folder), os.environ.get("PATH", "")])
