"""Comments and strings found without a tree, by their delimiters alone.

For languages without a grammar, and for what the parser could not read: an unterminated string is exactly that.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cache

from spark_lsp.syntax.languages import Language


class ScopeKind(Enum):
    """What a place in a document is part of."""

    CODE = "code"
    COMMENT = "comment"
    STRING = "string"


@dataclass(frozen=True, slots=True)
class Token:
    """A comment or a string; `closed` is false when the text ends inside it."""

    kind: ScopeKind
    start: int
    end: int
    closed: bool


_TRIPLE = ('"""', "'''")
_MARKUP = frozenset({"html", "xml", "vue", "svelte", "astro"})
_NO_QUOTES = _MARKUP | {"markdown", "rst", "latex", "dockerfile", "viml", "ini"}
"""Languages in which a quote is mostly an apostrophe or an inch, not a delimiter."""
_SINGLE_QUOTES = frozenset(
    {"python", "starlark", "gdscript", "meson", "javascript", "typescript", "typescriptreact", "dart", "groovy", "php"}
    | {"ruby", "perl", "lua", "luau", "r", "elixir", "shellscript", "fish", "powershell", "sql", "pascal", "fortran"}
    | {"css", "scss", "yaml", "toml", "proto", "solidity"}
)
"""Languages in which 'text' is a string; elsewhere ' is at most a character, a lifetime or a prime."""
_SPANNING: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("python", "starlark", "gdscript", "toml", "dart", "groovy"), _TRIPLE),
    **dict.fromkeys(("java", "kotlin", "scala", "swift", "csharp", "julia", "nim", "graphql", "fsharp"), ('"""',)),
    **dict.fromkeys(("javascript", "typescript", "typescriptreact", "go", "d", "odin"), ("`",)),
    **dict.fromkeys(("ocaml", "clojure", "commonlisp", "emacs-lisp", "scheme", "racket", "nix"), ('"',)),
    "rust": ('r#"', '"'),
    "elixir": ('"""', '"'),
    "shellscript": ('"', "'"),
    "fish": ('"', "'"),
    "sql": ("'",),
}
"""Delimiters of strings that may run over several lines."""
_HASH_AFTER_SPACE = frozenset({"shellscript", "fish", "yaml", "makefile", "perl", "powershell", "tcl"})
"""Languages in which # begins a comment only at the start of a word ($#, ${#x}, a#b are code)."""
_LINE_END = re.compile(r"[\r\n]")
_CHARACTER = r"'(?:\\.[^'\n]{0,8}|[^'\\\n])'"
"""A character literal, which must be skipped whole: it may hold a quote."""


def tokens(text: str, language: Language) -> Iterator[Token]:
    """The comments and strings of a text that begins in code, in order."""
    opening = _opening(language)
    position = 0
    while (match := opening.search(text, position)) is not None:
        if match.lastgroup == "character":
            position = match.end()
            continue
        kind = ScopeKind.STRING if match.lastgroup == "string" else ScopeKind.COMMENT
        end = _end_of(text, match, language)
        position = len(text) if end is None else end
        yield Token(kind, match.start(), position, closed=end is not None)


def open_at_end(text: str, language: Language) -> Token | None:
    """The comment or string in which a text that begins in code ends; code inside an interpolated string is code."""
    last = [None, *tokens(text, language)][-1]
    if last is None or last.closed:
        if language.name in _MARKUP and _in_attribute_value(text):
            return Token(ScopeKind.STRING, text.rfind("<"), len(text), closed=False)
        return None
    if last.kind is ScopeKind.STRING:
        opener = _interpolation_opener(text, last.start, language)
        if opener is not None and text.rfind(opener, last.start) > text.rfind("}", last.start):
            return None
    return last


def opening_of(text: str, token: Token, language: Language) -> str:
    """What begins a token of `text`: its quote or comment mark."""
    match = _opening(language).match(text, token.start)
    return "" if match is None else match.group()


def _in_attribute_value(markup: str) -> bool:
    """Whether the text ends inside a tag, behind a quote that is not closed."""
    tag = re.sub(r""""[^"]*"|'[^']*'""", "", markup[markup.rfind("<") :])
    return tag.startswith("<") and ">" not in tag and ('"' in tag or "'" in tag)


def without_comments(line: str, language: Language) -> str:
    """A line of code with its comments taken out."""
    kept, position = [], 0
    for token in tokens(line, language):
        if token.kind is ScopeKind.COMMENT:
            kept.append(line[position : token.start])
            position = token.end
    return "".join(kept) + line[position:]


def _end_of(text: str, opened: re.Match[str], language: Language) -> int | None:
    """Where the comment or string that `opened` begins is over; None when the text ends first."""
    delimiter = opened.group()
    if opened.lastgroup == "block" and language.block_comment is not None:
        closer = language.block_comment[1]
        end = text.find(closer, opened.end())
        return None if end == -1 else end + len(closer)
    if opened.lastgroup == "line":
        line_end = _LINE_END.search(text, opened.end())
        return None if line_end is None else line_end.start()
    spans_lines = delimiter in _SPANNING.get(language.name, ())
    for match in _closing(delimiter, spans_lines).finditer(text, opened.end()):
        if not match.group().startswith("\\"):
            return match.end()  # of the delimiter, or of the line end that cuts the string short
    return None


def _interpolation_opener(text: str, start: int, language: Language) -> str | None:
    """What begins code inside the string that starts here."""
    if language.name == "python":
        return "{" if "f" in text[max(start - 2, 0) : start].lower() else None
    if language.name in ("ruby", "elixir"):
        return "#{"
    if text[start] == "`" or language.name in ("kotlin", "dart", "groovy", "shellscript", "scala", "php", "terraform"):
        return "${"
    return None


@cache
def _closing(delimiter: str, spans_lines: bool) -> re.Pattern[str]:
    if delimiter == 'r#"':
        return re.compile('"#')
    return re.compile(r"\\[\s\S]|" + re.escape(delimiter) + ("" if spans_lines else r"|[\r\n]"))


@cache
def _opening(language: Language) -> re.Pattern[str]:
    """Whatever begins a comment, a string or a character literal."""
    parts = []
    if language.block_comment is not None:
        parts.append(f"(?P<block>{re.escape(language.block_comment[0])})")
    if language.line_comment is not None:
        before = r"(?<![^\s;(])" if language.name in _HASH_AFTER_SPACE else ""
        parts.append(f"(?P<line>{before}{re.escape(language.line_comment)})")
    if language.grammar is not None and language.name not in _NO_QUOTES:
        quotes = ['"', *("'" if language.name in _SINGLE_QUOTES else "")]
        delimiters = sorted({*quotes, *_SPANNING.get(language.name, ())}, key=len, reverse=True)
        before = r"(?<!\w)" if language.name == "yaml" else ""  # don't
        if "'" not in quotes:
            parts.append(f"(?P<character>{_CHARACTER})")
        parts.append(f"(?P<string>{before}(?:{'|'.join(map(re.escape, delimiters))}))")
    return re.compile("|".join(parts) or r"(?!)")
