"""Which sessions a run has: so many of each language, or as many as fit into some minutes."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.replay.archives import fetch, read_sources
from benchmarks.replay.package_index import index_address
from benchmarks.replay.releases import PAIRS, Registry
from benchmarks.replay.runner import Manner, alone
from benchmarks.replay.sessions import ChangedFile, Session, changed_files, sample

BETWEEN_SECONDS = 4.0
"""From one program's session to the next: until nothing is computed any more."""


def sessions_of(languages: Sequence[str], folder: Path, seed: int) -> dict[str, list[Session]]:
    """Return the sessions of every language; archives that are not in `folder` are downloaded. Raises DownloadError."""
    pairs = [pair for pair in PAIRS if pair.language in languages]
    index = index_address() if any(pair.registry is Registry.PYTHON for pair in pairs) else ""
    files: dict[str, list[ChangedFile]] = {language: [] for language in languages}
    for pair in pairs:
        old, new = (
            read_sources(fetch(pair.registry, pair.package, version, folder, index), pair.language)
            for version in (pair.old, pair.new)
        )
        files[pair.language] += changed_files(pair.language, pair.package, old, new)
    return {language: sample(found, seed) for language, found in files.items()}


def first_sessions(found: Mapping[str, Sequence[Session]], count: int) -> list[Session]:
    """Return `count` sessions of each language, the languages by turns."""
    turns = itertools.zip_longest(*(sessions[:count] for sessions in found.values()))
    return [session for turn in turns for session in turn if session is not None]


def sessions_within(
    found: Mapping[str, Sequence[Session]], manner: Manner, minutes: float, times: int
) -> list[Session]:
    """Return as many sessions, the languages by turns, as fit when each is typed `times` times; one at least.

    Accepted text shortens typing, so a run takes less time than that.
    """
    chosen: list[Session] = []
    seconds = 0.0
    for session in first_sessions(found, max(map(len, found.values()), default=0)):
        seconds += times * (alone(session, manner)[1] + BETWEEN_SECONDS)
        if seconds > 60 * minutes and chosen:
            break
        chosen.append(session)
    return chosen
