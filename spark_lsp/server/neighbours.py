"""The files beside an open document: which of them are read as a source of drafts, and reading them.

Only the document's own folder is looked at, and in it only visible regular files of the same language. A link is not
followed, a name that looks like a secret is left out, and so is whatever `is_excluded` names. What cannot be read is
left out without a word: it is only a source of speed.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from spark_lsp.context.exclusions import looks_secret
from spark_lsp.syntax.languages import PLAIN, Language, language_for

log = logging.getLogger(__name__)

FOLDER_ENTRIES = 2_000
"""Most entries of a folder that are looked at, which takes a few milliseconds. Source folders have fewer."""
NEIGHBOUR_FILES = 24
"""Most files that are read for one document; what lies further away in name and time is hardly repeated."""
NEIGHBOUR_BYTES = 200_000
"""Most bytes of them in all: half of the 13,000 lines that the index of drafts holds, so that the files of the folder
before stay in it."""
FILE_BYTES = 60_000
"""Larger files, from about 2,000 lines on, are left out: many are generated, and one takes the place of several."""

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_]+")

Exclusion = Callable[[Path], bool]
"""Whether a file must not be read; may look at the disk."""


@dataclass(frozen=True, slots=True)
class FileEntry:
    """A regular file of the folder."""

    name: str
    size: int
    """In bytes."""
    modified: float
    """In seconds since the epoch."""


def nothing_excluded(_path: Path) -> bool:
    """Return False."""
    return False


def is_neighbour_name(name: str, document: str, language: Language) -> bool:
    """Whether a file may be read for the document of that name, as far as names tell."""
    if language is PLAIN or name == document or name.startswith(".") or looks_secret(name):
        return False
    ending = os.path.splitext(document)[1].lower()  # noqa: PTH122 - these are names, not paths
    return language_for("", name) is language or (ending != "" and name.lower().endswith(ending))


def choose_neighbours(document: str, entries: Iterable[FileEntry]) -> list[FileEntry]:
    """Return what is read for the document of that name, the most promising first, within the bounds above.

    Files whose names have more words in common with it come first, of equals the one that was changed last.
    """
    words = _words(document)
    ranked = sorted(entries, key=lambda entry: (-len(words & _words(entry.name)), -entry.modified, entry.name))
    chosen: list[FileEntry] = []
    room = NEIGHBOUR_BYTES
    for entry in ranked:
        if 0 < entry.size <= min(FILE_BYTES, room) and len(chosen) < NEIGHBOUR_FILES:
            chosen.append(entry)
            room -= entry.size
    return chosen


def read_neighbours(
    document: Path,
    language: Language,
    *,
    is_excluded: Exclusion = nothing_excluded,
    stop: Callable[[], bool] = lambda: False,
) -> Iterator[tuple[Path, str]]:
    """Yield path and text of the files chosen for `document`; blocks on the disk, and ends early on `stop()`."""
    folder = document.parent
    for entry in choose_neighbours(document.name, _entries(folder, document.name, language, is_excluded)):
        if stop():
            return
        text = read_source(folder / entry.name)
        if text is not None:
            yield folder / entry.name, text


def read_source(path: Path) -> str | None:
    """Return the text of a regular file of at most `FILE_BYTES`; None if it is none, is gone, or is not UTF-8 text."""
    # Not blocking, and not following a link: between listing and opening, the name may have become something else.
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        with open(os.open(path, flags), "rb") as file:  # noqa: PTH123 - a descriptor
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return None
            data = file.read(FILE_BYTES + 1)
        text = data.decode("utf-8-sig")
    except (OSError, ValueError) as error:
        log.debug("Not read as a neighbour: %s", error)
        return None
    return None if len(data) > FILE_BYTES or "\0" in text else text


def _entries(folder: Path, document: str, language: Language, is_excluded: Exclusion) -> list[FileEntry]:
    entries = []
    try:
        with os.scandir(folder) as listing:
            for entry in islice(listing, FOLDER_ENTRIES):
                if (
                    is_neighbour_name(entry.name, document, language)
                    and entry.is_file(follow_symlinks=False)
                    and not is_excluded(folder / entry.name)
                ):
                    with contextlib.suppress(FileNotFoundError):  # gone since it was listed
                        state = entry.stat(follow_symlinks=False)
                        entries.append(FileEntry(entry.name, state.st_size, state.st_mtime))
    except (OSError, ValueError) as error:  # ValueError: a URI may decode to a path with a NUL
        log.debug("The neighbours of a document cannot be listed: %s", error)
    return entries


def _words(name: str) -> frozenset[str]:
    stem = name.rpartition(".")[0] or name
    return frozenset(word.lower() for word in _WORD.findall(stem))
