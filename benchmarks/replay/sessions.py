"""Editing sessions: a file in which some of the differences of two versions are still to be typed. Seeded."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from benchmarks.replay.hunks import Hunk, hunks

MOST_HUNKS = 3
MOST_TYPED = 320
"""Characters of the new texts of one session."""
SWAP_SHARE = 0.3
"""Of neighbouring places that are edited in the other order: people do not work strictly from top to bottom."""


@dataclass(frozen=True, slots=True)
class Session:
    """A file and the edits that somebody makes in it."""

    id: str
    language: str
    path: str
    text: str
    """The file before the edits: the newer version, but for the hunks."""
    hunks: tuple[Hunk, ...]
    """In the order of the text."""
    order: tuple[int, ...]
    """The hunks in the order in which they are edited."""

    @property
    def final_text(self) -> str:
        """The file after the edits."""
        return _applied(self.text, self.hunks)


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """Two versions of a file."""

    language: str
    package: str
    path: str
    old: str
    new: str


def changed_files(language: str, package: str, old: Mapping[str, str], new: Mapping[str, str]) -> list[ChangedFile]:
    """Return the files that both versions have and that differ, by path."""
    return [
        ChangedFile(language, package, path, old[path], new[path])
        for path in sorted(new)
        if path in old and old[path] != new[path]
    ]


def sample(files: Iterable[ChangedFile], seed: int) -> list[Session]:
    """Return one session of every file that has edits of moderate size; `seed` chooses the edits and the order.

    Packages take turns, so that the one with the most changes does not outweigh the others.
    """
    by_package: dict[str, list[Session]] = {}
    for file in files:
        session = session_of(file, seed)
        if session is not None:
            by_package.setdefault(file.package, []).append(session)
    for package, found in by_package.items():
        random.Random(f"order {seed} {package}").shuffle(found)
    packages = sorted(by_package)
    random.Random(f"packages {seed}").shuffle(packages)  # short runs with different seeds see different packages
    turns = itertools.zip_longest(*(by_package[package] for package in packages))
    return [session for turn in turns for session in turn if session is not None]


def session_of(file: ChangedFile, seed: int) -> Session | None:
    """Return a session in `file`, or None if it has no edit of moderate size."""
    name = f"{file.package}/{file.path}"
    chance = random.Random(f"{seed} {name}")
    found = hunks(file.old, file.new)
    chance.shuffle(found)
    chosen: list[Hunk] = []
    for hunk in found:
        if len(chosen) < MOST_HUNKS and sum(len(other.new) for other in chosen) + len(hunk.new) <= MOST_TYPED:
            chosen.append(hunk)
    if not chosen:
        return None
    chosen.sort(key=lambda hunk: hunk.start)
    order = list(range(len(chosen)))
    for place in range(len(order) - 1):
        if chance.random() < SWAP_SHARE:
            order[place], order[place + 1] = order[place + 1], order[place]
    return Session(name, file.language, file.path, _reverted(file.new, chosen), tuple(chosen), tuple(order))


def _reverted(new: str, chosen: list[Hunk]) -> str:
    for hunk in reversed(chosen):
        new = new[: hunk.start] + hunk.old + new[hunk.start + len(hunk.new) :]
    return new


def _applied(text: str, chosen: Iterable[Hunk]) -> str:
    for hunk in chosen:  # from the top, so that each start is already that of the newer version
        text = text[: hunk.start] + hunk.new + text[hunk.start + len(hunk.old) :]
    return text
