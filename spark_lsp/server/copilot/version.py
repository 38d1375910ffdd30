"""Whether a request and the server mean the same text.

A request may name the version of its document. An edit that is still on its way is waited for; a text that is another
one in the end is refused, so that the plugin asks anew.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from pygls.exceptions import JsonRpcContentModified

from spark_lsp.documents.positions import Encoding, offset_at, position_at
from spark_lsp.documents.text import TextSnapshot
from spark_lsp.server.copilot.params import Target, target_of

if TYPE_CHECKING:
    from spark_lsp.server.app import SparkServer

LATE_CHANGE_SECONDS = 0.15
"""So long an edit is waited for: the longest that Neovim holds edits back to send them together."""


class OutdatedRequestError(JsonRpcContentModified):
    """The document was edited since the request was written."""


async def agree_on_version(server: SparkServer, params: dict[str, Any]) -> None:
    """Return when the document has the version that the request names, if it names one and is of an open document.

    Raises JsonRpcContentModified (-32801) if it does not get it, OutdatedRequestError if it is past it. Does nothing
    for clients that do not speak the methods of this package: they expect no error where the protocol has none.

    Older plugins number documents otherwise than their editor does: copilot.lua sends Neovim's `changedtick`, which
    also counts a save, the second half of an undo and what was before the document was opened. Such a number may be
    ahead of ours with no edit to come. It is taken for the same text if that has the place which the request is about.
    """
    target = target_of(params) if server.copilot.speaks else None
    if target is None or target.version is None:
        return
    snapshot = await _awaited(server, target.uri, target.version)
    known = snapshot.version if snapshot is not None else None
    if snapshot is None or known is None or known == target.version:
        return
    if target.agent and target.version > known and _holds(snapshot, target):
        return
    error = OutdatedRequestError if target.version < known else JsonRpcContentModified
    raise error(f"The request is about version {target.version} of the document; it is {known} here.")


async def _awaited(server: SparkServer, uri: str, version: int) -> TextSnapshot | None:
    """Return the document's text, after a moment if it is older than `version`; None if it is not open."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + LATE_CHANGE_SECONDS
    while True:
        document = server.documents.get(uri)
        if document is None:
            return None
        left = deadline - loop.time()
        known = document.snapshot.version
        if known is None or known >= version or left <= 0:
            return document.snapshot
        try:
            await asyncio.wait_for(document.changed.wait(), left)
        except asyncio.TimeoutError:
            continue  # an edit may have come in the same moment


def _holds(snapshot: TextSnapshot, target: Target) -> bool:
    """Whether the text has the place."""
    offset = offset_at(snapshot, target.line, target.character, Encoding.UTF16)
    return position_at(snapshot, offset, Encoding.UTF16) == (target.line, target.character)
