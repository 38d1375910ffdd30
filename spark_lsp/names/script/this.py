"""Which class `this` belongs to at a place."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from spark_lsp.names.script.bodies import ARGUMENTS, NAME
from spark_lsp.names.script.brackets import Brackets
from spark_lsp.names.script.shapes import Kind, Shape

_BEFORE = 300
"""Characters before a brace that say what it opens."""
_CONTROL = re.compile(r"(?<![\w$.#])(?:if|while|for|switch|catch|with|await)\s*$")
_TRANSPARENT = re.compile(
    r"(?:=>|[;{}(,=\[?&|`>]|(?<![\w$.#])(?:else|try|finally|do|return|default|typeof|await|yield|in|of|case)"
    rf"|(?<![\w$.#])(?:case\b[^\n]*|default|{NAME})\s*:|[\"'\]]\s*:)\s*$|^\s*$"
    r"|[>}][^<>{}()=;]*$"
)
"""What a block, an object, the code in a template or, behind a text, in JSX stands behind."""
_TYPED_FUNCTION = re.compile(r"\)\s*:\s*(?:[^\s{};][^{};]*|\{[^{}]*\}\s*)$")
_FUNCTION = re.compile(rf"(?<![\w$.#])function\b\s*\*?\s*(?:{NAME})?\s*(?:{ARGUMENTS})?\s*$")
_STATIC = re.compile(
    r"\s*(?:@[^\n]*\s)?(?:(?:public|private|protected|override|readonly|async)\s+)*static\b(?!\s*[(=:;?!<])"
)
_MEMBER = re.compile(r"\s*[\w$#@*\"'\[]")
_BRACKET = re.compile(r"[()\[\]{}]")


@dataclass(frozen=True, slots=True)
class This:
    """What `this` is."""

    shape: Shape
    static: bool
    """Whether it is the class itself."""


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a code that goes on from a line's beginning with a text of its own."""

    brackets: Brackets
    """Of the code."""
    start: int
    """Where the line begins."""
    code: str
    """What was written since."""

    def this(self, shapes: Sequence[Shape]) -> This | None:
        """Return what `this` is here; None if it belongs to none of the classes among `shapes`, or if it may not."""
        bodies = {shape.first: shape for shape in shapes if shape.kind is Kind.CLASS}
        text = self.brackets.code[: self.start] + self.code
        around = self._around(text)
        for number in range(len(around) - 1, -1, -1):
            if around[number] in bodies and around[number] < self.start:
                body, within = around[number], around[number + 1 :]
                reached = _reaches(text, body, within)
                return This(bodies[body], self._is_static(body, within, text)) if reached else None
        return None

    def _around(self, text: str) -> list[int]:
        """Return where the brackets open that are open here."""
        around = self.brackets.around(self.start)
        for found in _BRACKET.finditer(text, self.start):
            if found[0] in "([{":
                around.append(found.start())
                continue
            opener = "([{"[")]}".index(found[0])]
            while around and text[around[-1]] != opener and (opener == "{" or text[around[-1]] != "{"):
                around.pop()
            if around and text[around[-1]] == opener:
                around.pop()
        return around

    def _is_static(self, body: int, within: list[int], text: str) -> bool:
        """Whether the member that the place is in belongs to the class itself."""
        end = within[0] if within else len(text)
        if end < self.start:
            head = self.brackets.flat(body)[: end - body - 1]
        else:
            head = self.brackets.flat(body)[: self.start - body - 1] + text[self.start : end]
        head = head[max(head.rfind(";"), head.rfind("\n")) + 1 :]
        last = head[head.rfind("}") + 1 :]  # no member where it is the type of a result that has braces
        return _STATIC.match(last if _MEMBER.match(last) else head) is not None


def _reaches(text: str, body: int, within: list[int]) -> bool:
    """Whether `this` of a class gets through all brackets within its body, the outermost first."""
    for number, opener in enumerate(within):
        if text[opener] != "{":
            continue
        before = text[max(opener - _BEFORE, body + 1) : opener]
        function = before.rstrip().endswith(")")
        if number == 0:
            if function and _FUNCTION.search(_before_parameters(text, opener)):
                return False
        elif function:
            if not _CONTROL.search(_before_parameters(text, opener)):
                return False
        elif _TYPED_FUNCTION.search(before) or not _TRANSPARENT.search(before):
            return False
    return True


def _before_parameters(text: str, opener: int) -> str:
    """Return what stands before the parentheses that stand before a brace."""
    depth = 0
    for found in reversed([*re.finditer(r"[()]", text[max(opener - 4 * _BEFORE, 0) : opener])]):
        depth += 1 if found[0] == ")" else -1
        if depth == 0:
            at = max(opener - 4 * _BEFORE, 0) + found.start()
            return text[max(at - _BEFORE, 0) : at]
    return ""
