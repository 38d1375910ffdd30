"""Which lines are written anew. `|` marks the fault, `«` and `»` the smallest region."""

from __future__ import annotations

import pytest

from spark_lsp.documents.text import TextSnapshot
from spark_lsp.repair.fault import Fault
from spark_lsp.repair.region import BLOCK_LINES, LINE_CHARACTERS, regions, surroundings
from spark_lsp.syntax.languages import language_for
from spark_lsp.syntax.offsets import Span
from spark_lsp.syntax.parser import parse

CASES = {
    "the statement with a line on each side": "a = 1\n«b = 2\nc = |d\ne = 3»\nf = 4\n",
    "a blank line is a border": "a = 1\n\n«c = |d»\n\nf = 4\n",
    "a statement of several lines is taken whole": "«a = 1\nb = f(\n    |x,\n    y,\n)\nc = 2»\n",
    "of a long statement the line of the fault only": "f(\n«  0,\n  |1,\n  2,»\n  3,\n  4,\n  5,\n  6,\n)\n",
    "the last line of a file": "a = 1\n«b = 2\nc = |d»",
    "a fault in front of the line's text": "«if x:\n|    return y\nz = 1»\n",
}


def regions_of(marked: str, language: str = "python") -> tuple[str, tuple[Span, ...]]:
    text = marked.replace("«", "").replace("»", "")
    offset = text.index("|")
    text = text.replace("|", "")
    tree = parse(text, language_for(language, ""))
    return text, regions(TextSnapshot.of(text), tree, Fault(offset, offset, "wrong"))


@pytest.mark.parametrize("marked", CASES.values(), ids=CASES.keys())
def test_the_smallest_region(marked: str) -> None:
    text, spans = regions_of(marked)
    bare = marked.replace("|", "")
    assert text[spans[0].start : spans[0].end] == bare[bare.index("«") + 1 : bare.index("»")]


def test_the_larger_one_is_the_block_around_it() -> None:
    text, (_, block) = regions_of("import os\n\ndef f(a):\n    b = a\n    c = |d\n    e = c\n    return e\n\nx = 1\n")
    assert text[block.start : block.end] == "def f(a):\n    b = a\n    c = d\n    e = c\n    return e"


def test_a_long_block_is_cut_around_the_fault() -> None:
    body = "".join(f"    a{number} = {number}\n" for number in range(100))
    text, (_, block) = regions_of("def f():\n" + body.replace("a50 = 50", "a50 = |50"))
    lines = text[block.start : block.end].split("\n")
    assert len(lines) <= BLOCK_LINES + 1
    assert "    a50 = 50" in lines


def test_no_region_where_a_line_is_data() -> None:
    assert regions_of(f"a = |'{'x' * LINE_CHARACTERS}'\n")[1] == ()


def test_no_region_in_nothing() -> None:
    assert regions_of("|")[1] == ()


def test_surroundings_are_whole_lines_as_far_as_there_is_room() -> None:
    snapshot = TextSnapshot.of("".join(f"line {number}\r\n" for number in range(100)))
    start, end = snapshot.line_span(50)
    above, below = surroundings(snapshot, Span(start, end))
    assert above.startswith("line ")
    assert above.endswith("line 49\n")
    assert below.startswith("line 51\n")
    assert len(above) <= 700
    assert len(below) <= 200
