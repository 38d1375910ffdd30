"""Which places are worth computing before anybody asks for them: where an accepted suggestion leads.

A suggestion that is shown may be accepted as a whole; what would follow it there is computed, and what would follow
that, up to `MOST_AHEAD` places. Its first line or its first word leads nowhere else: what would be suggested behind
them is the rest of the same suggestion, which the cache of completions knows already.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, replace

from spark_lsp.completion import CompletionRequest
from spark_lsp.documents.text import TextSnapshot

MOST_AHEAD = 2
"""Places beyond what is shown. While somebody accepts one suggestion after the other, one is always there; each further
one is less likely to be reached."""
MOST_CHARACTERS = 1_000_000
"""Of a document; a longer one is copied too often for this."""
_REMEMBERED = 16
"""Places that were computed, so that they are not computed again."""


@dataclass(frozen=True, slots=True)
class _Key:
    document: str
    text: int
    """The hash of the document's text: a collision leaves a place out."""
    length: int
    cursor: int

    @staticmethod
    def of(place: CompletionRequest) -> _Key:
        text = place.snapshot.text
        return _Key(place.document, hash(text), len(text), place.cursor)


class Ahead:
    """The next place to compute. Belongs to the engine's thread."""

    def __init__(self) -> None:
        self._next: CompletionRequest | None = None
        self._left = 0
        """Places that may be computed, the next one included."""
        self._known: OrderedDict[_Key, str] = OrderedDict()

    @property
    def next(self) -> CompletionRequest | None:
        """The place to compute now, as the request that would come there; None if there is none."""
        return self._next

    def shown(self, place: CompletionRequest, text: str) -> None:
        """Take note that `text` is on the screen at `place`."""
        self._left = MOST_AHEAD
        self._go_on(place, text)

    def edited(self, edited: CompletionRequest | None) -> None:
        """Take note of where the latest edit was made, None if that is not known: it may not lead to the next place."""
        if self._next is not None and (edited is None or not leads_to(edited, self._next)):
            self._next = None

    def give_up(self) -> None:
        """The next place cannot be computed; the next suggestion that is shown leads on."""
        self._next = None

    def computed(self, place: CompletionRequest, text: str) -> None:
        """Take over what is suggested at `place`, empty for nothing, and go on from there."""
        self._known[_Key.of(place)] = text
        if len(self._known) > _REMEMBERED:
            self._known.popitem(last=False)
        if place is self._next:
            self._left -= 1
            self._go_on(place, text)

    def _go_on(self, place: CompletionRequest, text: str) -> None:
        while text and self._left > 0 and len(place.snapshot.text) <= MOST_CHARACTERS:
            place = accepted(place, text)
            known = self._known.get(_Key.of(place))
            if known is None:
                self._next = place
                return
            self._left -= 1
            text = known
        self._next = None


def accepted(place: CompletionRequest, text: str) -> CompletionRequest:
    """Return the request that follows when `text` is accepted at `place`."""
    snapshot, cursor = place.snapshot, place.cursor
    inserted = text.replace("\n", snapshot.eol)
    after = TextSnapshot.of(snapshot.text[:cursor] + inserted + snapshot.text[cursor:])
    return replace(place, snapshot=after, cursor=cursor + len(inserted), deadline=None, patient=False, invoked=False)


def leads_to(edited: CompletionRequest, place: CompletionRequest) -> bool:
    """Whether text put in at the cursor of `edited` makes the document that of `place`, with its cursor there."""
    now, then = edited.snapshot.text, place.snapshot.text
    return (
        edited.document == place.document
        and len(now) - edited.cursor == len(then) - place.cursor
        and edited.cursor <= place.cursor
        and then.startswith(now[: edited.cursor])
        and then.endswith(now[edited.cursor :])
    )
