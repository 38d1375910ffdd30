"""How names stand in code, language by language: what the check for suggestions has to know of a language."""

from __future__ import annotations

from collections.abc import Iterator, Sized
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Access:
    """A name behind a dot."""

    receiver: str
    """What stands before the dot: names with dots."""
    start: int
    """Where the first of these begins."""
    begin: int
    """Where the name begins."""
    name: str


class Writing(Protocol):
    """A language."""

    def code(self, text: str) -> str:
        """Return a text of the same length with comments and the insides of strings blanked."""

    def accesses(self, code: str) -> Iterator[Access]:
        """Yield what stands behind dots, in order."""

    def receiver(self, code: str) -> str | None:
        """Return the receiver of a name that begins at the end of `code`."""

    def name(self, code: str, at: int) -> str:
        """Return the name, or what there is of it, that begins at an offset."""

    def is_judged(self, name: str, line: str) -> bool:
        """Whether a name is judged; `line` stands before its receiver."""

    def may_be_target(self, line: str) -> bool:
        """Whether a name may be assigned to, behind this part of a line."""

    def is_use(self, following: str, line: str) -> bool | None:
        """Whether what follows a name shows that it is not assigned to, None if it is, False if that is open."""


class NamesAtPlace(Protocol):
    """What is known at one place of a document."""

    def of(self, receiver: str, code: str) -> frozenset[str] | None:
        """Return every name that may follow `receiver` and its dot; None if they are not all known.

        `code` is the cursor's line and the suggestion up to there, without comments and strings.
        """


class KnownModules(Protocol):
    """The modules that a document imports."""

    @property
    def modules(self) -> Sized:
        """All of them."""
