"""Whether a line opens a block, so that what comes next belongs inside it."""

from __future__ import annotations

import re
from functools import cache

from spark_lsp.syntax.languages import Language
from spark_lsp.syntax.lexical import ScopeKind, tokens, without_comments

_BRACKET = r"[\[{(]$"
_COLON = r":$"
_FAT_ARROW = r"=>$"
_THIN_ARROW = r"->$"
_EQUALS = r"(?<![=<>!/:])=$"
_LABEL = r"^\s*(case\b.*|default|public|private|protected)\s*:$"
_TAG = r"^\s*<(?!(area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr)\b)[\w:.-]*(\s([^<>]*[^<>/])?)?>$"
"""An opening tag alone on its line; the ones named never have content."""


def _last(words: str) -> str:
    """Ends with one of the words."""
    return rf"(^|[\s;)])({words})$"


def _first(words: str) -> str:
    """Begins with one of the words and does not also close what it opens."""
    return rf"^\s*({words})\b(?!.*\bend\w*$)"


_RULES: dict[str, tuple[str, ...]] = {
    "python starlark gdscript": (_COLON,),
    "nim": (_COLON, _EQUALS),
    "yaml": (r":(\s+[|>][+-]?\d?)?$", r"^\s*-$"),
    "javascript typescript typescriptreact": (_FAT_ARROW, _LABEL, _TAG),
    "csharp dart rust php zig": (_FAT_ARROW, _LABEL),
    "java kotlin groovy swift": (_THIN_ARROW, _LABEL),
    "c cpp objective-c cuda go d solidity glsl hlsl": (_LABEL,),
    "scala": (_FAT_ARROW, _EQUALS, _last("then|do|else|yield|match|try")),
    "ruby": (
        _last(r"do|do\s*\|[^|]*\||then|begin|else|ensure|rescue"),
        _first("def|class|module|if|unless|while|until|case|when|elsif|for|begin|rescue|ensure"),
    ),
    "elixir": (_THIN_ARROW, _last("do|else|rescue|after|catch")),
    "erlang": (_THIN_ARROW, _last("of|begin|after")),
    "lua luau": (_last("then|do|else|repeat"), r"\bfunction\b[^()]*\([^()]*\)$"),
    "shellscript": (_last("then|do|else|in"),),
    "fish": (_last("begin|else"), _first("function|if|while|for|switch|case")),
    "julia": (
        _last("do|begin"),
        _first(r"function|if|for|while|(mutable\s+)?struct|module|macro|let|try|else|elseif|catch|finally"),
    ),
    "matlab": (_first("function|if|for|while|switch|case|otherwise|try|catch|else|elseif|classdef|methods"),),
    "fortran": (_last("then|else"), _first("function|subroutine|module|program|do|select|type")),
    "ada vhdl verilog pascal sql": (_last("begin|then|else|loop|is|do|repeat|record|of|generate"),),
    "haskell elm fsharp ocaml": (
        _THIN_ARROW,
        _EQUALS,
        _last("do|of|where|let|in|then|else|with|begin|struct|sig|object|function|try"),
    ),
    "nix": (_EQUALS, _last("let|in|rec|then|else")),
    "html xml vue svelte astro": (_TAG,),
    "makefile": (r"^[^\s#=:][^=]*:(?!=)[^=]*$", r"^\s*(ifeq|ifneq|ifdef|ifndef|else|define)\b"),
    "cmake": (r"^\s*(function|macro|if|elseif|else|foreach|while)\s*\(.*\)$",),
}
"""Languages and what ends (or makes) a line that opens a block in them, besides an open bracket."""

_CLOSES = re.compile(r"\s*(?:[)\]}]|(?:end\w*|fi|done|esac)\b(?!\s*[=(.])|</)")
_LISPS = frozenset({"clojure", "commonlisp", "emacs-lisp", "scheme", "racket"})
_ANY_CASE = frozenset({"ada", "vhdl", "pascal", "sql", "fortran", "cmake"})
_NOT_A_HEADER = re.compile(r"(?!\s*(else|try|finally|default)\s*:$)\s*[\w.]+\s*:$|.*\blambda\b[^:]*:$")
"""Lines that end with a colon in Python and open nothing: an annotation being typed, a lambda."""


def opens_block(text_before_cursor_line: str, language: Language) -> bool:
    """Whether the last line that is not blank opens a block.

    It ends with an opening bracket or with what opens a block in its language (``:``, ``=>``, ``do``, ``then``, ...).
    Comments at its end do not count, and a line that is a comment or ends inside a string opens nothing.
    """
    line = re.split(r"[\r\n]", text_before_cursor_line.rstrip())[-1]
    if any(token.kind is ScopeKind.STRING and not token.closed for token in tokens(line, language)):
        return False
    line = without_comments(line, language).rstrip()
    if not line or (language.name == "markdown" and language.grammar):
        return False
    if language.name in _LISPS:
        return _open_brackets(line, language) > 0
    if not _pattern(language).search(line):
        return False
    if line.endswith(":") and language.indent_blocks and language.name != "yaml":
        # In x[1: and {"key": a bracket is still open; what follows is not a block.
        return _open_brackets(line, language) <= 0 and not _NOT_A_HEADER.fullmatch(line)
    return True


def closes_block(line: str) -> bool:
    """Whether a line begins with what closes a block: a bracket, ``end``, ``fi``, ``done``, ``esac``, a closing tag."""
    return _CLOSES.match(line) is not None


def _open_brackets(line: str, language: Language) -> int:
    """How many more brackets the line opens than it closes, those in strings left out."""
    position, balance = 0, 0
    for token in [*tokens(line, language), None]:
        code = line[position : token.start if token else len(line)]
        balance += sum(code.count(opener) for opener in "([{") - sum(code.count(closer) for closer in ")]}")
        position = token.end if token else position
    return balance


@cache
def _pattern(language: Language) -> re.Pattern[str]:
    rules = [rule for names, rules in _RULES.items() if language.name in names.split() for rule in rules]
    return re.compile("|".join([_BRACKET, *rules]), re.IGNORECASE if language.name in _ANY_CASE else 0)
