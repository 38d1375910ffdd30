"""`textDocument/copilotInlineEdit`: edits elsewhere than at the cursor.

None are suggested so far. A plugin that asks is told so in the form it expects: with an error it would complain at
every pause. Suggested edits would carry the version of their document (sidekick.nvim drops those without) and a command
that is run when they are accepted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from spark_lsp.server.copilot.version import agree_on_version

if TYPE_CHECKING:
    from spark_lsp.server.app import SparkServer


async def inline_edit(server: SparkServer, params: dict[str, Any]) -> dict[str, Any]:
    """Return `{"edits": []}`. Raises JsonRpcContentModified for another version of the document."""
    await agree_on_version(server, params)
    return {"edits": []}


def did_show_inline_edit(server: SparkServer, params: dict[str, Any]) -> None:
    """Count nothing: an edit that is shown is not one of ours."""


HANDLERS = {"textDocument/copilotInlineEdit": inline_edit, "textDocument/didShowInlineEdit": did_show_inline_edit}
