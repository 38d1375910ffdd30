"""Text cases of the rules, read from ``tests/cases/postprocess/*.txt``, one file a rule.

::

    == languageId: title
    print(█)            the document, with the cursor
    << x)               what the model wrote, line by line
    >> x                what is shown; ∅ for nothing

``→`` is a tab, ``␍`` a carriage return, and ``·`` a blank at the end of a line.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from spark_lsp.documents.text import TextSnapshot
from spark_lsp.postprocess import Place
from spark_lsp.syntax.languages import language_for
from spark_lsp.syntax.parser import parse

CURSOR = "█"
_FOLDER = Path(__file__).parent.parent / "cases" / "postprocess"


@dataclass(frozen=True, slots=True)
class Case:
    rule: str
    language_id: str
    title: str
    marked: str
    written: str
    shown: str

    def __str__(self) -> str:
        return f"{self.rule}: {self.language_id}: {self.title}"

    @property
    def place(self) -> Place:
        language = language_for(self.language_id, "")
        text = self.marked.replace(CURSOR, "")
        return Place.at(TextSnapshot.of(text), self.marked.index(CURSOR), language, parse(text, language))


def all_cases() -> list[Case]:
    return [case for file in sorted(_FOLDER.glob("*.txt")) for case in _read(file)]


def _read(file: Path) -> list[Case]:
    cases = []
    text = file.read_text(encoding="utf-8").replace("→", "\t").replace("␍", "\r").replace("·", " ")
    for section in ("\n" + text).split("\n== ")[1:]:
        head, *lines = section.rstrip("\n").split("\n")
        language_id, _, title = head.partition(": ")
        document = [line for line in lines if not line.startswith(("<<", ">>"))]
        written = [line[3:] for line in lines if line.startswith("<<")]
        shown = [line[3:] for line in lines if line.startswith(">>")]
        assert written and shown, f"{file.name}: {head} checks nothing"
        marked = "\n".join(document) + ("" if document[-1].endswith(CURSOR) else "\n")
        expected = "" if shown == ["∅"] else "\n".join(shown)
        cases.append(Case(file.stem, language_id, title, marked, "\n".join(written), expected))
    return cases
