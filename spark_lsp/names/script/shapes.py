"""The classes, interfaces, object types and enumerations of a code, as they are written."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum

from spark_lsp.names.script.bodies import ARGUMENTS, NAME, Body, class_body, enum_body, simple_type, type_body
from spark_lsp.names.script.brackets import TOP, Brackets

_HEAD_WORD = re.compile(r"class|interface|enum|type")
_HEAD = re.compile(
    rf"(?:(class)(?=\s*\{{|\s+{NAME})|(interface|enum)(?=\s+{NAME}\s*[<{{\w])|(type)(?=\s+{NAME}\s*[=<]))\s*"
    rf"((?!extends\b|implements\b){NAME})?"
)
_WITHIN_NAME = re.compile(r"[\w$.#]")
_DOTTED = re.compile(rf"{NAME}(?:\.{NAME})*")
_MOST_HEAD = 600
"""Characters from the name to the body."""
_GIVEN_AWAY = re.compile(r"\(\s*this\b")
_ADDS_TO = re.compile(
    r"(?:\b(?:assign|extend|mixins?|merge|defaults|inherits|augment|definePropert(?:y|ies)|setPrototypeOf)"
    r"|(?<![\w$.])[A-Z][\w$.]*\.(?:call|apply)|\bnew\s+Proxy)\s*$"
)
"""What may add members to what it is called with."""
_PUT_BY_NAME = re.compile(r"this\s*\[[^\n]*?\]\s*(?:[-+*/%&|^?]{0,3})=(?![=>])|eval\s*\(")
_THIS = re.compile(rf"this\s*([?!]?)\.\s*(#?{NAME})(\s*=(?![=>]))?")
"""Of `_this`, too: that is mostly the same."""
_ALIAS = re.compile(r"=\s*this\b(?!\s*[\w$.\[?!])")
_LAST_NAME = re.compile(rf"({NAME})\s*$")
_UNFINISHED = "implemented", "must implement", "overrid", "subclass", "sub-class", "base class", "abstract"
"""In a class, its comments included, without capitals: something is left to classes made of it."""
_LONGEST_CALL = 60
"""Characters before a bracket or an equal sign that are looked at."""
_FOR_OTHERS = re.compile(r"Mixin|Base|Abstract|Interface")
_AROUND = re.compile(r"(?:namespace|module|global)\b[^;{}()]*$")
_DECORATED = re.compile(rf"@\s*({NAME}(?:\.{NAME})*)\s*(?:\(\s*\))?")
_BETWEEN = re.compile(r"(?:export|default|abstract|declare|\s)*$")
_PLAIN_DECORATORS = frozenset(
    {"ArgsType", "Catch", "Component", "Controller", "customElement", "Directive", "Entity", "Global", "injectable"}
    | {"Injectable", "InputType", "InterfaceType", "Module", "NgModule", "ObjectType", "observer", "Pipe", "Resolver"}
    | {"Schema", "singleton", "Singleton"}
)
"""Of frameworks; they register a class and add no public member to it."""


class Kind(Enum):
    """What a shape is."""

    CLASS = "class"
    INTERFACE = "interface"
    TYPE = "type"
    ENUM = "enum"


@dataclass(frozen=True, slots=True)
class Shape:
    """One of them. A type is made of what it is joined from; of alternatives it has all names too."""

    kind: Kind
    name: str
    """Empty for a class without one."""
    bases: tuple[str, ...]
    """Names with dots."""
    names: frozenset[str]
    statics: frozenset[str]
    types: Mapping[str, str]
    dynamic: bool
    """Whether it may have names that are not written in it."""
    callable: bool = False
    foreign: frozenset[str] = frozenset()
    """Attributes of `this` that it uses and does not bind."""
    for_others: bool = False
    """Whether its methods are likely to use names of classes that are made of it."""
    first: int = -1
    """Where its body opens, in its piece."""


def shapes_of(brackets: Brackets, raw: str) -> tuple[Shape, ...]:
    """Return the shapes of a code in the order in which they begin; `raw` is the same code with its strings."""
    return tuple(_found(brackets, raw))


def joined(one: Shape, other: Shape) -> Shape:
    """Return what two shapes of the same name are together, in one module."""
    kinds = {one.kind, other.kind}
    kind = Kind.CLASS if Kind.CLASS in kinds else one.kind
    return Shape(
        kind,
        one.name,
        tuple(dict.fromkeys(one.bases + other.bases)),
        one.names | other.names,
        one.statics | other.statics,
        {
            name: kind if one.types.get(name, kind) == other.types.get(name, kind) else ""
            for name, kind in {**one.types, **other.types}.items()
        },
        one.dynamic or other.dynamic or kinds not in ({kind}, {Kind.CLASS, Kind.INTERFACE}),
        one.callable or other.callable,
        one.foreign | other.foreign,
        one.for_others or other.for_others,
        one.first,
    )


def _found(brackets: Brackets, raw: str) -> Iterator[Shape]:
    code = brackets.code
    for word in _HEAD_WORD.finditer(code):
        head = _HEAD.match(code, word.start())
        if head is None or _WITHIN_NAME.match(code, max(head.start() - 1, 0), head.start()):
            continue
        kind = Kind(head[1] or head[2] or head[3])
        name = head[4] or ""
        if kind is Kind.TYPE:
            yield _type(brackets, raw, name, head.end())
            continue
        opener = _body(brackets, head.end())
        if opener is None:
            continue
        heritage = without_arguments(code[head.end() : opener])
        if kind is Kind.ENUM:
            yield _shape(kind, name, (), True, enum_body(brackets, opener, raw), brackets, opener)
        elif kind is Kind.INTERFACE:
            bases, plain = _bases(heritage)
            yield _shape(kind, name, bases, plain, type_body(brackets, opener, raw), brackets, opener)
        else:
            yield _class(brackets, raw, name, heritage, head.start(), opener)


def _class(brackets: Brackets, raw: str, name: str, heritage: str, start: int, opener: int) -> Shape:
    code, end = brackets.code, brackets.pairs[opener]
    body = class_body(brackets, opener, raw)
    inside = code[opener:end]
    found = _THIS.findall(inside)
    used = {name for _, name, _ in found}
    bound = {name for mark, name, equals in found if equals and not mark}
    for alias in _before(_LAST_NAME, _ALIAS, inside):
        bound.update(re.findall(rf"(?<![\w$.]){re.escape(alias[1])}\.(#?{NAME})", inside))
    bases, plain = _bases(re.sub(r"\bimplements\b.*", "", heritage, flags=re.DOTALL))
    body.names |= bound
    made_later = any(_before(_ADDS_TO, _GIVEN_AWAY, inside)) or _PUT_BY_NAME.search(inside) is not None
    body.dynamic = body.dynamic or made_later or not _is_plain(brackets, start)
    lower = raw[opener:end].lower()
    for_others = any(map(_FOR_OTHERS.search, (name, *bases))) or any(mark in lower for mark in _UNFINISHED)
    shape = _shape(Kind.CLASS, name, bases, plain, body, brackets, opener)
    return replace(shape, foreign=frozenset(used) - shape.names, for_others=for_others)


def _before(pattern: re.Pattern[str], anchor: re.Pattern[str], code: str) -> Iterator[re.Match[str]]:
    """Yield what of `pattern` ends where `anchor` begins; fast where the anchor begins with a fixed character."""
    for found in anchor.finditer(code):
        before = pattern.search(code, max(found.start() - _LONGEST_CALL, 0), found.start())
        if before is not None:
            yield before


def _shape(
    kind: Kind, name: str, bases: tuple[str, ...], plain: bool, body: Body, brackets: Brackets, opener: int
) -> Shape:
    """`plain`: whether nothing else than `bases` and `body` gives it names."""
    end = brackets.pairs[opener]
    unsure = body.dynamic or not plain or not _is_well_placed(brackets.code, opener, end)
    unsure = unsure or _is_in_namespace(brackets, brackets.parents[opener])
    return Shape(
        kind, name, bases, frozenset(body.names), frozenset(body.statics), body.types, unsure, body.callable,
        first=opener,
    )  # fmt: skip


def _type(brackets: Brackets, raw: str, name: str, at: int) -> Shape:
    """Read a type from its name on: literals and names, joined."""
    code = brackets.code
    names: set[str] = set()
    types: dict[str, str] = {}
    bases: list[str] = []
    dynamic = callable_ = False
    equals = re.compile(r"\s*(?:<[^=;{}]*>\s*)?=\s*[|&]?\s*").match(code, at)
    place = equals.end() if equals is not None else at
    first = -1
    while True:
        if code.startswith("{", place):
            body = type_body(brackets, place, raw)
            names |= body.names
            types = {**types, **body.types} if not types else dict.fromkeys({*types, *body.types}, "")
            dynamic, callable_ = dynamic or body.dynamic, callable_ or body.callable
            first, place = place, brackets.pairs[place] + 1
        else:
            term = re.compile(rf"{NAME}(?:\.{NAME})*(?:\s*{ARGUMENTS})?").match(code, place)
            base = simple_type(term[0]) if term is not None else ""
            if term is None or not base:
                dynamic = True
                break
            if base not in ("null", "undefined"):
                bases.append(base)
            place = term.end()
        more = re.compile(r"\s*[|&]\s*").match(code, place)
        if more is None:
            dynamic = dynamic or re.compile(r"[ \t]*(?:[\[?(<.\w$]|=>)|\s*extends\b").match(code, place) is not None
            break
        place = more.end()
    around = brackets.around(at)
    dynamic = dynamic or _is_in_namespace(brackets, around[-1] if around else TOP)
    return Shape(Kind.TYPE, name, tuple(bases), frozenset(names), frozenset(), types, dynamic, callable_, first=first)


def _body(brackets: Brackets, at: int) -> int | None:
    """Return where the body opens of what is named before `at`; braces in its type arguments are passed over."""
    code = brackets.code
    place = code.find("{", at, at + _MOST_HEAD)
    while place != -1:
        head = code[at:place].replace("=>", "")
        if head.count("<") == head.count(">"):
            return place if place in brackets.pairs and ";" not in head else None
        place = code.find("{", brackets.pairs.get(place, place) + 1, at + _MOST_HEAD)
    return None


def _bases(heritage: str) -> tuple[tuple[str, ...], bool]:
    """Return what a head says after `extends`, and whether all of it is names."""
    found = heritage.split("extends", 1)
    if len(found) == 1:
        return (), not found[0].strip()
    written = [re.sub(r"\s", "", part) for part in found[1].split(",")]
    return tuple(part for part in written if _DOTTED.fullmatch(part)), all(map(_DOTTED.fullmatch, written))


def without_arguments(head: str) -> str:
    """Return a head without what stands in angle brackets."""
    depth, kept = 0, []
    for part in re.split(r"(=>|[<>])", head):
        if part in "<>" and part:
            depth += 1 if part == "<" else -1
        elif depth == 0:
            kept.append(part)
    return "".join(kept)


def _is_well_placed(code: str, opener: int, end: int) -> bool:
    """Whether a body ends where its indentation says."""
    if end >= len(code):
        return False
    if "\n" not in code[opener:end]:
        return True
    alone = not code[code.rfind("\n", 0, end) + 1 : end].strip()
    return alone and _indentation(code, end) == _indentation_of_head(code, opener)


def _is_in_namespace(brackets: Brackets, opener: int) -> bool:
    """Whether something around, from `opener` on, may be joined with what others write under its name."""
    return any(_AROUND.search(brackets.code, max(one - 80, 0), one) for one in brackets.upwards(opener))


def _indentation(code: str, at: int) -> str:
    line = code[code.rfind("\n", 0, at) + 1 :][:200]
    return line[: len(line) - len(line.lstrip())]


def _indentation_of_head(code: str, opener: int) -> str:
    """Of the line that begins what has its body at `opener`."""
    starts = [*re.finditer(r"(?<![\w$.#])(?:class|interface|enum|type)\b", code[max(opener - _MOST_HEAD, 0) : opener])]
    return _indentation(code, max(opener - _MOST_HEAD, 0) + starts[-1].start()) if starts else "?"


def _is_plain(brackets: Brackets, start: int) -> bool:
    """Whether no decorator before a class can add members."""
    code = brackets.code
    end = start
    while True:
        before = _BETWEEN.search(code, max(end - 200, 0), end)
        end = before.start() if before is not None else end
        if end and code[end - 1] == ")":
            opener = next((one for one in reversed(brackets.openers) if brackets.pairs[one] == end - 1), None)
            end = opener if opener is not None else end - 1
        found = re.compile(rf"@\s*({NAME}(?:\.{NAME})*)\s*$").search(code, max(end - 100, 0), end)
        if found is None:
            return True
        if found[1] not in _PLAIN_DECORATORS:
            return False
        end = found.start()
