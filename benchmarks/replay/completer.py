"""What is measured: a program that shows texts at the cursor, as its editor plugin drives it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from benchmarks.replay.trace import Counts


@dataclass(frozen=True, slots=True)
class Ghost:
    """A text on the screen, at the cursor; an empty one clears it."""

    text: str
    back: int = 0
    """Blanks before the cursor that accepting it takes away: a plugin may indent the line anew."""


@dataclass(frozen=True, slots=True)
class Opened:
    """A file in the editor."""

    name: str
    """A path that no other session of the run has."""
    language: str
    text: str
    cursor: int


OnShow = Callable[[Ghost], None]


class Completer(Protocol):
    """One program with its editor plugin. It keeps its own copy of the text, as an editor does.

    Every change of text or cursor clears the screen; afterwards `on_show` is called on the event loop whenever a text
    for the newest state appears, grows or vanishes.
    """

    name: str

    async def start(self) -> None:
        """Start the program and wait until its model is loaded. Raises CompleterError."""

    def open(self, file: Opened, on_show: OnShow) -> None:
        """Show a file, with the cursor in it; asks for nothing yet."""

    def edit(self, start: int, end: int, text: str) -> None:
        """Replace characters; the cursor stands behind the new text; asks as the plugin does after a key."""

    def move(self, cursor: int) -> None:
        """Put the cursor elsewhere; asks if the plugin does then."""

    def accept(self, ghost: Ghost, length: int) -> None:
        """Insert the first `length` characters of what is shown, as the plugin does."""

    async def close(self) -> None:
        """Close the file and wait until nothing is computed any more, for a while at most."""

    async def counts(self) -> Counts:
        """Return what was counted since the start."""

    async def stop(self) -> None:
        """End the program."""


class CompleterError(Exception):
    """The program does not run here; the message is a sentence that says why."""
