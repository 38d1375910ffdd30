"""The members in the body of a class, an interface, a type or an enumeration. Rather too many names than too few."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from spark_lsp.names.script.brackets import Brackets

NAME = r"[A-Za-z_$][\w$]*"
ARGUMENTS = r"<(?:[^<>(){};]|<(?:[^<>(){};]|<[^<>(){};]*>)*>)*>"
"""Type arguments with others in them, up to a depth; not the rest of a type that has some further on."""
_WORD = re.compile(rf"#?{NAME}")
_MODIFIERS = (
    r"(?:public|private|protected|override|declare|abstract|readonly|accessor|async|get|set|static|export|const)"
)
_DECORATORS = re.compile(rf"(?:@\s*{NAME}(?:\.{NAME})*\s*(?:\(\s*\))?\s*)+")
_STATIC = re.compile(rf"(?:{_MODIFIERS}\s+)*?static\b(?!\s*[(=:;?!<,]|\s*$)")
_COMPUTED = re.compile(rf"(?:{_MODIFIERS}\s+)*\*?\s*\[")
_QUOTED = re.compile(rf"(?:{_MODIFIERS}\s+)*\*?\s*([\"'])")
_TYPED = re.compile(
    rf"(?:{_MODIFIERS}\s+)*(#?{NAME})\s*[?!]?\s*(?::\s*([^=;]+?)\s*(?:=|$)|=\s*new\s+({NAME}(?:\.{NAME})*)\s*(?:{ARGUMENTS})?\s*\(\s*\)\s*$)"
)
_CONSTRUCTOR = re.compile(r"(?<![\w$.#])constructor\s*\(")
_GOES_ON = re.compile(r"\s*[|&=]")
"""Begins a line that belongs to the one before."""
_BEHIND_NAME = re.compile(r"[:=(<?!{]")
_PARAMETER = re.compile(
    rf"(?:(?:public|private|protected|readonly|override)\s+)+({NAME})\s*\??\s*(?::\s*([^=]+))?", re.DOTALL
)
_KNOWN_SYMBOL = re.compile(r"\s*Symbol\s*\.\s*\w+\s*$")
_SIMPLE = re.compile(
    rf"\|?\s*(?:readonly\s+)?(?:(?:Readonly|Required|Partial)\s*<\s*({NAME}(?:\.{NAME})*)\s*>|({NAME}(?:\.{NAME})*)\s*(?:{ARGUMENTS})?)"
    r"(?:\s*\|\s*(?:null|undefined))*"
)


@dataclass(slots=True)
class Body:
    """What a body has."""

    names: set[str] = field(default_factory=set)
    """Of instances."""
    statics: set[str] = field(default_factory=set)
    types: dict[str, str] = field(default_factory=dict)
    """The class or interface of those members of instances that are declared to be of one; else an empty text."""
    dynamic: bool = False
    """Whether it may have names that are not written in it."""
    callable: bool = False
    """Whether it can be called as a function."""


def words(text: str) -> Iterator[str]:
    """Yield all identifiers, private ones with their mark."""
    return iter(_WORD.findall(text))


def simple_type(written: str) -> str:
    """Return the class or interface that a type names, type arguments, null and undefined apart; else nothing."""
    found = _SIMPLE.fullmatch(written.strip())
    return "".join((found[1] or found[2] or "").split()) if found is not None else ""


def class_body(brackets: Brackets, opener: int, raw: str) -> Body:
    """Return the members of a class; `raw` is the same code with its strings."""
    body = Body(dynamic=_is_torn(brackets, opener))
    for at, text in _members(brackets.flat(opener), ";", opener + 1):
        _take(body, brackets, at, text, raw)
        if "constructor" in text and _CONSTRUCTOR.search(text):
            for inner in brackets.inner[opener]:
                if at <= inner < at + len(text) and brackets.code[inner] == "(":
                    _take_parameters(body, brackets.flat(inner))
    return body


def type_body(brackets: Brackets, opener: int, raw: str) -> Body:
    """Return the members of an interface or of the literal of an object type."""
    body = Body(dynamic=_is_torn(brackets, opener))
    for at, text in _members(brackets.flat(opener), ";,", opener + 1):
        if text[0] in "(<":
            body.callable = True
        else:
            _take(body, brackets, at, text, raw)
    return body


def enum_body(brackets: Brackets, opener: int, raw: str) -> Body:
    """Return the members of an enumeration, which are names of the thing itself."""
    body = Body(dynamic=_is_torn(brackets, opener))
    body.statics.update(words(raw[opener + 1 : brackets.pairs[opener]]))
    return body


def _is_torn(brackets: Brackets, opener: int) -> bool:
    return opener in brackets.torn or brackets.pairs[opener] >= len(brackets.code)


def _members(flat: str, separators: str, start: int) -> Iterator[tuple[int, str]]:
    """Yield the parts that may be members, without decorators, and where they begin. A part may be the rest of one."""
    at = 0
    for end in [*(found.end() for found in re.finditer(rf"[{separators}}}\n]", flat)), len(flat)]:
        if not flat[at:end].strip():
            at = end
            continue
        if flat[end - 1] == "\n" and _GOES_ON.match(flat, end):
            continue
        text = flat[at:end].rstrip(" \t\r\n;,")
        begin = at + len(text) - len(text.lstrip())
        decorated = _DECORATORS.match(flat, begin, at + len(text)) if flat[begin] == "@" else None
        begin = decorated.end() if decorated is not None else begin
        text = flat[begin : at + len(text)]
        if text:
            yield start + begin, text
        at = end


def _take(body: Body, brackets: Brackets, at: int, text: str, raw: str) -> None:
    static = _STATIC.match(text) is not None
    computed = _COMPUTED.match(text)
    if computed is not None:
        opener = at + computed.end() - 1
        inside = brackets.code[opener + 1 : brackets.pairs.get(opener, opener)]
        body.dynamic = body.dynamic or _KNOWN_SYMBOL.match(inside) is None
        return
    quoted = _QUOTED.match(text)
    if quoted is not None:
        begin = at + quoted.end()
        end = raw.find(quoted[1], begin)
        body.names.update(words(raw[begin:end]))
        return
    if static and re.search(r"static\s*\{", text):
        body.dynamic = True
    behind = _BEHIND_NAME.search(text)
    head = text[: behind.start()] if behind is not None else text
    (body.statics if static else body.names).update(words(head))
    typed = _TYPED.match(text)
    if not static and typed is not None:
        kind = typed[3] or simple_type(typed[2])
        name = typed[1]
        body.types[name] = kind if body.types.get(name, kind) == kind else ""


def _take_parameters(body: Body, flat: str) -> None:
    for part in flat.split(","):
        decorated = _DECORATORS.match(part.lstrip())
        text = part.lstrip()[decorated.end() if decorated is not None else 0 :]
        found = _PARAMETER.match(text)
        if found is not None:
            body.names.add(found[1])
            kind = simple_type(found[2]) if found[2] else ""
            body.types[found[1]] = kind if body.types.get(found[1], kind) == kind else ""
