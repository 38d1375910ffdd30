"""How a name in the buffer is bound. Every place is looked at; one that may bind it and is not understood counts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache

from spark_lsp.names.script.bodies import ARGUMENTS, NAME, simple_type
from spark_lsp.names.script.brackets import TOP, Brackets

MOST_MENTIONS = 400
"""Of a name; one that is mentioned more often is not looked into, to stay within a few milliseconds."""
_BEFORE = 80
"""Characters before a name that say what it is."""
_VARIABLE = re.compile(r"(?<![\w$.#])(?:const|let|var|using)\s+$")
_DECLARED = re.compile(r"(?<![\w$.#])(class|interface|enum|type)\s+$")
_OTHER = re.compile(r"(?<![\w$.#])(?:(?:namespace|module)\s+|function\s*\*?\s*)$|\.\.\.\s*$")
_NEW = re.compile(rf"new\s+({NAME}(?:\.{NAME})*)\s*(?:{ARGUMENTS}\s*)?(?=[(;\n]|$)")
_ENDED = re.compile(r"[ \t]*(?:[;,)}\]]|$|\n(?!\s*[.?&|+\-*/\[(`=<>]))")
_EQUALS = re.compile(r"\s*=(?![=>])\s*")
_COLON = re.compile(r"\s*[?!]?\s*:\s*")
_ANNOTATION_END = re.compile(r"[;,(){}=]|\n(?!\s*[|&])")
_FIRST_OF_PARAMETER = re.compile(
    rf"[(,]\s*(?:@{NAME}(?:\([^()]*\))?\s+)*(?:(?:public|private|protected|readonly|override)\s+)*$"
)
_FIRST_OF_PATTERN = re.compile(r"[{\[,:(]\s*$")
_LAST_OF_PATTERN = re.compile(r"\s*[,}\])=]")
_CONTROL = re.compile(r"(?<![\w$.#])(?:if|while|switch|for|with|await)\s*$")


class How(Enum):
    """How a name is bound."""

    IMPORT = "import"
    SHAPE = "shape"
    NEW = "new"
    ANNOTATION = "annotation"
    NONE = "none"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Bound:
    """One binding."""

    how: How
    value: str = ""
    """The class or type that is named; of an import the module as it is written."""
    there: str = ""


def bindings(name: str, brackets: Brackets, imported: tuple[tuple[int, int], ...] = ()) -> list[Bound] | None:
    """Return every binding of a name in a code, those `imported` apart; None if it is mentioned too often."""
    found: list[Bound] = []
    if name not in brackets.code:
        return found
    for number, mention in enumerate(_mention(name).finditer(brackets.code)):
        if number >= MOST_MENTIONS:
            return None
        at = mention.start()
        if not any(start <= at < end for start, end in imported):
            found += _bound_at(brackets, at, mention.end())
    return found


@lru_cache(maxsize=64)
def _mention(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w$#])(?<!(?<!\.\.)\.){re.escape(name)}(?![\w$])(?!\s*[?!]?\.(?!\.))")


def _bound_at(brackets: Brackets, at: int, end: int) -> Iterator[Bound]:
    code = brackets.code
    before = code[max(at - _BEFORE, 0) : at]
    if _OTHER.search(before) or re.compile(r"\s*=>").match(code, end):
        yield Bound(How.OTHER)
        return
    if _DECLARED.search(before):
        yield Bound(How.SHAPE)
        return
    variable = _VARIABLE.search(before) is not None
    colon = _COLON.match(code, end)
    equals = _EQUALS.match(code, end)
    around = brackets.around(at)
    opener = around[-1] if around else TOP
    in_parentheses = opener != TOP and code[opener] == "("
    first = _FIRST_OF_PARAMETER.search(before) is not None
    if variable:
        yield (
            _annotation(code, colon.end()) if colon else _value(brackets, equals.end()) if equals else Bound(How.OTHER)
        )
    elif equals is not None:
        yield _value(brackets, equals.end())
    elif in_parentheses and first and colon is not None:
        yield _annotation(code, colon.end())
    elif _FIRST_OF_PATTERN.search(before) and _LAST_OF_PATTERN.match(code, end) and _is_pattern(brackets, opener):
        yield Bound(How.OTHER)


def _is_pattern(brackets: Brackets, opener: int) -> bool:
    """Whether the names within a bracket are bound there: it is a list of parameters, or is taken apart."""
    code = brackets.code
    for one in brackets.upwards(opener):
        end = brackets.pairs[one] + 1
        if code[one] == "(":
            if re.compile(r"\s*=>").match(code, end):
                return True
            if not re.compile(r"\s*[{:]").match(code, end):
                return False
            return _CONTROL.search(code, max(one - _BEFORE, 0), one) is None
        if _EQUALS.match(code, end) or re.compile(r"\s*(?:of|in)\b").match(code, end):
            return True
        if not _FIRST_OF_PATTERN.search(code, max(one - _BEFORE, 0), one):
            return False
    return False


def _annotation(code: str, at: int) -> Bound:
    depth = 0
    end = at
    for found in re.compile(r"=>|[<>]|" + _ANNOTATION_END.pattern).finditer(code, at):
        mark, end = found[0], found.start()
        depth += (mark == "<") - (mark == ">")
        if mark not in "<>" and (depth <= 0 or mark == ";"):
            break
    else:
        end = len(code)
    # `a: {`, `a: (`: a bracket begins the type, so that nothing is before it
    kind = simple_type(code[at:end]) if not code.startswith("(", end) and not code.startswith("=>", end) else ""
    return Bound(How.ANNOTATION, kind) if kind else Bound(How.OTHER)


def _value(brackets: Brackets, at: int) -> Bound:
    code = brackets.code
    made = _NEW.match(code, at)
    if made is None:
        nothing = re.compile(r"(?:null|undefined)\b").match(code, at)
        return Bound(How.NONE) if nothing and _ENDED.match(code, nothing.end()) else Bound(How.OTHER)
    end = made.end()
    if code.startswith("(", end):
        end = brackets.pairs[end] + 1
    return Bound(How.NEW, made[1]) if _ENDED.match(code, end) else Bound(How.OTHER)
