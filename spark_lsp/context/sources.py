"""The texts that extras are taken from, and the choice among them. Belongs to the engine's thread.

The server tells what is open, edited, visited and read; nothing here touches the disk, and what is excluded never comes
here. A choice is made only when a window is planned in idle time: extras stand at the start of the prompt, so another
choice costs the whole prefill.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from spark_lsp.context.budget import share
from spark_lsp.context.definitions import OutlinedFile, choose_definitions
from spark_lsp.context.diagnostics import Diagnostic, choose_diagnostics, diagnostics_room
from spark_lsp.context.extras import NO_EXTRAS, Chunk, Extras, comment_marks, stable_order
from spark_lsp.context.outline import Outline, outline
from spark_lsp.context.recent import RecentRing
from spark_lsp.context.similarity import words
from spark_lsp.context.snippets import Candidate, Window, choose_snippets, cut_windows
from spark_lsp.context.window import CompletionContext, with_line_feeds
from spark_lsp.documents.text import TextSnapshot
from spark_lsp.settings import ContextSettings
from spark_lsp.syntax.languages import Language
from spark_lsp.syntax.parser import DocumentParser, SyntaxTree

HELD_CHARACTERS = 500_000
"""Texts held at most; the ones that came first go first. Open documents share theirs with the editor's copy."""
OUTLINED_CHARACTERS = 200_000
"""Of a longer text there is no outline, since it would take a tenth of a second to parse after every visit; snippets
are taken from so much of its start."""
PARSE_SECONDS = 0.02
"""One piece of work: so long may a keystroke have to wait for it."""
PARSE_PIECES = 50
"""After so many pieces a text that is not parsed counts as one without a tree."""
NEAR_TAIL_CHARACTERS, NEAR_BELOW_CHARACTERS = 1500, 300
"""The surroundings of the cursor: some 40 lines before it and 8 behind."""
DEFINITIONS_WEIGHT, RECENT_WEIGHT, SNIPPETS_WEIGHT = 2.0, 1.0, 1.0
"""Shares of the budget: signatures are exact and short, the others are guesses."""


@dataclass(frozen=True, slots=True)
class SourceText:
    """A text that may be shown to the model."""

    key: str
    """The file's path, or the document's URI where there is no file."""
    name: str
    """What the file is called before the model."""
    repository: str
    """The name of its workspace folder, empty if it is in none."""
    language: Language
    snapshot: TextSnapshot
    diagnostics: tuple[Diagnostic, ...] = ()
    """What other servers find wrong in it."""


class ContextSources:
    """Holds the texts and chooses extras for a place."""

    def __init__(self, settings: ContextSettings) -> None:
        """Hold what the parts that are on in `settings` need."""
        self._texts: OrderedDict[str, SourceText] = OrderedDict()
        self._open: dict[str, str] = {}
        """Keys of open documents by their URIs."""
        self._imported: dict[str, tuple[str, ...]] = {}
        self._outlines: dict[str, tuple[str, Outline]] = {}
        """With the text that it is the outline of."""
        self._windows: dict[str, tuple[str, tuple[Window, ...]]] = {}
        self._ring = RecentRing()
        self._changes = 0
        self._own_changes: dict[str, int] = {}
        """Those of open documents, by their keys."""
        self._parsing: tuple[str, DocumentParser, int] | None = None
        self._settings = settings

    @property
    def enabled(self) -> bool:
        """Whether any part is on."""
        return self._settings.shows_anything

    def put(self, source: SourceText, document: str | None = None) -> None:
        """Take in a text, of an open document if that is given (its URI), or a newer version of it."""
        if not self.enabled:
            return
        if document is not None:
            self._open[document] = source.key
        elif source.key in self._open.values():
            return  # the editor's version is the newer one
        known = self._texts.pop(source.key, None)
        self._texts[source.key] = source
        if known is None or known.snapshot.text != source.snapshot.text:
            self._revise(source.key)
        self._trim()

    def link(self, document: str, keys: Sequence[str]) -> None:
        """Take note that the open document imports the texts with these keys."""
        if document in self._open and self._imported.get(document) != tuple(keys):
            self._imported[document] = tuple(keys)
            self._revise()

    def touch(self, document: str, source: SourceText, offset: int) -> None:
        """Take note that the user edits or visits an open document at `offset`."""
        self.put(source, document)
        if self._settings.recent and self._ring.touch(source.key, source.name, source.snapshot, offset):
            self._revise(source.key)

    def diagnosed(self, document: str) -> None:
        """Take note that what is wrong in an open document was found anew, even if that is what was known."""
        if document in self._open:
            self._revise()

    def forget(self, document: str, *, private: bool = False) -> None:
        """Let go of a document that was closed; if it is `private`, also of every place in documents not open now."""
        key = self._open.pop(document, "")
        self._imported.pop(document, None)
        if private:
            self._ring.keep(frozenset(self._open.values()))
        self._own_changes.pop(key, None)
        self._drop(key)
        self._revise()

    def forget_files(self) -> None:
        """Let go of everything that is not open: other files may be private now."""
        self._ring.keep(frozenset(self._open.values()))
        for key in [key for key in self._texts if key not in self._open.values()]:
            self._drop(key)
        self._imported.clear()
        self._revise()

    def changes(self, document: str) -> int:
        """Return a number that grows when other texts than the document's own change."""
        return self._changes - self._own_changes.get(self._open.get(document, ""), 0)

    def work(self, document: str) -> bool:
        """Read one text that the document's extras may need, for a few milliseconds; False if none is missing."""
        source = self._source(document)
        if source is None:
            return False
        if self._settings.definitions and self._outline_next(document, source):
            return True
        return self._settings.snippets and self._cut_next(source)

    def _outline_next(self, document: str, source: SourceText) -> bool:
        missing = next((other for other in self._relevant(document, source) if self._outline(other) is None), None)
        if missing is None:
            return False
        text = missing.snapshot.text
        if self._parsing is None or self._parsing[0] != text:
            self._parsing = text, DocumentParser(missing.language), 0
        _, parser, pieces = self._parsing
        tree = parser.tree(text, PARSE_SECONDS)
        self._parsing = text, parser, pieces + 1
        if tree.root is not None or missing.language.grammar is None or pieces + 1 >= PARSE_PIECES:
            self._outlines[missing.key] = text, outline(tree)
            self._parsing = None
        return True

    def _cut_next(self, source: SourceText) -> bool:
        for other in self._alike(source):
            if other.key == source.key:
                continue  # changes with every keystroke; it is cut when a choice is made
            if self._windows.get(other.key, ("", ()))[0] != other.snapshot.text:
                self._cut(other)
                return True
        return False

    def choose(self, document: str, tree: SyntaxTree, window: CompletionContext, characters: int) -> Extras:
        """Return the extras for a window of the document that `tree` belongs to, within `characters`.

        Those in `window` already keep their order.
        """
        source, settings = self._source(document), self._settings
        if source is None or characters <= 0:
            return NO_EXTRAS
        kept_free = diagnostics_room(characters) if settings.diagnostics else 0
        characters -= kept_free
        near = window.tail[-NEAR_TAIL_CHARACTERS:] or window.above[-NEAR_TAIL_CHARACTERS:]
        query = words(near + window.below[:NEAR_BELOW_CHARACTERS])
        visible = words(window.above + window.tail + window.below)
        weights = [
            DEFINITIONS_WEIGHT * settings.definitions,
            RECENT_WEIGHT * settings.recent,
            SNIPPETS_WEIGHT * settings.snippets,
        ]
        chunks: list[Chunk] = []
        for place, weight in enumerate(weights):
            if not weight:
                continue
            room = share(weights, place, characters - sum(chunk.characters for chunk in chunks))
            if place == 0:
                part = self._definitions(document, source, tree, window, query, room)
            elif place == 1:
                part = self._ring.choose(visible, query, room)
            else:
                part = self._snippets(source, window, query, chunks, room)
            chunks += stable_order(window.extras.chunks, part)
        if kept_free:  # what changes most comes last
            problems = source.diagnostics
            chunks += choose_diagnostics(source.name, problems, source.snapshot, tree, window.cursor, kept_free)
        comment = comment_marks(source.language)
        return Extras(tuple(chunks), source.repository, source.name, comment) if chunks else NO_EXTRAS

    # The parts

    def _definitions(
        self,
        document: str,
        source: SourceText,
        tree: SyntaxTree,
        window: CompletionContext,
        query: frozenset[str],
        characters: int,
    ) -> list[Chunk]:
        end = window.cursor + len(window.raw_below)
        imported = self._imported.get(document, ())
        files = [
            OutlinedFile(other.name, found, other.key in imported)
            for other in self._relevant(document, source)
            if (found := self._outline(other)) is not None
        ]
        return choose_definitions(
            source.name,
            outline(tree),
            lambda at: window.start <= at < end,
            query,
            files,
            characters,
        )

    def _snippets(
        self, source: SourceText, window: CompletionContext, query: frozenset[str], shown: list[Chunk], characters: int
    ) -> list[Chunk]:
        candidates = []
        for other in self._alike(source):
            first = last = -1
            if other.key == source.key:  # what the window shows of it is left out
                first = other.snapshot.line_of(window.start)
                last = other.snapshot.line_of(window.cursor + len(window.raw_below))
            candidates += [
                Candidate(other.name, piece)
                for piece in self._cut(other)
                if not first <= piece.line + piece.text.count("\n") or not piece.line <= last
            ]
        return choose_snippets(query, candidates, [words(chunk.text) for chunk in shown], characters)

    # The texts

    def _source(self, document: str) -> SourceText | None:
        return self._texts.get(self._open.get(document, ""))

    def _relevant(self, document: str, source: SourceText) -> list[SourceText]:
        """The imported texts, and the other open ones of the same language."""
        keys = dict.fromkeys((*self._imported.get(document, ()), *self._open.values()))
        found = [self._texts[key] for key in keys if key in self._texts and key != source.key]
        imported = self._imported.get(document, ())
        return [
            text
            for text in found
            if (text.key in imported or text.language.name == source.language.name)
            and len(text.snapshot.text) <= OUTLINED_CHARACTERS
        ]

    def _alike(self, source: SourceText) -> list[SourceText]:
        """All texts of the language, the latest first."""
        return [other for other in reversed(self._texts.values()) if other.language.name == source.language.name]

    def _outline(self, source: SourceText) -> Outline | None:
        text, found = self._outlines.get(source.key, ("", None))
        return found if text == source.snapshot.text else None

    def _cut(self, source: SourceText) -> tuple[Window, ...]:
        text, windows = self._windows.get(source.key, ("", ()))
        if text != source.snapshot.text:
            windows = cut_windows(with_line_feeds(source.snapshot.text[:OUTLINED_CHARACTERS]))
            self._windows[source.key] = source.snapshot.text, windows
        return windows

    def _revise(self, key: str = "") -> None:
        if not self.enabled:
            return
        self._changes += 1
        if key in self._open.values():
            self._own_changes[key] = self._own_changes.get(key, 0) + 1

    def _drop(self, key: str) -> None:
        held: dict[str, Any]
        for held in (self._texts, self._outlines, self._windows):
            held.pop(key, None)

    def _trim(self) -> None:
        held = sum(len(source.snapshot.text) for source in self._texts.values())
        for key in [*self._texts]:
            if held <= HELD_CHARACTERS:
                break
            if key not in self._open.values():
                held -= len(self._texts[key].snapshot.text)
                self._drop(key)
