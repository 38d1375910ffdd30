"""Files that are read for what they say of names, within bounds. Blocks on the disk; for a thread."""

from __future__ import annotations

import stat
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from spark_lsp.server.import_reader import may_read
from spark_lsp.server.neighbours import Exclusion

MODULE_FILES = 120
"""Most files that are read for one document."""
MODULE_BYTES = 3_000_000
"""Most bytes of them in all, which take less than half a second to read."""
FILE_BYTES = 600_000
"""Larger files are left out, and their modules not judged; the largest stubs of well-known packages have half of it."""
KEPT_FILES = 400
"""Files whose facts are kept, with the time of their last change."""

Facts = TypeVar("Facts")


@dataclass(slots=True)
class Room:
    """What may still be read for one document."""

    bytes: int = MODULE_BYTES
    files: int = MODULE_FILES


class FactFiles(Generic[Facts]):
    """Remembers the facts of files between two calls. Used by one thread at a time."""

    def __init__(self, read: Callable[[str], Facts], is_excluded: Exclusion) -> None:
        """Read texts with LF line ends by `read`; ask `is_excluded` before a file of the workspace is read."""
        self._read = read
        self._is_excluded = is_excluded
        self._known: OrderedDict[Path, tuple[float, int, Facts]] = OrderedDict()

    def forget(self) -> None:
        """Let go of every file that was read."""
        self._known.clear()

    def facts(self, file: Path, folders: Sequence[Path], room: Room, *, installed: bool = False) -> Facts | None:
        """Return the facts of a file in `folders` or of an `installed` one; None if it cannot or may not be read."""
        try:
            if not installed and not may_read(file, folders, self._is_excluded):
                return None
            state = file.stat()
            if not stat.S_ISREG(state.st_mode) or state.st_size > FILE_BYTES:
                return None
            known = self._known.get(file)
            if known is not None and known[:2] == (state.st_mtime, state.st_size):
                self._known.move_to_end(file)
                return known[2]
            if state.st_size > room.bytes or not room.files:
                return None
            text = file.read_bytes().decode("utf-8-sig")
        except (OSError, ValueError):
            return None
        room.bytes -= state.st_size
        room.files -= 1
        facts = self._read(text.replace("\r\n", "\n").replace("\r", "\n"))
        self._known[file] = state.st_mtime, state.st_size, facts
        if len(self._known) > KEPT_FILES:
            self._known.popitem(last=False)
        return facts
