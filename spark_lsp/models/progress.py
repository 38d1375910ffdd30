"""What a download tells its caller while it runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Transferred:
    """`done` of `total` bytes of the model are on the disk; `total` is None while it is unknown."""

    done: int
    total: int | None


@dataclass(frozen=True, slots=True)
class Notice:
    """One sentence that the user should see, such as a change of source."""

    sentence: str


# Called on the thread that downloads. An exception from it stops the download; what has arrived is kept.
Progress = Callable[[Transferred | Notice], None]


def unobserved(event: Transferred | Notice) -> None:
    """The `Progress` of a caller that does not watch."""
