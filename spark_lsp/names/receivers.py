"""What a name in the buffer is: a module, a class, an instance of one. Every place that binds the name is looked at."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache

from spark_lsp.names.modules import BUFFER, Library, Target

MOST_LINES = 400
"""Lines that mention a name; one that is mentioned more often is not looked into, to stay within a millisecond."""
NAMES_OF_CLASSES = frozenset({"mro", "register"})
"""What a class has from its metaclass, and its instances do not have."""
_EQUALS = re.compile(r"(?<![=!<>:+\-*/%&|^@])=(?!=)")
_DOTTED = r"[^\W\d]\w*(?:\.[^\W\d]\w*)*"
_CALL = re.compile(rf"({_DOTTED})\s*\(")
_OPTIONAL = re.compile(rf"(?:typing\.)?Optional\[\s*({_DOTTED})\s*\]|({_DOTTED})\s*\|\s*None|None\s*\|\s*({_DOTTED})")
_COMPOUND = re.compile(r"(?:async\s+)?(?:for|with)\b|except\b|case\b|del\b")


class Kind(Enum):
    """How a name is bound."""

    IMPORT = "import"
    CLASS = "class"
    CALL = "call"
    ANNOTATION = "annotation"
    NONE = "none"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Bound:
    """One binding."""

    kind: Kind
    value: str = ""
    """The called or annotated name; of an import the module as it is written."""
    there: str = ""


def bindings(name: str, lines: Iterable[str]) -> list[Bound] | None:
    """Return every binding of `name` in these logical lines, imports apart; None if there are too many lines."""
    found: list[Bound] = []
    bare = _bare(name)
    mentioned = 0
    for line in lines:
        if name in line and bare.search(line) is not None:
            mentioned += 1
            if mentioned > MOST_LINES:
                return None
            if not line.startswith(("import ", "from ")):
                found += _bindings_in(name, bare, line)
    return found


@lru_cache(maxsize=64)
def _bare(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w.]){re.escape(name)}(?!\w)(?!\s*\.)")


def _bindings_in(name: str, bare: re.Pattern[str], text: str) -> Iterator[Bound]:
    if re.match(rf"class\s+{name}\b", text):
        yield Bound(Kind.CLASS)
        return
    definition = re.match(r"(?:async\s+)?def\s+(\w+)[^(]*\(", text)
    if definition is not None:
        if definition[1] == name:
            yield Bound(Kind.OTHER)
        yield from _parameters(name, text[definition.end() :])
        return
    escaped = re.escape(name)
    if re.search(rf"\blambda\b[^:]*\b{escaped}\b[^:]*:", text) or re.search(rf"(?<![\w.]){escaped}\s*:=", text):
        yield Bound(Kind.OTHER)
    for target in re.findall(r"\bfor\b(.+?)\bin\b", text):
        if bare.search(target):
            yield Bound(Kind.OTHER)
    if _COMPOUND.match(text):
        if re.match(r"(?:case|del)\b", text) or re.search(rf"\bas\b[^:]*(?<![\w.]){escaped}(?!\w)", text):
            yield Bound(Kind.OTHER)
        return
    yield from _assignment(name, bare, text)


def _assignment(name: str, bare: re.Pattern[str], text: str) -> Iterator[Bound]:
    behind = re.search(r"[+\-*/%&|^@]=(?!=)", text)
    if behind is not None and text[: behind.start()].strip() == name:
        yield Bound(Kind.OTHER)
        return
    one_line = re.match(r"(?:if|elif|while|else|try|finally)\b.*?:\s+(?=\S)", text)
    parts = _at_depth_zero(text[one_line.end() :] if one_line is not None else text)
    if len(parts) == 1:
        annotated = re.fullmatch(rf"{re.escape(name)}\s*:\s*(.+)", parts[0].strip())
        if annotated is not None:
            yield _annotation(annotated[1])
        return
    value = parts[-1].strip()
    for target in parts[:-1]:
        if bare.search(target) is None:
            continue
        stripped = target.strip()
        annotated = re.fullmatch(rf"{re.escape(name)}\s*:\s*(.+)", stripped)
        if annotated is not None:
            yield _annotation(annotated[1])
        elif stripped == name:
            yield _value(value)
        elif not re.search(rf"[\w.\])]\s*\[[^\]]*(?<![\w.]){re.escape(name)}(?!\w)", stripped):  # a[name] = 1 is a use
            yield Bound(Kind.OTHER)


def _at_depth_zero(text: str) -> list[str]:
    """Split at the equal signs of assignments, not at those of keyword arguments."""
    parts, begin, depth = [], 0, 0
    for match in re.finditer(r"[()\[\]{}]|=", text):
        character = match.group()
        if character == "=":
            if depth == 0 and _EQUALS.match(text, match.start()):
                parts.append(text[begin : match.start()])
                begin = match.end()
        else:
            depth += 1 if character in "([{" else -1
    return [*parts, text[begin:]]


def _value(value: str) -> Bound:
    if value == "None":
        return Bound(Kind.NONE)
    call = _CALL.match(value)
    if call is None or _closing(value, call.end() - 1) != len(value) - 1:
        return Bound(Kind.OTHER)
    return Bound(Kind.CALL, call[1])


def _closing(text: str, opener: int) -> int:
    depth = 0
    for at in range(opener, len(text)):
        depth += (text[at] in "([{") - (text[at] in ")]}")
        if depth == 0:
            return at
    return -1


def _annotation(written: str) -> Bound:
    stripped = written.strip()
    optional = _OPTIONAL.fullmatch(stripped)
    name = next((group for group in optional.groups() if group), "") if optional is not None else stripped
    return Bound(Kind.ANNOTATION, name) if re.fullmatch(_DOTTED, name) else Bound(Kind.OTHER)


def _parameters(name: str, header: str) -> Iterator[Bound]:
    depth, begin = 1, 0
    ends = []
    for at, character in enumerate(header):
        depth += (character in "([{") - (character in ")]}")
        if depth == 0 or (character == "," and depth == 1):
            ends.append(header[begin:at])
            begin = at + 1
        if depth == 0:
            break
    else:
        ends.append(header[begin:])
    for parameter in ends:
        match = re.match(r"\s*(\**)\s*(\w+)\s*(?::\s*([^=]+))?(.*)", parameter, re.DOTALL)
        if match is not None and match[2] == name:
            yield _annotation(match[3]) if match[3] and not match[1] else Bound(Kind.OTHER)


def names_of(found: Iterable[Bound], library: Library) -> tuple[frozenset[str] | None, bool]:
    """Return all names of something that is bound in these ways in the buffer, and whether it is an instance.

    None if one way is not understood, or if there is none.
    """
    names: frozenset[str] = frozenset()
    known = instance = False
    more: frozenset[str] | None
    for bound in found:
        if bound.kind is Kind.NONE:
            continue
        target, made = target_of(bound, library)
        more = library.names(target) if target is not None else None
        if more is None or (made and "__new__" in more):  # then it may be an instance of something else
            return None, instance
        if target is not None and target.name and not made:
            more |= NAMES_OF_CLASSES
        names, known, instance = names | more, True, instance or made
    return (names if known else None), instance


def target_of(bound: Bound, library: Library, name: str = "") -> tuple[Target | None, bool]:
    """Return what a binding leads to, and whether the name is an instance of that."""
    if bound.kind is Kind.IMPORT:
        return library.imported(BUFFER, bound.value, bound.there), False
    if bound.kind is Kind.CLASS:
        return library.resolve(BUFFER, bound.value or name), False
    if bound.kind in (Kind.CALL, Kind.ANNOTATION):
        target = library.resolve(BUFFER, bound.value)
        if bound.kind is Kind.ANNOTATION and target is not None and target.name in library.bases:
            return None, True  # it may be an instance of a subclass
        return (target if target is not None and target.name else None), True
    return None, False
