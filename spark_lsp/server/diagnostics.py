"""What other language servers find wrong in an open document, as the client tells us.

No server hears what others publish, so a client sends it: `spark/diagnostics` (a notification of ours) with `uri`,
optionally `version`, and all `diagnostics` of the document. They are kept with the document until it is closed.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from spark_lsp.context.diagnostics import Diagnostic, Severity, diagnostic_at, merged
from spark_lsp.documents.text import TextSnapshot
from spark_lsp.server.document_store import OpenDocument

if TYPE_CHECKING:
    from spark_lsp.server.app import SparkServer

log = logging.getLogger(__name__)

DIAGNOSTICS_METHOD = "spark/diagnostics"
DIAGNOSTICS_CAPABILITY = "sparkDiagnostics"
"""The name under which the server's experimental capabilities say whether it wants the notification."""
MOST_READ = 1000
"""Of one message; a document with more is wrong in some way that no list of findings explains."""


def diagnostics_changed(server: SparkServer, params: dict[str, Any]) -> None:
    """Take in what a `spark/diagnostics` notification says; what is wrong in it is left out, with one warning."""
    uri, version, items = (params.get(name) for name in ("uri", "version", "diagnostics"))
    if not isinstance(uri, str) or not isinstance(items, list):
        server.tell(f"The editor's {DIAGNOSTICS_METHOD} needs a `uri` and a list of `diagnostics`; it was ignored.")
        return
    document = server.documents.get(uri)
    known = document.snapshot.version if document is not None else None
    if document is None:
        log.info("Diagnostics for a document that is not open were ignored")
    elif isinstance(version, int) and known is not None and version < known:
        log.debug("Diagnostics for an older text were ignored")
    else:
        keep_diagnostics(server, document, items)


def keep_diagnostics(server: SparkServer, document: OpenDocument, items: list[Any], lines: range | None = None) -> None:
    """Keep protocol diagnostics (plain JSON) of the document as it is now.

    They take the place of all that are known or, with `lines`, of those that touch these lines: the context of a code
    action only has what is wrong in its range. Nothing is kept of a private document. One that cannot be read is left
    out, with one warning.
    """
    if document.excluded:
        return
    found = [read_diagnostic(item, document.snapshot) for item in items[:MOST_READ]]
    if None in found:
        server.tell("The editor sent diagnostics without a valid range or message; they were left out.")
    kept = [one for read in found if read is not None for one in read]
    document.diagnostics = merged(document.diagnostics, kept, lines)
    server.feed.diagnosed(document)


def read_diagnostic(item: Any, snapshot: TextSnapshot) -> tuple[Diagnostic, ...] | None:
    """Return what a protocol diagnostic says; empty if its lines are not in the text, None if it is no diagnostic."""
    try:
        first, last = item["range"]["start"]["line"], item["range"]["end"]["line"]
        message, severity = item["message"], item.get("severity")
    except (TypeError, KeyError, AttributeError):
        return None
    if not all(isinstance(line, int) and line >= 0 for line in (first, last)) or not isinstance(message, str):
        return None
    # Without a severity it is up to us; most clients take it for an error.
    known = Severity(severity) if severity in list(Severity) else Severity.ERROR
    found = diagnostic_at(snapshot, first, max(first, last), message, known)
    return (found,) if found is not None else ()


def register(server: SparkServer) -> None:
    """Take the notification."""

    @server.feature(DIAGNOSTICS_METHOD)
    def notified(ls: SparkServer, _params: Any) -> None:
        diagnostics_changed(ls, ls.protocol.raw_params)
