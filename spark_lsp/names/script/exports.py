"""What a module imports and exports."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from spark_lsp.names.script.bodies import NAME, words
from spark_lsp.names.script.brackets import TOP, Brackets

ALL = "*"
"""In place of a name: the module itself."""
DEFAULT = "default"
_IMPORT = re.compile(rf"(?<![\w$.#])import\s+(?:type\s+(?!from\b))?(?:({NAME})\s*,?\s*)?(?:\*\s*as\s+({NAME})|(\{{))?")
_FROM = re.compile(r"\s*from\s*([\"'])")
_BARE_IMPORT = re.compile(r"(?<![\w$.#])import\s*([\"'])")
_EXPORT = re.compile(r"(?<![\w$.#@])export\b")
_STAR = re.compile(rf"\s*(?:type\s*)?\*\s*(?:as\s+({NAME})\s*)?from\s*([\"'])")
_LIST = re.compile(r"\s*(?:type\s*)?(\{)")
_DEFAULT = re.compile(r"\s*default\b\s*")
_DEFAULT_NAME = re.compile(rf"(?:(?:abstract\s+)?(?:class|interface|enum)\s+({NAME})|({NAME})\s*(?:;|\n|$))")
_DEFINED = re.compile(
    rf"\s*(?:declare\s+|abstract\s+|async\s+|const\s+(?=enum\b))*(?:function\b\s*\*?|class\b|interface\b|enum\b|type\b|namespace\b|module\b|import\b)\s*({NAME})"
)
_VALUES = re.compile(r"\s*(?:declare\s+)?(?:const|let|var|using)\b")
_ALIAS = re.compile(rf"(?:type\s+(?!as\b))?({NAME})(?:\s+as\s+({NAME}))?")
_MADE_LATER = re.compile(r"exports\s*[.\[=]|\(\s*exports\s*,|export\s*=")
"""Modules of the old kind."""
_OTHERS = re.compile(rf"(?:const|let|var|using|function\s*\*?|namespace|module)\s+(?!enum\b)({NAME})")
"""Rather too many: what comes before is not looked at, since that would take most of the time."""
_PROTOTYPE = re.compile(rf"({NAME})\s*\.\s*(?:prototype|__proto__)\b")


@dataclass(frozen=True, slots=True)
class Links:
    """What a part of a module imports, exports and binds. Modules are named as they are written."""

    imports: Mapping[str, tuple[tuple[str, str], ...]] = field(default_factory=dict)
    """By the name here: module and name there, `ALL` for the module itself."""
    exports: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """By the name outside: module, empty for this one, and the name there; an empty one where that is not known."""
    stars: tuple[str, ...] = ()
    """Modules of which everything is exported."""
    dynamic: bool = False
    """Whether it may export names that are not written in it."""
    others: frozenset[str] = frozenset()
    """Names of variables, functions and namespaces, wherever in it."""
    prototypes: frozenset[str] = frozenset()
    """Names of classes to which something may be added below them."""
    imported: tuple[tuple[int, int], ...] = ()
    """Where the imports stand."""


def links_of(brackets: Brackets, raw: str) -> Links:
    """Return what a code imports and exports; `raw` is the same code with its strings."""
    code = brackets.code
    flat = brackets.flat(TOP)
    imports: dict[str, list[tuple[str, str]]] = {}
    spans: list[tuple[int, int]] = []
    if "import" in code:
        for found in _IMPORT.finditer(flat):
            _take_import(brackets, raw, found, imports, spans)
    exports: dict[str, tuple[str, str]] = {}
    stars: list[str] = []
    dynamic = "export" in code and _MADE_LATER.search(code) is not None
    for found in _EXPORT.finditer(flat) if "export" in code else ():
        dynamic = not _take_export(brackets, raw, flat, found.end(), exports, stars) or dynamic
    return Links(
        {name: tuple(dict.fromkeys(there)) for name, there in imports.items()},
        exports,
        tuple(stars),
        dynamic,
        frozenset(_OTHERS.findall(code)),
        frozenset(_PROTOTYPE.findall(code) if "proto" in code else ()) - {"this"},
        tuple(spans),
    )


def _take_import(
    brackets: Brackets,
    raw: str,
    found: re.Match[str],
    imports: dict[str, list[tuple[str, str]]],
    spans: list[tuple[int, int]],
) -> None:
    end = brackets.pairs[found.start(3)] + 1 if found[3] else found.end()
    origin = _FROM.match(brackets.code, end)
    if origin is None:
        if found[1] and not found[2] and not found[3]:  # `import a = require("b")`, `import A = B.C`
            imports.setdefault(found[1], []).append(("", ""))
        return
    module = _string(raw, origin)
    if found[1]:
        imports.setdefault(found[1], []).append((module, DEFAULT))
    if found[2]:
        imports.setdefault(found[2], []).append((module, ALL))
    if found[3]:
        for there, here in _listed(brackets.code[found.start(3) + 1 : end - 1]):
            imports.setdefault(here, []).append((module, there))
    spans.append((found.start(), origin.end()))


def _take_export(
    brackets: Brackets, raw: str, flat: str, at: int, exports: dict[str, tuple[str, str]], stars: list[str]
) -> bool:
    """Read one export from behind its word on; False if it is not understood."""
    code = brackets.code
    star = _STAR.match(code, at)
    if star is not None:
        if star[1]:
            exports[star[1]] = _string(raw, star), ALL
        else:
            stars.append(_string(raw, star))
        return True
    listed = _LIST.match(code, at)
    if listed is not None:
        opener = listed.start(1)
        end = brackets.pairs[opener]
        origin = _FROM.match(code, end + 1)
        module = _string(raw, origin) if origin is not None else ""
        for here, outside in _listed(code[opener + 1 : end]):
            exports[outside] = module, here
        return end < len(code)
    default = _DEFAULT.match(flat, at)
    if default is not None:
        named = _DEFAULT_NAME.match(flat, default.end())
        exports[DEFAULT] = "", ((named[1] or named[2]) if named is not None else "")
        return True
    defined = _DEFINED.match(flat, at)
    if defined is not None:
        exports[defined[1]] = "", defined[1]
        return True
    values = _VALUES.match(flat, at)
    if values is None:
        return False
    end = _statement_end(flat, values.end())
    pattern = flat[values.end() : end].lstrip()[:1] in ("{", "[")
    for name in words((code if pattern else flat)[values.end() : end]):
        exports.setdefault(name, ("", ""))
    return True


def _statement_end(flat: str, at: int) -> int:
    """Return where a declaration of values ends that may list several; rather too late."""
    while True:
        end = flat.find("\n", at)
        if end == -1:
            return len(flat)
        goes_on = flat[at:end].rstrip()[-1:] in (",", "=") or flat[end:].lstrip()[:1] == ","
        if ";" in flat[at:end] or not goes_on:
            return end
        at = end + 1


def _listed(text: str) -> list[tuple[str, str]]:
    """Return the names in the braces of an import or export, with what they become."""
    return [(found[1], found[2] or found[1]) for part in text.split(",") if (found := _ALIAS.match(part.strip()))]


def _string(raw: str, opened: re.Match[str]) -> str:
    """Return the string whose quote is the last group of a match."""
    quote = opened.end() - 1
    end = raw.find(raw[quote], quote + 1)
    return raw[quote + 1 : end] if end != -1 else ""
