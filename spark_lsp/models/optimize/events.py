"""What a run tells its caller while it works."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from spark_lsp.models.progress import Notice


@dataclass(frozen=True, slots=True)
class Activity:
    """One piece of work: `done` of `total` units, for recipe number `number` of `count` (0 for the original)."""

    number: int
    count: int
    recipe: str
    work: str
    done: int
    total: int


# Called on the thread that works. An exception from it stops the run; what is finished is kept.
Report = Callable[[Activity | Notice], None]


def unobserved(event: Activity | Notice) -> None:
    """The `Report` of a caller that does not watch."""
