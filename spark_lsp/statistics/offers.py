"""What is offered to the user, and what becomes of it.

An offer that continues the one before it, because the user typed along or because the text grew, is the same
suggestion; so are several to choose from at one place. A suggestion counts as shown when it is answered, until a client
tells what it shows: from then on only what it tells counts. Belongs to the event loop.
"""

from __future__ import annotations

import time
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass

from spark_lsp.statistics.accepted import AcceptedText
from spark_lsp.statistics.counts import MODEL_ALONE, OTHER, Counts, Row, Table, added

KEPT_SECONDS = 30.0
"""After so long a text that still stands counts as kept: by then most of what is wrong was taken out again."""
REMEMBERED = 256
"""Offers that may still be accepted, and accepted texts that are followed."""
_WRITTEN = 64
"""Texts whose drafter is remembered; an offer asks for one of the latest."""


@dataclass(slots=True)
class _Suggestion:
    """One suggestion as the user sees it, through all its offers."""

    document: str
    language: str
    text: str
    """From its first offer on, as far as it has grown."""
    row: Row | None = None
    """Settled when the first thing is counted."""
    due: bool = False
    """Whether it was shown and is still to be counted."""
    shown: bool = False
    accepted: bool = False
    partial: int = 0
    """Characters that were accepted in parts."""


@dataclass(frozen=True, slots=True)
class _Offer:
    suggestion: _Suggestion
    start: int
    text: str


class OfferBook:
    """Counts since the last `take`. Texts have LF line ends, offsets count code points in them."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.kept_seconds = KEPT_SECONDS
        self.client_tells = False
        """Whether the client says what it shows."""
        self._clock = clock
        self._offers: OrderedDict[str, _Offer] = OrderedDict()
        self._latest: _Offer | None = None
        self._latest_text = ""
        """The document of that offer; those of the others are not needed, and may be large."""
        self._written: deque[tuple[str, str, str]] = deque(maxlen=_WRITTEN)
        self._accepted: deque[AcceptedText] = deque(maxlen=REMEMBERED)
        self._counts: dict[Row, Counts] = {}
        self._total = Counts()

    @property
    def total(self) -> Counts:
        """What was counted since the start, over all rows."""
        latest = self._latest.suggestion if self._latest is not None else None
        return self._total + Counts(shown=latest is not None and latest.due)

    def wrote(self, document: str, text: str, drafter: str) -> None:
        """Take note that `drafter` guessed most of `text`; the empty name means that nobody did."""
        if text:
            self._written.append((document, text, drafter or MODEL_ALONE))

    def offered(self, identifier: str, document: str, language: str, document_text: str, start: int, text: str) -> None:
        """Take note that the client got `text` for the place `start` of the document."""
        suggestion = self._continued(document, document_text, start, text)
        if suggestion is None:
            self._count_shown()
            suggestion = _Suggestion(document, language, text)
        suggestion.due = not suggestion.shown and not self.client_tells
        self._latest = self._offers[identifier] = _Offer(suggestion, start, text)
        self._latest_text = document_text
        if len(self._offers) > REMEMBERED:
            self._offers.popitem(last=False)

    def shown(self, identifier: str = "") -> None:
        """Take note that the client shows an offer, by default the latest one."""
        self.client_tells = True
        offer = self._find(identifier)
        if offer is not None:
            self._show(offer.suggestion)

    def partially_accepted(self, characters: int, identifier: str = "") -> None:
        """Take note that so many characters of an offer, by default the latest one, are accepted by now."""
        offer = self._find(identifier)
        if offer is None or characters <= 0:
            return
        suggestion = offer.suggestion
        self._show(suggestion)
        taken = min(characters, len(suggestion.text))
        more = max(0, taken - suggestion.partial) if not suggestion.accepted else 0
        self._add(suggestion, Counts(partially_accepted=not suggestion.partial, accepted_characters=more))
        suggestion.partial = max(suggestion.partial, taken)

    def accepted(self, identifier: str = "") -> bool:
        """Take note that an offer, by default the latest one, was accepted; whether its text is followed from now on.

        One that is not known any more counts for no language; accepting twice is accepting once.
        """
        offer = self._find(identifier)
        if offer is None:
            self._count(Row(OTHER, OTHER), Counts(shown=1, accepted=1))
            return False
        suggestion = offer.suggestion
        if suggestion.accepted:
            return False
        self._show(suggestion)
        suggestion.accepted = True
        self._add(suggestion, Counts(accepted=1, accepted_characters=max(0, len(offer.text) - suggestion.partial)))
        due = self._clock() + self.kept_seconds
        row = suggestion.row or Row(OTHER, OTHER)
        self._accepted.append(AcceptedText(row, suggestion.document, offer.text, offer.start, offer.start, due))
        return True

    def document_of(self, identifier: str) -> str | None:
        """Return the document of an offer, by default of the latest one."""
        offer = self._find(identifier)
        return offer.suggestion.document if offer is not None else None

    def due_in(self) -> float | None:
        """Return the seconds until `judge` has something to do, at least 0; None if nothing is followed."""
        if not self._accepted:
            return None
        return max(0.0, min(accepted.due for accepted in self._accepted) - self._clock())

    def follows(self, document: str) -> bool:
        """Whether an accepted text of the document is followed: then `edited` wants to know."""
        return any(text.document == document for text in self._accepted)

    def look(self, document: str, text: str) -> None:
        """Find what was accepted in the document as it is now."""
        for accepted in self._accepted:
            if accepted.document == document:
                accepted.look(text)

    def edited(self, document: str, old: str, new: str) -> None:
        """Follow an edit of the document."""
        for accepted in self._accepted:
            if accepted.document == document:
                accepted.move(old, new)

    def judge(self, text_of: Callable[[str], str | None]) -> None:
        """Count what is due and was kept; `text_of` gives a document's text, None if it is not open any more."""
        now = self._clock()
        due = [accepted for accepted in self._accepted if accepted.due <= now]
        for accepted in due:
            text = text_of(accepted.document)
            self._judge(accepted, text)

    def closed(self, document: str, text: str) -> None:
        """A document is closed: judge what was accepted in it by what it holds now."""
        for accepted in [accepted for accepted in self._accepted if accepted.document == document]:
            self._judge(accepted, text)

    def take(self) -> Table:
        """Return what was counted since the last call, and begin anew."""
        self._count_shown()
        counts, self._counts = self._counts, {}
        return counts

    def give_back(self, table: Table) -> None:
        """Count again what could not be kept elsewhere."""
        self._counts = added(self._counts, table)

    def _find(self, identifier: str) -> _Offer | None:
        return self._offers.get(identifier) if identifier else self._latest

    def _continued(self, document: str, document_text: str, start: int, text: str) -> _Suggestion | None:
        """Return the suggestion that an offer is a part of, or one of several; None if it is a new one."""
        latest = self._latest
        if latest is None or latest.suggestion.document != document or start < latest.start:
            return None
        if latest.suggestion.accepted:
            return None
        if start == latest.start and document_text == self._latest_text:
            if text.startswith(latest.suggestion.text):
                latest.suggestion.text = text
            return latest.suggestion
        if document_text[: latest.start] != self._latest_text[: latest.start]:
            return None
        typed = document_text[latest.start : start]
        whole = typed + text
        if not latest.text.startswith(typed) or not (whole.startswith(latest.text) or latest.text.startswith(whole)):
            return None
        if len(whole) > len(latest.text):
            latest.suggestion.text += whole[len(latest.text) :]
        return latest.suggestion

    def _show(self, suggestion: _Suggestion) -> None:
        suggestion.due = False
        if not suggestion.shown:
            suggestion.shown = True
            self._add(suggestion, Counts(shown=1, shown_characters=len(suggestion.text)))

    def _count_shown(self) -> None:
        """Count the latest suggestion if it was shown: late, since its drafter is known only when it is written."""
        if self._latest is not None and self._latest.suggestion.due:
            self._show(self._latest.suggestion)

    def _judge(self, accepted: AcceptedText, text: str | None) -> None:
        self._accepted.remove(accepted)
        if text is not None and accepted.stands(text):
            self._count(accepted.row, Counts(kept=1))

    def _add(self, suggestion: _Suggestion, counts: Counts) -> None:
        if suggestion.row is None:
            suggestion.row = Row(suggestion.language, self._drafter(suggestion))
        self._count(suggestion.row, counts)

    def _count(self, row: Row, counts: Counts) -> None:
        self._counts = added(self._counts, {row: counts})
        self._total += counts

    def _drafter(self, suggestion: _Suggestion) -> str:
        shown = suggestion.text
        for document, text, drafter in reversed(self._written):
            if document == suggestion.document and (text.startswith(shown) or shown.startswith(text)):
                return drafter
        return MODEL_ALONE
