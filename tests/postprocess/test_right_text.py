"""What the author wrote is left alone, and what follows it in the file is taken off.

Places in our own sources: the text between the cursor and the end of a line, of a piece of a line or of a few lines is
taken out, and the rules get it back as what the model wrote.
"""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

import spark_lsp
from spark_lsp.documents.text import TextSnapshot
from spark_lsp.postprocess import Place, postprocess
from spark_lsp.syntax.languages import language_for
from spark_lsp.syntax.parser import parse

PLACES = 150
CHANGED_AT_MOST = 0.04
"""Share of right texts that a rule may spoil; 0 to 1 % measured in Python, TypeScript, C, shell and YAML. The sources
change with every commit and the places with them, so this and the next bound leave room."""
KEPT_AT_MOST = 0.1
"""Share of repeated texts that may stay; 0 to 5 % measured, nearly all of them one letter in the middle of a word."""
PYTHON = language_for("python", "")
SOURCES = sorted(Path(spark_lsp.__file__).parent.rglob("*.py"))


def cut(text: str, kind: str, random: Random) -> tuple[int, int]:
    """Return where a text to be written begins and ends."""
    lines = text.split("\n")
    while True:
        number = random.randrange(1, len(lines) - 1)
        line = lines[number]
        start = sum(len(above) + 1 for above in lines[:number])
        first = len(line) - len(line.lstrip())
        if len(line.strip()) < 8:
            continue
        end = start + len(line)
        if kind == "line":
            return start + random.randrange(first, len(line) - 1), end
        if kind == "piece":
            begin = start + random.randrange(first, len(line) - 4)
            return begin, random.randrange(begin + 2, end)
        for below in lines[number + 1 : number + 6]:
            if not below.strip() or len(below) - len(below.lstrip()) < first:
                break
            end += 1 + len(below)
        return start + first, end


def shown(kind: str, lines_more: int) -> list[tuple[str, str]]:
    """Return what was meant and what is shown, at places that only the kind decides."""
    random, found = Random(kind), []
    for _ in range(PLACES):
        text = random.choice(SOURCES).read_text(encoding="utf-8")
        if text.count("\n") < 20:
            continue
        start, end = cut(text, kind, random)
        right, document = text[start:end].rstrip(), text[:start] + text[end:]
        place = Place.at(TextSnapshot.of(document), start, PYTHON, parse(document, PYTHON))
        more = "\n".join(text[end:].split("\n")[: lines_more + 1]) if lines_more else ""
        found.append((right, postprocess(text[start:end] + more, place).rstrip()))
    return found


@pytest.mark.parametrize("kind", ["line", "piece", "lines"])
def test_right_text_is_left_alone(kind: str) -> None:
    spoiled = [pair for pair in shown(kind, 0) if pair[0].lstrip() != pair[1].lstrip()]
    assert len(spoiled) <= CHANGED_AT_MOST * PLACES, spoiled


@pytest.mark.parametrize("kind", ["line", "piece", "lines"])
def test_the_text_behind_the_cursor_written_again_is_taken_off(kind: str) -> None:
    kept = [pair for pair in shown(kind, 2) if pair[0].lstrip() != pair[1].lstrip()]
    assert len(kept) <= KEPT_AT_MOST * PLACES, kept
