"""`textDocument/completion` for clients without inline completion: the suggestion as one entry of the menu.

The entry takes the place of the typed word, so that a client which filters by that word keeps it, and shows all of its
lines as documentation. The list is incomplete: the client asks again for the next key, which the cache mostly answers.
Where something goes wrong there is no entry, and no error that a client might show for each key.
"""

from __future__ import annotations

import logging
import re
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from spark_lsp.documents.positions import units
from spark_lsp.server.inline import Candidate, candidates
from spark_lsp.server.place import Query, part_of
from spark_lsp.syntax.languages import PLAIN

if TYPE_CHECKING:
    from spark_lsp.server.app import SparkServer

log = logging.getLogger(__name__)

LABEL_CHARACTERS = 60
"""Of a label; a menu is hardly wider, and Helix has crashed on very long ones."""
_REGISTRATION = "spark-completion"
_SORT_TEXT = {"first": "!", "last": "~"}
"""The first and the last printable sign beside the space: entries of other servers sort by letters and digits."""
_NO_WORD, _FENCE = re.compile(r"\W"), re.compile(r"`{3,}")


def register(server: SparkServer) -> None:
    """Serve the request; `advertise` decides whether clients get to know."""

    @server.feature(types.TEXT_DOCUMENT_COMPLETION, types.CompletionOptions())
    async def completion(ls: SparkServer, params: types.CompletionParams) -> types.CompletionList:
        return await menu_entries(ls, params)


def serves(server: SparkServer) -> bool:
    """Whether the client gets menu entries, as it is set up now."""
    mode, text = server.settings.completion.fallback, server.client_capabilities.text_document
    if mode != "auto":
        return mode == "always"
    return text is not None and text.completion is not None and not server.shows_inline


def advertise(server: SparkServer, params: dict[str, Any], capabilities: types.ServerCapabilities) -> None:
    """Leave the request out of `capabilities` where it would only repeat what the client shows inline.

    `params` are those of `initialize` as they came. lsp-mode says null where it should say what it can (its issue
    5081), so the key alone counts. A plugin made for Copilot asks for its texts by other methods, whatever its editor's
    capabilities say.
    """
    said, options = params.get("capabilities"), params.get("initializationOptions")
    text = said.get("textDocument") if isinstance(said, dict) else None
    plugin = isinstance(options, dict) and "editorPluginInfo" in options
    server.shows_inline = plugin or (isinstance(text, dict) and "inlineCompletion" in text)
    if not serves(server):
        capabilities.completion_provider = None


async def follow_settings(server: SparkServer) -> None:
    """Register the request where a setting asks for it after `initialize`, if the client can take that."""
    text, known = server.client_capabilities.text_document, server.server_capabilities
    dynamic = text is not None and text.completion is not None and text.completion.dynamic_registration
    if known.completion_provider is not None or not dynamic or not serves(server):
        return
    known.completion_provider = types.CompletionOptions()
    every = [types.TextDocumentFilterPattern(pattern="**")]
    options = types.CompletionRegistrationOptions(document_selector=every)
    registration = types.Registration(_REGISTRATION, types.TEXT_DOCUMENT_COMPLETION, options)
    await server.client_register_capability_async(types.RegistrationParams([registration]))


async def menu_entries(server: SparkServer, params: types.CompletionParams) -> types.CompletionList:
    """Return at most one entry, by the deadline of an automatic request."""
    items: list[types.CompletionItem] = []
    try:
        if serves(server):
            uri = params.text_document.uri
            items = [_entry(server, uri, one) for one in await candidates(server, Query(uri, params.position))]
    except Exception:
        log.exception("No menu entry could be made")
    return types.CompletionList(is_incomplete=True, items=items)


def _entry(server: SparkServer, uri: str, candidate: Candidate) -> types.CompletionItem:
    """Return the entry for a suggestion at the end of a word, which may be empty."""
    encoding, part, end = server.documents.encoding, part_of(server, uri), candidate.range.end
    line, language = "", PLAIN
    if part is not None:
        cursor, language = part.offset(end, encoding) - part.start, part.document.language
        line = part.own.text[part.own.line_span(end.line)[0] : cursor]
    word = _NO_WORD.split(line)[-1]
    start = types.Position(end.line, end.character - units(word, encoding))
    text = word + candidate.text
    first_line = next(line.strip() for line in text.split("\n") if line.strip())
    label = first_line if len(first_line) <= LABEL_CHARACTERS else first_line[: LABEL_CHARACTERS - 1] + "…"
    return types.CompletionItem(
        label=label,
        kind=types.CompletionItemKind.Text,
        detail="spark-lsp",
        documentation=_documentation(server, text, language.name),
        sort_text=_SORT_TEXT[server.settings.completion.fallback_position],
        # What may be typed of it before the client asks again.
        filter_text=word + _NO_WORD.split(candidate.text, maxsplit=1)[0] or None,
        insert_text_format=types.InsertTextFormat.PlainText,
        insert_text_mode=types.InsertTextMode.AsIs if _takes_as_is(server) else None,
        text_edit=types.TextEdit(types.Range(start, end), _indented_by_client(server, text, line)),
        command=candidate.command,
    )


def _documentation(server: SparkServer, text: str, language: str) -> types.MarkupContent:
    """Return a preview of `text`: fenced code, or as it is for a client that only shows plain text."""
    item = _item_capabilities(server)
    formats = item.documentation_format if item is not None else None
    if formats is not None and types.MarkupKind.Markdown not in formats:  # Helix and eglot show both and name none
        return types.MarkupContent(types.MarkupKind.PlainText, text)
    fence = "`" * max([3, *(len(run) + 1 for run in _FENCE.findall(text))])
    return types.MarkupContent(types.MarkupKind.Markdown, f"{fence}{language}\n{text.strip(chr(10))}\n{fence}")


def _takes_as_is(server: SparkServer) -> bool:
    item = _item_capabilities(server)
    modes = item.insert_text_mode_support if item is not None else None
    return modes is not None and types.InsertTextMode.AsIs in modes.value_set


def _indented_by_client(server: SparkServer, text: str, line: str) -> str:
    """Return `text` without the indentation that the client puts in front of each further line, that of `line`."""
    known = server.client_capabilities.text_document
    completion = known.completion if known is not None else None
    adjusts = completion is not None and completion.insert_text_mode is types.InsertTextMode.AdjustIndentation
    if not adjusts or _takes_as_is(server):
        return text
    return text.replace("\n" + line[: len(line) - len(line.lstrip())], "\n")


def _item_capabilities(server: SparkServer) -> types.ClientCompletionItemOptions | None:
    text = server.client_capabilities.text_document
    return text.completion.completion_item if text is not None and text.completion is not None else None
