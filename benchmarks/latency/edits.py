"""Kind c: the ways in which a user edits the beginning of a suggestion before going on.

Each free case gets the next one of `EDITS` in turn:

============  =====================================================================================
edit          what happens to the first lines of the suggestion
============  =====================================================================================
``rename``    the first variable that they introduce gets another name, everywhere in them
``comment``   a comment is appended to the first line that is none itself
``literal``   the first number in them becomes the next one, or the first string gets another word
``insert``    a line that prints something is put below the first one that opens no block and no bracket
============  =====================================================================================

The first lines are as few as the edit needs, counted from the first that is not blank, and `MOST_LINES` at most. What
follows them in the suggestion is the old text: unedited, so it still has the old name.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

EDITS = ("rename", "comment", "literal", "insert")
MOST_LINES = 4
"""A user who edits further down has read on, and would have accepted the lines above."""
COMMENTS = {"python": "#", "javascript": "//", "typescript": "//", "go": "//"}
"""What begins a comment up to the end of the line."""
PRINTING = {
    "python": 'print("here")',
    "javascript": 'console.log("here");',
    "typescript": 'console.log("here");',
    "go": 'fmt.Println("here")',
}
"""The statement that people insert to see whether a place is reached."""
COMMENT = "the usual case"
NEW_PREFIX = "my_"
_ASSIGNED = re.compile(
    r"^\s*(?:(?:const|let|var) [\[{]? ?)?(?P<name>[A-Za-z]\w*)(?:, \w+)*(?: ?[\]}])?(?:: [^=\n]+)? :?= "
    r"|\bfor \(?(?:(?:const|let|var) )?(?P<loop>[A-Za-z]\w*)(?:, \w+)* (?:in|of|:?=) ",
    re.MULTILINE,
)
"""An assignment that begins a line, or a loop variable."""
_NUMBER = re.compile(r"(?<![\w.])\d+(?![\w.])")
_STRING = re.compile(r"([\"'])(\w[^\"'\n]*)\1")


@dataclass(frozen=True, slots=True)
class Edited:
    """What the user has typed, and the rest of the suggestion."""

    typed: str
    """Whole lines, the last one ended."""
    rest: str


def edit(name: str, before: str, suggestion: str, language: str) -> Edited | None:
    """Return `suggestion`, which follows `before`, edited by one of `EDITS`; None where it has nothing to edit so."""
    change = _CHANGES[name]
    lines = suggestion.splitlines(keepends=True)
    first = next((number for number, line in enumerate(lines) if line.strip()), len(lines))
    for count in range(first + 1, min(first + MOST_LINES, len(lines) - 1) + 1):
        head, rest = "".join(lines[:count]), "".join(lines[count:])
        changed = change(head, language, before)
        if changed is not None and rest.strip():
            return Edited(changed, rest)
    return None


def _rename(head: str, language: str, before: str) -> str | None:
    for match in _ASSIGNED.finditer(head):
        name = match["name"] or match["loop"]
        if not re.search(rf"\b{name}\b", before):
            return re.sub(rf"\b{name}\b", NEW_PREFIX + name, head)
    return None


def _comment(head: str, language: str, before: str) -> str | None:
    last = head.rstrip("\n").rpartition("\n")[2].lstrip()
    if not last or last.startswith((COMMENTS[language], '"""')):
        return None
    return f"{head.rstrip()}  {COMMENTS[language]} {COMMENT}\n"


def _literal(head: str, language: str, before: str) -> str | None:
    number = _NUMBER.search(head)
    if number is not None:
        return head[: number.start()] + str(int(number.group()) + 1) + head[number.end() :]
    text = _STRING.search(head)
    if text is not None:
        return head[: text.start(2)] + "new " + head[text.start(2) :]
    return None


def _insert(head: str, language: str, before: str) -> str | None:
    last = head.rstrip("\n").rpartition("\n")[2]
    if last.rstrip().endswith(("(", "[", ",", ":", "{")):
        return None  # no place for a statement at this indentation
    indentation = last[: len(last) - len(last.lstrip())]
    return f"{head.rstrip()}\n{indentation}{PRINTING[language]}\n"


_CHANGES: dict[str, Callable[[str, str, str], str | None]] = {
    "rename": _rename,
    "comment": _comment,
    "literal": _literal,
    "insert": _insert,
}
