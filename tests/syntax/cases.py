"""Text cases with a cursor mark, read from ``tests/cases/syntax/*.txt``.

::

    == languageId: title
    def f():
        x = 1█                 the mark is the cursor and no part of the text
    >> block: 1-2              lines, counted from 1; or none
    >> statement: x = 1        the text, with ⏎ for a line end; or none

Only what a case mentions is checked. The text ends with a line end unless the cursor stands at its very end.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

CURSOR = "█"
_FOLDER = Path(__file__).parent.parent / "cases" / "syntax"


@dataclass(frozen=True, slots=True)
class Case:
    language_id: str
    title: str
    text: str
    offset: int
    expected: dict[str, str]

    def __str__(self) -> str:
        return f"{self.language_id}: {self.title}"


def at_cursor(marked: str) -> tuple[str, int]:
    """The text without its mark, and where the mark was."""
    before, mark, after = marked.partition(CURSOR)
    assert mark, f"no cursor in {marked!r}"
    return before + after, len(before)


def all_cases() -> list[Case]:
    return [case for file in sorted(_FOLDER.glob("*.txt")) for case in _read(file)]


def _read(file: Path) -> list[Case]:
    cases = []
    for section in ("\n" + file.read_text(encoding="utf-8")).split("\n== ")[1:]:
        head, *lines = section.rstrip("\n").split("\n")
        language_id, _, title = head.partition(": ")
        expected = {}
        while lines[-1].startswith(">> "):
            name, _, value = lines.pop()[3:].partition(": ")
            expected[name] = value
        marked = "\n".join(lines) + ("" if lines[-1].endswith(CURSOR) else "\n")
        text, offset = at_cursor(marked)
        assert expected, f"{file.name}: {head} checks nothing"
        cases.append(Case(language_id, title, text, offset, expected))
    return cases
