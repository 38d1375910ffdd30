"""Code that resembles the code around the cursor, from texts that are at hand."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from spark_lsp.context.extras import Chunk
from spark_lsp.context.similarity import jaccard, rarity, weighted_jaccard, words

SNIPPET_LINES = 20
"""A short function, or the middle of a longer one."""
STEP_LINES = 10
"""Windows overlap by half, so that every ten lines in a row stand whole in one of them."""
MOST_SNIPPETS = 3
LEAST_SIMILARITY = 0.08
"""Weighted; below it two pieces of one project share little but keywords."""
NEAR_COPY = 0.6
"""From this plain similarity on, a piece is the code at the cursor in another version: models copy it word by word."""
MOST_WINDOWS = 1000
"""Windows compared at once: 10,000 lines, about 20 ms on two cores, which a keystroke may have to wait for."""


@dataclass(frozen=True, slots=True)
class Window:
    """Some lines of a text."""

    line: int
    """The first one, from 0."""
    text: str
    words: frozenset[str]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A window with the name of its file."""

    name: str
    window: Window


def cut_windows(text: str) -> tuple[Window, ...]:
    """Return overlapping windows that cover `text` (LF line ends); blank ones are left out."""
    lines = text.split("\n")
    windows = []
    for line in range(0, max(1, len(lines) - STEP_LINES), STEP_LINES):
        piece = "\n".join(lines[line : line + SNIPPET_LINES]).strip("\n")
        if piece.strip():
            windows.append(Window(line, piece, words(piece)))
    return tuple(windows)


def choose_snippets(
    query: frozenset[str],
    candidates: Sequence[Candidate],
    shown: Iterable[frozenset[str]],
    characters: int,
) -> list[Chunk]:
    """Return the pieces most like `query`, the words around the cursor, in order of file and line.

    At most `MOST_SNIPPETS` that fit `characters`, no two of which overlap; none is a near-copy of the query or of what
    is `shown` already.
    """
    candidates = candidates[:MOST_WINDOWS]
    weights = rarity(candidate.window.words for candidate in candidates)
    scored = [
        (weighted_jaccard(query, candidate.window.words, weights), candidate)
        for candidate in candidates
        if query & candidate.window.words
    ]
    scored.sort(key=lambda pair: (-pair[0], pair[1].name, pair[1].window.line))
    chosen: list[Candidate] = []
    known = [query, *shown]
    for score, candidate in scored:
        if score < LEAST_SIMILARITY or len(chosen) == MOST_SNIPPETS:
            break
        chunk, window = Chunk(candidate.name, candidate.window.text), candidate.window
        if chunk.characters > characters or any(jaccard(window.words, other) > NEAR_COPY for other in known):
            continue
        if any(
            other.name == candidate.name and abs(other.window.line - window.line) < SNIPPET_LINES for other in chosen
        ):
            continue
        chosen.append(candidate)
        known.append(window.words)
        characters -= chunk.characters
    chosen.sort(key=lambda candidate: (candidate.name, candidate.window.line))
    return [Chunk(candidate.name, candidate.window.text) for candidate in chosen]
