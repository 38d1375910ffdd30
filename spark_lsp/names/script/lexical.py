"""JavaScript and TypeScript code with everything blanked that is no code, found without a tree."""

from __future__ import annotations

import re

_TOKENS = (
    r"//[^\n]*"
    r"|/\*[^*]*(?:\*(?!/)[^*]*)*(?:\*/)?"
    r'|"[^"\\\n]*(?:\\.[^"\\\n]*)*"'
    r"|'[^'\\\n]*(?:\\.[^'\\\n]*)*'"
    r"|`|/"
)
_OUTSIDE = re.compile(_TOKENS, re.DOTALL)
_WITHIN = re.compile(_TOKENS + r"|[{}]", re.DOTALL)
"""Within the code of a template, whose end is found by counting braces."""
_LITERAL = re.compile(r"`|\$\{|\\.", re.DOTALL)
_REGEX = re.compile(r"/(?![*/>])(?:[^\\/\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/[a-z]*")
_BEFORE_REGEX = frozenset("(,=:[!&|?{};+-*%~^")
_WORD_BEFORE_REGEX = re.compile(r"(?<![\w$.])(?:return|typeof|case|in|of|do|else|void|delete|throw|yield|await)$")
_LONGEST_WORD = 12
_SHOWN = {"`": "`", "${": " {", "": ""}
"""What stands for the marks in a template."""
_NOT_LINE_END = re.compile(r"[^\n]")


def without_strings(text: str) -> tuple[str, bool]:
    """Return code of the same length with comments, strings and regular expressions blanked; line ends stay.

    The code within a template stays too, in braces. A quote without a second one on its line stays: it is an apostrophe
    in the text of JSX. The flag is False if a comment or a template is not closed.
    """
    parts: list[str] = []
    braces: list[int] = []  # open ones in the code of each template that is open
    at, closed = 0, True
    pattern = _OUTSIDE
    while (found := pattern.search(text, at)) is not None:
        start, end = found.span()
        parts.append(text[at:start])
        first = text[start]
        literal = first == "`"
        if first in "\"'":
            parts.append(first + _blank(text[start + 1 : end - 1]) + first)
        elif first in "{}`":
            parts.append(first)
            if first == "{":
                braces[-1] += 1
            elif first == "}" and braces[-1]:
                braces[-1] -= 1
            elif first == "}":
                braces.pop()
                literal = True
        elif end - start > 1:
            ended = text[start + 1] == "/" or (end - start > 3 and text.endswith("*/", start, end))
            closed = closed and ended
            parts.append(_blank(text[start:end]))
        else:
            expression = _REGEX.match(text, start) if _may_begin_regex(text, start) else None
            if expression is not None:
                end = expression.end()
            parts.append('"' + " " * (end - start - 2) + '"' if expression is not None else "/")
        at = end
        if literal:
            at, mark = _end_of_literal(text, end)
            parts.append(_blank(text[end : at - len(mark)]) + _SHOWN[mark])
            if mark == "${":
                braces.append(0)
            closed = closed and mark != ""
        pattern = _WITHIN if braces else _OUTSIDE
    parts.append(text[at:])
    return "".join(parts), closed and not braces


def _end_of_literal(text: str, start: int) -> tuple[int, str]:
    """Return the end of the text of a template, behind its backtick, `${` or the end of everything, and which it is."""
    for found in _LITERAL.finditer(text, start):
        if found[0][0] != "\\":
            return found.end(), found[0]
    return len(text), ""


def _may_begin_regex(text: str, at: int) -> bool:
    before = at - 1
    while before >= 0 and text[before] in " \t\n":
        before -= 1
    if before < 0 or text[before] in _BEFORE_REGEX or text.startswith("=>", max(before - 1, 0), before + 1):
        return True
    return _WORD_BEFORE_REGEX.search(text, max(before + 1 - _LONGEST_WORD, 0), before + 1) is not None


def _blank(text: str) -> str:
    return _NOT_LINE_END.sub(" ", text) if "\n" in text else " " * len(text)
