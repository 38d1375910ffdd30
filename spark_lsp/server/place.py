"""Where a suggestion goes: from what the client asks to an offset in one of our documents.

What the client calls a text document is a document of ours, or a part of one: the cells of a notebook that are written
in one language are one document. Positions and ranges of the protocol are always those of the part.
"""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lsprotocol import types

from spark_lsp.documents.edits import ContentChange, Range, apply_change
from spark_lsp.documents.positions import Encoding, offset_at, position_at
from spark_lsp.documents.text import TextSnapshot
from spark_lsp.server.document_store import OpenDocument

if TYPE_CHECKING:
    from spark_lsp.server.app import SparkServer

LATE_CHANGE_SECONDS = 0.15
"""Neovim 0.11 may send a request up to 75 ms before the edit it belongs to; so long an edit is waited for."""


@dataclass(frozen=True, slots=True)
class Part:
    """What the client calls a text document."""

    document: OpenDocument
    own: TextSnapshot
    """The text that positions refer to."""
    start: int = 0
    """Where it begins in the document's snapshot, in code points."""

    def offset(self, position: types.Position, encoding: Encoding) -> int:
        """Return the offset of a position in the document; one out of range is clamped to the part."""
        return self.start + offset_at(self.own, position.line, position.character, encoding)

    def has(self, position: types.Position, encoding: Encoding) -> bool:
        """Return whether there is such a position: the client may be ahead of what it has told."""
        offset = offset_at(self.own, position.line, position.character, encoding)
        return position_at(self.own, offset, encoding) == (position.line, position.character)


@dataclass(frozen=True, slots=True)
class Place:
    """Where the suggestion goes: into `snapshot` at `cursor`, sent as `lead` + text over `replaced`."""

    document: OpenDocument
    snapshot: TextSnapshot
    cursor: int
    lead: str
    replaced: types.Range
    deleted: bool
    """Whether the user has just deleted a character here."""


@dataclass(frozen=True, slots=True)
class Query:
    """What the client asks."""

    uri: str
    position: types.Position
    invoked: bool = False
    selected: types.SelectedCompletionInfo | None = None
    """The entry of the completion menu that the suggestion has to extend."""


def part_of(server: SparkServer, uri: str) -> Part | None:
    """Return the open document with this URI, or the part of one; None if there is none."""
    cell = server.notebooks.part(uri)
    if cell is not None:
        return cell
    document = server.documents.get(uri)
    return Part(document, document.snapshot) if document is not None else None


async def place_of(server: SparkServer, query: Query) -> Place | None:
    """Return the place that the client means, after a moment if it lies beyond what we know; None if it is closed."""
    part = part_of(server, query.uri)
    if part is None:
        return None
    encoding = server.documents.encoding
    position = query.position
    if not part.has(position, encoding):
        with contextlib.suppress(asyncio.TimeoutError):  # then the position is simply out of range; it is clamped
            await asyncio.wait_for(part.document.changed.wait(), LATE_CHANGE_SECONDS)
        part = part_of(server, query.uri)
        if part is None:
            return None
    document, snapshot = part.document, part.document.snapshot
    cursor = part.offset(position, encoding)
    deleted = document.lost_character_at(cursor)
    if query.selected is None:
        here = types.Position(*position_at(part.own, cursor - part.start, encoding))
        return Place(document, snapshot, cursor, "", types.Range(here, here), deleted)
    text, start, end = query.selected.text, query.selected.range.start, query.selected.range.end
    where = Range(start.line, start.character, end.line, end.character)
    own = apply_change(part.own, ContentChange(text, where), encoding)
    behind = snapshot.text[part.start + len(part.own.text) :]
    whole = own if own is part.own else TextSnapshot.of(snapshot.text[: part.start] + own.text + behind)
    return Place(document, whole, part.offset(start, encoding) + len(text), text, query.selected.range, deleted)
