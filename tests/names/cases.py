"""Text cases of `tests/cases/names/*.txt`: files, a document with a cursor mark, and names behind the cursor.

::

    == title
    -- tools.py                 a file of the workspace; without any, the text is the document
    LIMIT = 1
    -- main.py                  the last one is the document
    import tools
    x = tools.█
    >> knows: LIMIT             names that nothing is said against
    >> refuses: strip           names that do not exist
    >> open: strip              names that are not judged, though nobody knows them

The language is that of the document's file or, without files, the one that the cases are named after.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from spark_lsp.syntax.languages import PLAIN, Language, language_for

CURSOR = "█"
_FOLDER = Path(__file__).parent.parent / "cases" / "names"


@dataclass(frozen=True, slots=True)
class Case:
    title: str
    files: dict[str, str]
    text: str
    cursor: int
    expected: dict[str, list[str]]
    language: Language
    document: str
    """The name of its file."""

    def __str__(self) -> str:
        return f"{self.language.name}: {self.title}"


def all_cases() -> list[Case]:
    return [
        case for file in sorted(_FOLDER.glob("*.txt")) for case in _read(file.read_text(encoding="utf-8"), file.stem)
    ]


def _read(text: str, stem: str) -> list[Case]:
    cases = []
    for section in ("\n" + text).split("\n== ")[1:]:
        title, *lines = section.rstrip("\n").split("\n")
        expected = {}
        while lines[-1].startswith(">> "):
            key, _, names = lines.pop()[3:].partition(": ")
            expected[key] = names.split()
        assert expected.keys() <= {"knows", "refuses", "open"} and expected, title
        parts = ("\n" + "\n".join(lines) + "\n").split("\n-- ")
        files = {name: text for name, _, text in (part.partition("\n") for part in parts[1:])}
        document = [*files][-1] if files else f"main{language_for(stem, '').extensions[0]}"
        marked = files.pop(document) if files else parts[0][1:]
        language = language_for("", document)
        assert language is not PLAIN, title
        cases.append(Case(title, files, marked.replace(CURSOR, ""), marked.index(CURSOR), expected, language, document))
    return cases
