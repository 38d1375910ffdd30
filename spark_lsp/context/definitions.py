"""Imports and signatures of the names used near the cursor."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from spark_lsp.context.extras import Chunk
from spark_lsp.context.outline import Definition, Outline

MOST_MEMBERS_SHOWN = 12
"""Of a class; those whose names are used near the cursor are shown before others."""
LEAST_NAME = 4
"""Characters of a name that is looked up in files which are not imported; shorter ones are in every file."""


@dataclass(frozen=True, slots=True)
class OutlinedFile:
    """A file that may define what is used."""

    name: str
    outline: Outline
    imported: bool
    """Whether the document imports it; else it is only open."""


@dataclass(frozen=True, slots=True)
class _Piece:
    file: str
    place: int
    """Among the pieces of its file."""
    rank: int
    """0 where it is used near the cursor, 1 where the file names it somewhere."""
    text: str


def choose_definitions(
    name: str,
    own: Outline,
    is_visible: Callable[[int], bool],
    used: frozenset[str],
    files: Iterable[OutlinedFile],
    characters: int,
) -> list[Chunk]:
    """Return one chunk for each file with something to show, within `characters`.

    `name` and `own` are the completed document's; of it, only what `is_visible` denies (an offset in code points) is
    shown. `used` are the words near the cursor. First come the document's own pieces, then the files by their names.
    """
    bound = {name for found in own.imports for name, _ in found.names}
    originals = {there for found in own.imports for here, there in found.names if here in used}
    near, defined = used | originals, {definition.name for definition in own.definitions}
    pieces = [*_own_pieces(name, own, is_visible, used)]
    for file in sorted(files, key=lambda file: (not file.imported, file.name)):
        named = {there for found in own.imports for _, there in found.names}
        pieces += _pieces_of(file, near, named, defined | (bound if not file.imported else frozenset()))
    return _join(pieces, characters)


def _own_pieces(name: str, own: Outline, is_visible: Callable[[int], bool], used: frozenset[str]) -> Iterator[_Piece]:
    place = 0
    for found in own.imports:
        if not is_visible(found.end) and any(here in used for here, _ in found.names):
            yield _Piece(name, place, 0, found.text)
            place += 1
    for definition in own.definitions:
        if not is_visible(definition.start) and definition.name in used:
            yield _Piece(name, place, 0, _shown(definition, used))
            place += 1


def _pieces_of(file: OutlinedFile, near: frozenset[str], named: set[str], hidden: set[str]) -> Iterator[_Piece]:
    for place, definition in enumerate(file.outline.definitions):
        if definition.name in near and definition.name not in hidden:
            if file.imported or len(definition.name) >= LEAST_NAME:
                yield _Piece(file.name, place, 0, _shown(definition, near))
        elif file.imported and any(member.name in near for member in definition.members):
            yield _Piece(file.name, place, 0, _shown(definition, near, used_only=True))
        elif file.imported and definition.name in named:
            yield _Piece(file.name, place, 1, _shown(definition, near))


def _shown(definition: Definition, used: frozenset[str], *, used_only: bool = False) -> str:
    """The signature with the members that matter, in their order."""
    members = [*definition.members]
    if used_only or len(members) > MOST_MEMBERS_SHOWN:
        ranked = sorted(members, key=lambda member: member.name not in used)
        if used_only:
            ranked = [member for member in ranked if member.name in used]
        wanted = {id(member) for member in ranked[:MOST_MEMBERS_SHOWN]}
        members = [member for member in members if id(member) in wanted]
    return "\n".join([definition.signature, *(member.signature for member in members)])


def _join(pieces: list[_Piece], characters: int) -> list[Chunk]:
    """The pieces that fit, used ones first, put together by file in the order the files came."""
    kept: list[_Piece] = []
    files: set[str] = set()
    for piece in sorted(pieces, key=lambda piece: piece.rank):
        size = len(piece.text) + 1 + (0 if piece.file in files else Chunk(piece.file, "").characters)
        if size <= characters:
            kept.append(piece)
            files.add(piece.file)
            characters -= size
    chunks = []
    for file in dict.fromkeys(piece.file for piece in pieces):
        texts = [piece.text for piece in sorted(kept, key=lambda piece: piece.place) if piece.file == file]
        if texts:
            chunks.append(Chunk(file, "\n".join(texts)))
    return chunks
