"""The document that is being written, without the line of the cursor, which changes with every key."""

from __future__ import annotations

import re
from dataclasses import dataclass

from spark_lsp.names.facts import ModuleFacts, facts_of
from spark_lsp.names.lines import without_strings
from spark_lsp.names.modules import Library
from spark_lsp.names.pieces import PieceReader


@dataclass(frozen=True, slots=True)
class Buffer:
    """What is known of a document at one line."""

    text: str
    """All other lines, with LF line ends."""
    facts: ModuleFacts
    library: Library
    """What it imports, and itself."""
    line: int
    """The number of the cursor's line."""

    @staticmethod
    def read(text: str, line: int, library: Library, reader: PieceReader) -> Buffer:
        """Return what is known of the document whose other lines are `text`; `reader` has read it before."""
        facts = facts_of(reader.read(text))
        return Buffer(text, facts, library.with_buffer(facts), line)


def without_line(text: str, cursor: int) -> tuple[str, int]:
    """Return a text with the line at `cursor` left out, which has LF line ends, and the number of that line."""
    start = text.rfind("\n", 0, cursor) + 1
    end = text.find("\n", cursor)
    rest = text[end + 1 :] if end != -1 else ""
    return text[:start] + rest, text.count("\n", 0, start)


def may_judge(line: str) -> bool:
    """Whether the rest of a document can be read without this line of it."""
    code = without_strings(line)[0]
    return not re.search(r"\"\"\"|'''", line) and code.rstrip()[-1:] != "\\"
