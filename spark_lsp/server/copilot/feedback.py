"""What plugins tell of suggestions and of the user: shown, accepted, rejected, and which document is looked at.

All of it stays on this machine: counts, texts to draft from, and what belongs into the prompt.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from spark_lsp.documents.positions import Encoding, units
from spark_lsp.server import inline
from spark_lsp.server.copilot.params import characters_within, identifier_of, insert_text_of, length_of, uri_of

if TYPE_CHECKING:
    from spark_lsp.server.app import SparkServer

log = logging.getLogger(__name__)

OK = "OK"
"""The answer to a request that only tells something."""


def did_show_completion(server: SparkServer, params: dict[str, Any]) -> None:
    """Count an item as shown."""
    identifier = identifier_of(params.get("item"))
    if identifier:
        server.metrics.count_shown(identifier)


def did_partially_accept_completion(server: SparkServer, params: dict[str, Any]) -> None:
    """Count the accepted part of an item: the first `acceptedLength` UTF-16 units of its text, all parts so far."""
    item, length = params.get("item"), length_of(params.get("acceptedLength"))
    identifier = identifier_of(item)
    offered = server.offers.get(identifier, "")
    if not offered or length is None:
        return
    # Before what was offered may stand the entry of a completion menu that it extends.
    text = insert_text_of(item)
    lead = len(text) - len(offered) if text.endswith(offered) else 0
    characters = characters_within(text if lead else offered, length) - lead
    if characters > 0:
        server.metrics.count_partial(characters, identifier)


def did_focus(server: SparkServer, params: dict[str, Any]) -> None:
    """Let what the user looks at be nearer in the context; no document means that the focus left all of them."""
    document = server.documents.get(uri_of(params))
    if document is not None:
        server.feed.touched(document, None)


def notify_shown(server: SparkServer, params: dict[str, Any]) -> str:
    """Count a suggestion as shown."""
    identifier = params.get("uuid")
    if isinstance(identifier, str) and identifier:
        server.metrics.count_shown(identifier)
    return OK


def notify_accepted(server: SparkServer, params: dict[str, Any]) -> str:
    """Count a suggestion as accepted, or a part of it if `acceptedLength` (UTF-16 units) is less than its text.

    copilot.lua tells of the whole text with each word that is accepted; one suggestion counts once.
    """
    identifier, length = params.get("uuid"), length_of(params.get("acceptedLength"))
    text = server.offers.get(identifier, "") if isinstance(identifier, str) else ""
    if not text or not isinstance(identifier, str):
        return OK
    if length is not None and length < units(text, Encoding.UTF16):
        characters = characters_within(text, length)
        if characters:
            server.metrics.count_partial(characters, identifier)
    else:
        inline.accepted(server, identifier)
    return OK


def notify_rejected(server: SparkServer, params: dict[str, Any]) -> str:
    """Forget suggestions that will not be accepted any more."""
    identifiers = params.get("uuids")
    for identifier in identifiers if isinstance(identifiers, list) else []:
        if isinstance(identifier, str):
            server.offers.pop(identifier, None)
    return OK


HANDLERS = {
    "textDocument/didShowCompletion": did_show_completion,
    "textDocument/didPartiallyAcceptCompletion": did_partially_accept_completion,
    "textDocument/didFocus": did_focus,
    "notifyShown": notify_shown,
    "notifyAccepted": notify_accepted,
    "notifyRejected": notify_rejected,
}
