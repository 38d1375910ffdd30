"""What the plugin shows of an answer: what repeats the text that is there already is discarded. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.replay.completer import Ghost

_BLANKS = " \t"


@dataclass(frozen=True, slots=True)
class Hint:
    """Lines at the cursor. The last one ends with what stands behind the cursor."""

    content: tuple[str, ...]
    acceptable: bool
    ghost: Ghost
    """The same as text that is inserted; empty where there is nothing to see."""


def hint(text: str, lines: Sequence[str], row: int, column: int) -> Hint:
    """Return what is shown of the answer `text` at a place; rows and columns count from 0."""
    content = text.rstrip("\n").split("\n")
    line, back = lines[row], 0
    if not line.strip(_BLANKS):
        # On a blank line the answer brings its own indentation.
        lead = min(len(content[0]) - len(content[0].lstrip(_BLANKS)), len(line))
        back = column - lead
        line, content[0] = content[0][:lead], content[0][lead:]
    left, right = line[:column], line[column:]
    if _repeats(content, lines, row, left, right):
        content = [""]
    shown = "\n".join(content)
    content[-1] += right
    acceptable = bool("".join(content).strip())
    visible = shown if acceptable and shown.strip() else ""
    return Hint(tuple(content), acceptable, Ghost(visible, max(0, back) if visible else 0))


def _repeats(content: list[str], lines: Sequence[str], row: int, left: str, right: str) -> bool:
    """Whether the answer says what is there already, behind the cursor or on the lines below."""
    below = list(lines[row + 1 :])
    if len(content) > 1 and not content[0] and content[1:] == below[: len(content) - 1]:
        return True
    if len(content) == 1 and content[0] == right:
        return True
    following = row + 1
    while following < len(lines) - 1 and not lines[following].strip():
        following += 1
    after = list(lines[following:])
    if not after or left + content[0] != after[0]:
        return False
    if len(content) == 1:
        return True
    if len(content) == 2:
        return (after[1] if len(after) > 1 else "").startswith(content[1])
    return content[1:] == after[1 : len(content)]
