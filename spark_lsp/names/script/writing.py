"""How names stand in JavaScript and TypeScript."""

from __future__ import annotations

import re
from collections.abc import Iterator

from spark_lsp.names.script.bodies import NAME
from spark_lsp.names.script.lexical import without_strings
from spark_lsp.names.writing import Access

_DOT = r"(?:[?!]?\.(?!\.))"
_CHAIN = re.compile(rf"(?:(?<=\.\.\.)|(?<![\w$.)\]}}\"'`#])){NAME}(?:{_DOT}#?[\w$]*)+")
_STEP = re.compile(_DOT)
_RECEIVER = re.compile(rf"(?:(?<=\.\.\.)|(?<![\w$.)\]}}\"'`#]))({NAME}(?:{_DOT}#?[\w$]+)*){_DOT}$")
_NAME = re.compile(r"#?[\w$]*")
_IMPORT = re.compile(r"\s*(?:import\b(?!\s*[.(])|export\b[^=]*\bfrom\b)")
_MAY_BE_TARGET = re.compile(
    r"(?:^|[;{}]|=>|\)|(?<![=!<>])=|(?<![\w$.#])(?:else|do|for\s*\(|return|delete)|(?:&&|\|\||\?\?|[?:])\s*\(?"
    r"|^\s*\(?[\[{][^;]*|\()\s*$"
)
_MAY_TAKE_APART = re.compile(r"^\s*\(?[\[{]")
_TAKES_APART = re.compile(r"[^\n]*[\]}]\s*=(?![=>])")
_TAKES_NOTHING_APART = re.compile(r"[^\n]*(?:\n|[\]}][ \t]*[^\s=\]}])")


class ScriptWriting:
    """`Writing` of JavaScript and TypeScript."""

    def code(self, text: str) -> str:
        """Blank comments and strings."""
        return without_strings(text)[0]

    def accesses(self, code: str) -> Iterator[Access]:
        """Yield what stands behind dots, those behind a question or an exclamation mark too."""
        for chain in _CHAIN.finditer(code):
            start, parts = chain.start(), []
            at = start
            for step in _STEP.finditer(code, start, chain.end()):
                parts.append(code[at : step.start()])
                at = step.end()
                if not parts[-1]:
                    break
                name = self.name(code, at)
                if not name[:1].isdigit():  # a?.5:1
                    yield Access(".".join(parts), start, at, name)

    def receiver(self, code: str) -> str | None:
        """Return what stands before the dot at the end, with plain dots."""
        found = _RECEIVER.search(code)
        return ".".join(_STEP.split(found[1])) if found is not None else None

    def name(self, code: str, at: int) -> str:
        """Return the name at an offset, with its mark if it is private."""
        found = _NAME.match(code, at)
        return found.group() if found is not None else ""

    def is_judged(self, name: str, line: str) -> bool:
        """Leave out imports, and names that only a debugger sees."""
        return name.isascii() and not name.startswith("__") and _IMPORT.match(line) is None

    def may_be_target(self, line: str) -> bool:
        """Whether a statement or an assignment within one may begin with the name."""
        return _MAY_BE_TARGET.search(line) is not None

    def is_use(self, following: str, line: str) -> bool | None:
        """Look for an equal sign, or for brackets around targets."""
        if _MAY_TAKE_APART.match(line):
            if _TAKES_APART.match(following):
                return None
            if not _TAKES_NOTHING_APART.match(following):
                return False
        stripped = following.lstrip(" \t")
        if not stripped:
            return False
        if stripped[0] in "?|&" and len(stripped) < 3:
            return False
        if re.match(r"(?:\?\?|\|\||&&)=", stripped):
            return None
        if stripped[0] != "=":
            return True
        return False if len(stripped) == 1 else (True if stripped[1] in "=>" else None)
