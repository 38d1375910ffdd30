"""Notebooks: the cells of one language, in order, are one document.

A cell that the user writes in is completed with the cells before it as text above and those after it as text below.
Positions stay in the cell (`Part` says where it stands). The cells are kept here and not in pygls, which splits lines
at form feeds and U+2028.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lsprotocol import types

from spark_lsp.documents.edits import apply_changes
from spark_lsp.documents.text import TextSnapshot
from spark_lsp.server.document_store import OpenDocument, content_change, end_of_edit
from spark_lsp.server.place import Part
from spark_lsp.syntax.languages import Language, language_for

if TYPE_CHECKING:
    from spark_lsp.server.app import SparkServer

log = logging.getLogger(__name__)

SYNC = types.NotebookDocumentSyncOptions(notebook_selector=[types.NotebookDocumentFilterWithNotebook(notebook="*")])
"""What the client is asked for: every notebook with all of its cells."""
SEPARATOR = "\n\n"
"""Between two cells, which often end without a line end: a cell begins a line, and a paragraph."""


@dataclass(slots=True)
class _Cell:
    uri: str
    language: Language
    snapshot: TextSnapshot


@dataclass(slots=True)
class _Notebook:
    order: list[str]
    """URIs of the cells."""
    cells: dict[str, _Cell] = field(default_factory=dict)
    """Those whose text is known."""
    documents: dict[str, OpenDocument] = field(default_factory=dict)
    """By the language's name."""

    def of_language(self, language: Language) -> list[_Cell]:
        known = [self.cells[uri] for uri in self.order if uri in self.cells]
        return [cell for cell in known if cell.language is language]


class Notebooks:
    """The open notebooks. Belongs to the event loop."""

    def __init__(self, server: SparkServer) -> None:
        self._server = server
        self._notebooks: dict[str, _Notebook] = {}
        self._of_cell: dict[str, _Notebook] = {}

    def part(self, uri: str) -> Part | None:
        """Return where the cell with this URI stands; None if there is no such cell."""
        notebook = self._of_cell.get(uri)
        cell = notebook.cells.get(uri) if notebook is not None else None
        document = notebook.documents.get(cell.language.name) if notebook is not None and cell is not None else None
        if notebook is None or cell is None or document is None:
            return None
        start = 0
        for other in notebook.of_language(cell.language):
            if other is cell:
                return Part(document, cell.snapshot, start)
            start += len(other.snapshot.text) + len(SEPARATOR)
        return None

    def did_open(self, params: types.DidOpenNotebookDocumentParams) -> None:
        """Take over a notebook; opening it again replaces it."""
        uri = params.notebook_document.uri
        self._forget(uri)
        notebook = self._notebooks[uri] = _Notebook([cell.document for cell in params.notebook_document.cells])
        self._take_in(notebook, params.cell_text_documents)
        self._rebuild(uri, notebook)

    def did_change(self, params: types.DidChangeNotebookDocumentParams) -> None:
        """Apply a change of the cells' order and texts; work on the older text stops."""
        uri = params.notebook_document.uri
        notebook, cells = self._notebooks.get(uri), params.change.cells
        if notebook is None:
            log.info("A change for a notebook that is not open was ignored")
            return
        if cells is None:
            return  # metadata and outputs are none of our business
        if cells.structure is not None:
            self._restructure(notebook, cells.structure)
        edited = None
        for change in cells.text_content or ():
            cell = notebook.cells.get(change.document.uri)
            if cell is None:
                log.info("A change for a cell that is not open was ignored")
                continue
            edits = [content_change(one) for one in change.changes]
            encoding = self._server.documents.encoding
            cell.snapshot = apply_changes(cell.snapshot, edits, encoding, change.document.version)
            end = end_of_edit(cell.snapshot, edits[-1], encoding) if edits else None
            edited = (cell, end) if end is not None else None
        self._rebuild(uri, notebook, edited)

    def did_close(self, params: types.DidCloseNotebookDocumentParams) -> None:
        """Free everything kept for a notebook."""
        self._forget(params.notebook_document.uri)

    def _restructure(self, notebook: _Notebook, structure: types.NotebookDocumentCellChangeStructure) -> None:
        array = structure.array
        start = min(array.start, len(notebook.order))
        notebook.order[start : start + array.delete_count] = [cell.document for cell in array.cells or ()]
        for closed in structure.did_close or ():
            notebook.cells.pop(closed.uri, None)
            self._of_cell.pop(closed.uri, None)
        self._take_in(notebook, structure.did_open or ())

    def _take_in(self, notebook: _Notebook, items: Sequence[types.TextDocumentItem]) -> None:
        for item in items:
            language = language_for(item.language_id, item.uri)
            notebook.cells[item.uri] = _Cell(item.uri, language, TextSnapshot.of(item.text, item.version))
            self._of_cell[item.uri] = notebook

    def _rebuild(self, uri: str, notebook: _Notebook, edited: tuple[_Cell, int] | None = None) -> None:
        """Make the documents hold what the cells hold; `edited` is the cell and the offset in it of the latest edit."""
        languages = {cell.language.name: cell.language for cell in notebook.cells.values()}
        for name in [name for name in notebook.documents if name not in languages]:
            self._server.events.close(notebook.documents.pop(name).uri)
        for name, language in languages.items():
            text = SEPARATOR.join(cell.snapshot.text for cell in notebook.of_language(language))
            document = notebook.documents.get(name)
            if document is None:
                item = types.TextDocumentItem(f"{uri}#{name}", name, 0, text)
                notebook.documents[name] = self._server.documents.open(item)
                self._server.events.opened(notebook.documents[name])
            elif document.snapshot.text != text or document.obstacle is not None:
                where = None
                if edited is not None and edited[0].language is language:
                    part = self.part(edited[0].uri)
                    where = part.start + edited[1] if part is not None else None
                old = document.snapshot
                self._server.documents.renew(document, text, where)
                self._server.events.changed(document, old)

    def _forget(self, uri: str) -> None:
        notebook = self._notebooks.pop(uri, None)
        if notebook is None:
            return
        for cell in notebook.cells:
            self._of_cell.pop(cell, None)
        for document in notebook.documents.values():
            self._server.events.close(document.uri)
