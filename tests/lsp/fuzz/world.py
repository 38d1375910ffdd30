"""What a client knows: its documents, kept in the plainest way, and which answers are due.

The text of a document is changed here as the protocol describes it, character by character, with no code of the server.
"""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Hashable
from typing import Any

URIS = [f"file:///fuzz/{name}" for name in ("a.py", "b.py", "c.rs", "d.txt", ".env", "e f.js", "ü.go")]
URIS += ["untitled:Untitled-1", "vscode-notebook-cell:/fuzz/n.ipynb#W0", "strange", "file:///fuzz/g.py?x#y"]
LANGUAGES = ("python", "rust", "javascript", "plaintext", "", "no-such-language", "go")
PIECES = (
    "x",
    "value = compute(",
    "def f(a, b):\n    return a",
    "\n",
    "\r\n",
    "\r",
    "    ",
    "\t",
    "é",
    "世界",
    "😀",
    "e\u0301",
    "\u2028",
    "\x0c",
    "\x85",
    "\ud83d",
    "\ude00",
    '"""',
    "({[",
    "]})",
    "# comment",
    "import os\nos.pa",
    "\ufeff",
    "\x7f",
)
MOST_CHARACTERS = 3000
"""A longer document is replaced by a short one, so that the messages are many and not large."""
_BINARY_PROBE = 8192
"""A NUL within so many characters makes a document binary, see `server/document_store.py`."""
_INTERNAL_ERROR = -32603


def width(character: str, encoding: str) -> int:
    """Return how many units a code point takes in a position."""
    if encoding == "utf-32":
        return 1
    if encoding == "utf-16":
        return len(character.encode("utf-16-le", "surrogatepass")) // 2
    return len(character.encode("utf-8", "surrogatepass"))


def lines(text: str) -> list[tuple[int, str]]:
    """Return the offset and the text of each line; it ends at \\n, \\r\\n or \\r."""
    starts = [0] + [match.end() for match in re.finditer("\r\n|\n|\r", text)]
    ends = [match.start() for match in re.finditer("\r\n|\n|\r", text)] + [len(text)]
    return [(start, text[start:end]) for start, end in zip(starts, ends, strict=True)]


def offset(text: str, position: dict[str, int], encoding: str) -> int:
    """Return the offset of a position; one out of range is the nearest in its line, or the end of the text."""
    all_lines = lines(text)
    if position["line"] >= len(all_lines):
        return len(text)
    start, line = all_lines[position["line"]]
    units = 0
    for index, character in enumerate(line):
        units += width(character, encoding)
        if units > position["character"]:
            return start + index
    return start + len(line)


def position(text: str, at: int, encoding: str) -> dict[str, int]:
    """Return the position of an offset; between \\r and \\n it is the end of the line."""
    number, (start, line) = [(n, each) for n, each in enumerate(lines(text)) if each[0] <= at][-1]
    return {"line": number, "character": sum(width(c, encoding) for c in line[: at - start])}


class World:
    """The client's side of one run."""

    def __init__(self, seed: int, encoding: str) -> None:
        self.chance = random.Random(seed)
        self.encoding = encoding
        self.texts: dict[str, str] = {}
        """What the server should hold of the open documents; nothing of one that is not text."""
        self.unreadable: set[str] = set()
        self.due: Counter[Hashable] = Counter()
        """How many answers there have to be, by id; None for what has no id that the server could tell."""
        self.allowed: dict[Hashable, set[int]] = {}
        """Error codes that an answer must have one of; an id without an entry may be answered by any but an internal
        error."""
        self.tokens: list[str] = []
        """What the server gave away for accepting suggestions."""
        self._next = 0

    # Messages

    def request(self, method: str, params: Any, *codes: int, identifier: Any = None) -> dict[str, Any]:
        """Return a request, one answer to which is due: an error with one of `codes`, if there are any."""
        if identifier is None:
            self._next += 1
            identifier = self._next if self.chance.random() < 0.8 else f"s{self._next}"
        self.due[identifier] += 1
        if codes:
            self.allowed[identifier] = set(codes)
        message = {"jsonrpc": "2.0", "id": identifier, "method": method}
        return message if params is None else {**message, "params": params}

    def notification(self, method: str, params: Any) -> dict[str, Any]:
        """Return a notification."""
        message = {"jsonrpc": "2.0", "method": method}
        return message if params is None else {**message, "params": params}

    def judge(self, answer: dict[str, Any]) -> str:
        """Return what is wrong with an answer by itself; empty if nothing is."""
        error, wanted = answer.get("error"), self.allowed.get(answer["id"])
        if error is None:
            return f"a result in place of an error {wanted}" if wanted else ""
        if error["code"] == _INTERNAL_ERROR or "data" in error or "Traceback" in error["message"]:
            return f"an internal error: {error}"
        return f"{error} in place of {wanted}" if wanted and error["code"] not in wanted else ""

    # Documents

    def uri(self) -> str:
        """Return the address of some document, open or not."""
        return self.chance.choice(URIS)

    def open_uri(self) -> str:
        """Return the address of an open document, if there is one."""
        return self.chance.choice(sorted(self.texts)) if self.texts else self.uri()

    def piece(self) -> str:
        """Return something to type."""
        return self.chance.choice(PIECES)

    def some_text(self) -> str:
        """Return a text of some lines; a rare one is not text at all."""
        text = "".join(self.piece() for _ in range(self.chance.randrange(40)))
        return text + "\0" if self.chance.random() < 0.02 else text

    def position(self, uri: str) -> dict[str, int]:
        """Return a place in the document, mostly one that exists."""
        text = self.texts.get(uri, "")
        if self.chance.random() < 0.9:
            return position(text, self.chance.randrange(len(text) + 1), self.encoding)
        return {"line": self.chance.randrange(60), "character": self.chance.choice([0, 1, 5, 300, 2**31 - 1])}

    def opened(self, uri: str, text: str) -> None:
        """Take note of a document that is open now."""
        self._keep(uri, _received(text))

    def closed(self, uri: str) -> None:
        """Take note of a document that is not open any more."""
        self.texts.pop(uri, None)
        self.unreadable.discard(uri)

    def changed(self, uri: str, changes: list[dict[str, Any]]) -> None:
        """Apply the changes of one notification, one after the other."""
        if uri not in self.texts:
            return
        changes = [{**change, "text": _received(change["text"])} for change in changes]
        whole = max((n for n, change in enumerate(changes) if change.get("range") is None), default=None)
        if whole is not None:
            self._keep(uri, changes[whole]["text"])
            changes = changes[whole + 1 :]
        if uri in self.unreadable:
            return
        text = self.texts[uri]
        for change in changes:
            ends = [offset(text, change["range"][name], self.encoding) for name in ("start", "end")]
            text = text[: min(ends)] + change["text"] + text[max(ends) :]
        self._keep(uri, text)

    def _keep(self, uri: str, text: str) -> None:
        binary = "\0" in text[:_BINARY_PROBE]
        self.texts[uri] = "" if binary else text
        (self.unreadable.add if binary else self.unreadable.discard)(uri)


def _received(text: str) -> str:
    """Return a text as it comes out of JSON, where two halves of a surrogate pair side by side are one code point."""
    received: str = json.loads(json.dumps(text))
    return received
