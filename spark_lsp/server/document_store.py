"""The open documents, as the client sees them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum

from lsprotocol import types

from spark_lsp.context.diagnostics import Diagnostic, relocated
from spark_lsp.documents.edits import ContentChange, Range, apply_changes, removes_one_character
from spark_lsp.documents.positions import Encoding, offset_at
from spark_lsp.documents.text import TextSnapshot
from spark_lsp.syntax.languages import Language, language_for

MAX_CHARACTERS = 8_000_000
"""Larger documents are not completed: an edit copies the text, which takes about 1 ms for each million characters."""
_BINARY_PROBE = 8192
"""A NUL among the first characters means that this is no text; git looks at as many."""


class Obstacle(Enum):
    """Why a document cannot be completed."""

    TOO_LARGE = "too-large"
    BINARY = "binary"


@dataclass(slots=True)
class OpenDocument:
    """One open document. Changed only by the event loop; its snapshots may be read anywhere."""

    uri: str
    language: Language
    snapshot: TextSnapshot
    obstacle: Obstacle | None = None
    edited: int | None = None
    """Where the latest edit ends, in code points; None if that is not known."""
    shortened: bool = False
    """Whether the latest change took out one character and put in none."""
    excluded: bool | None = None
    """Whether it is private, as soon as that is known."""
    diagnostics: tuple[Diagnostic, ...] = ()
    """What other servers find wrong in the snapshot, as far as the client tells."""
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    """Set, and replaced by a fresh one, at each change."""

    def lost_character_at(self, offset: int) -> bool:
        """Whether the latest change was the deletion of one character at `offset`, as far as its place is known."""
        return self.shortened and self.edited in (None, offset)

    def announce_change(self) -> None:
        """Wake everybody who waits for the next change."""
        self.changed.set()
        self.changed = asyncio.Event()


class DocumentStore:
    """Documents by URI, in the position encoding agreed with the client."""

    def __init__(self) -> None:
        self.encoding = Encoding.UTF16
        self._documents: dict[str, OpenDocument] = {}

    def get(self, uri: str) -> OpenDocument | None:
        """Return the open document, or None."""
        return self._documents.get(uri)

    def __len__(self) -> int:
        return len(self._documents)

    def __iter__(self) -> Iterator[OpenDocument]:
        return iter([*self._documents.values()])

    def open(self, item: types.TextDocumentItem) -> OpenDocument:
        """Take over a document; opening it again replaces the text."""
        obstacle = obstacle_of(item.text)
        snapshot = TextSnapshot.of("" if obstacle else item.text, item.version)
        document = OpenDocument(item.uri, language_for(item.language_id, item.uri), snapshot, obstacle)
        self._documents[item.uri] = document
        return document

    def change(
        self, identifier: types.VersionedTextDocumentIdentifier, changes: Sequence[types.TextDocumentContentChangeEvent]
    ) -> OpenDocument | None:
        """Apply `changes` in order and return the document; None if it is not open."""
        document = self._documents.get(identifier.uri)
        if document is None:
            return None
        edits, old = [content_change(change) for change in changes], document.snapshot
        whole = next((i for i in range(len(edits) - 1, -1, -1) if edits[i].range is None), None)
        if whole is not None:
            document.obstacle = obstacle_of(edits[whole].text)
            edits = edits[whole:]
        if document.obstacle is None:
            document.snapshot = apply_changes(document.snapshot, edits, self.encoding, identifier.version)
            document.obstacle = obstacle_of(document.snapshot.text)
        document.edited = end_of_edit(document.snapshot, edits[-1], self.encoding) if edits else None
        if document.obstacle is not None:
            document.edited = None
            document.snapshot = TextSnapshot.of("", identifier.version)
        _follow_up(document, old)
        return document

    def renew(self, document: OpenDocument, text: str, edited: int | None) -> None:
        """Put `text` in place of a document's; `edited` is where the latest edit in it ends, if that is known."""
        old, document.obstacle = document.snapshot, obstacle_of(text)
        document.snapshot = TextSnapshot.of("" if document.obstacle else text)
        document.edited = None if document.obstacle else edited
        _follow_up(document, old)

    def close(self, uri: str) -> OpenDocument | None:
        """Forget a document and return it."""
        document = self._documents.pop(uri, None)
        if document is not None:
            document.announce_change()
        return document


def _follow_up(document: OpenDocument, old: TextSnapshot) -> None:
    """Bring up to date what belongs to the text that was `old`, and wake who waits for a change."""
    document.shortened = removes_one_character(old.text, document.snapshot.text)
    document.diagnostics = relocated(document.diagnostics, old, document.snapshot)
    document.announce_change()


def end_of_edit(snapshot: TextSnapshot, change: ContentChange, encoding: Encoding) -> int | None:
    """Return the offset behind the text that `change` put into `snapshot`; None for a change of the whole text."""
    if change.range is None:
        return None
    where = change.range
    line, character = min((where.start_line, where.start_character), (where.end_line, where.end_character))
    return min(len(snapshot.text), offset_at(snapshot, line, character, encoding) + len(change.text))


def obstacle_of(text: str) -> Obstacle | None:
    """Return why a text cannot be completed; None if it can."""
    if len(text) > MAX_CHARACTERS:
        return Obstacle.TOO_LARGE
    return Obstacle.BINARY if "\0" in text[:_BINARY_PROBE] else None


def content_change(change: types.TextDocumentContentChangeEvent) -> ContentChange:
    """Return a change of the protocol as one of ours."""
    if isinstance(change, types.TextDocumentContentChangePartial):
        start, end = change.range.start, change.range.end
        return ContentChange(change.text, Range(start.line, start.character, end.line, end.character))
    return ContentChange(change.text, None)
