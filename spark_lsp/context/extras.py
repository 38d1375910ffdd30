"""What a prompt shows beside the window: pieces of other places, each under the name of its file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from spark_lsp.syntax.languages import Language


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a file."""

    name: str
    """The file's path within its workspace folder."""
    text: str
    """LF line ends, without one at the end."""
    is_comment: bool = False
    """Whether the text is written as a comment already."""

    @property
    def characters(self) -> int:
        """What it takes of a budget, its name and the tokens around it included."""
        return len(self.name) + len(self.text) + _AROUND_CHARACTERS


_AROUND_CHARACTERS = 8
"""A separator and two line ends are three tokens."""


@dataclass(frozen=True, slots=True)
class Extras:
    """Everything that stands before the window."""

    chunks: tuple[Chunk, ...] = ()
    """Those that change least come first."""
    repository: str = ""
    """The workspace folder's name."""
    name: str = ""
    """What the completed document is called."""
    comment: tuple[str, str] = ("# ", "")
    """What turns a line into a comment, before and after it; for models that know no file separator."""

    def __bool__(self) -> bool:
        return bool(self.chunks)


NO_EXTRAS = Extras()


def comment_marks(language: Language) -> tuple[str, str]:
    """Return what stands before and after a line to make it a comment, as in the shell where a language has none."""
    if language.line_comment is not None:
        return f"{language.line_comment} ", ""
    return (f"{language.block_comment[0]} ", f" {language.block_comment[1]}") if language.block_comment else ("# ", "")


def within_comment(text: str, after: str) -> str:
    """Return `text` without anything that would close the comment early; the model only reads it."""
    end = after.strip()
    return text.replace(end, f"{end[0]} {end[1:]}") if end else text


def extras_from_note(note: Any) -> Extras:
    """Return the extras that `dataclasses.asdict` made a dictionary of, also after a way through JSON.

    Raises TypeError or KeyError for anything else.
    """
    chunks = tuple(Chunk(str(chunk["name"]), str(chunk["text"]), bool(chunk["is_comment"])) for chunk in note["chunks"])
    before, after = note["comment"]
    return Extras(chunks, str(note["repository"]), str(note["name"]), (str(before), str(after)))


def stable_order(previous: Sequence[Chunk], chosen: Sequence[Chunk]) -> list[Chunk]:
    """Return `chosen` with what was there before first and in its old order, so that its tokens stay where they are."""
    before = {chunk: place for place, chunk in reversed([*enumerate(previous)])}
    return sorted(chosen, key=lambda chunk: before.get(chunk, len(before)))
