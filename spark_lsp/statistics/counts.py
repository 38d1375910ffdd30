"""The counts: for each language and drafter what became of the suggestions."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

MOST_ROWS = 512
"""Rows that are kept: all languages that are known by name with every drafter are fewer. What does not fit counts under
`OTHER`."""
OTHER = "other"
MODEL_ALONE = "none"
"""The drafter of a text of which no token was drafted."""
MOST_NAME = 64
"""Characters of a language's or drafter's name."""
_MOST_COUNT = 2**53 - 1
"""What every reader of JSON takes for a whole number; more than that is a damaged file."""


@dataclass(frozen=True, slots=True)
class Row:
    """What is counted together."""

    language: str
    drafter: str


@dataclass(frozen=True, slots=True)
class Counts:
    """What became of suggestions. One that grew, or was typed along, is one."""

    shown: int = 0
    accepted: int = 0
    partially_accepted: int = 0
    """Those of which a part was taken, whether or not the rest followed."""
    kept: int = 0
    """Accepted ones whose text still stood in the document later, apart from white space."""
    shown_characters: int = 0
    accepted_characters: int = 0
    """Of whole suggestions and of parts."""

    def __add__(self, other: Counts) -> Counts:
        return Counts(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))


Table = Mapping[Row, Counts]


def added(one: Table, other: Table) -> dict[Row, Counts]:
    """Return the sums by row, at most `MOST_ROWS` of them."""
    sums = dict(one)
    for row, counts in other.items():
        if row not in sums and len(sums) >= MOST_ROWS:
            row = Row(OTHER, OTHER)
        sums[row] = sums.get(row, Counts()) + counts
    return sums


def total(counts: Iterable[Counts]) -> Counts:
    """Return the sum."""
    return sum(counts, Counts())


def to_json(table: Table) -> list[dict[str, Any]]:
    """Return the rows as JSON values, in a fixed order."""
    ordered = sorted(table.items(), key=lambda item: (item[0].language, item[0].drafter))
    return [{"language": row.language, "drafter": row.drafter, **dataclasses.asdict(c)} for row, c in ordered]


def from_json(data: Any) -> dict[Row, Counts]:
    """Return the rows that can be read; what is not a row, or not a count, is left out."""
    table: dict[Row, Counts] = {}
    for item in data if isinstance(data, list) else []:
        if not isinstance(item, Mapping):
            continue
        language, drafter = item.get("language"), item.get("drafter")
        if not isinstance(language, str) or not isinstance(drafter, str):
            continue
        counts = {f.name: item[f.name] for f in fields(Counts) if _is_count(item.get(f.name))}
        table = added(table, {Row(language[:MOST_NAME], drafter[:MOST_NAME]): replace(Counts(), **counts)})
    return table


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST_COUNT
