"""Several texts beside each other, for a panel: `textDocument/copilotPanelCompletion`, and `getPanelCompletions`."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from spark_lsp.server.copilot.completions import candidates, most_candidates, own_text, utf16_range
from spark_lsp.server.copilot.params import Target, target_of
from spark_lsp.server.copilot.version import agree_on_version
from spark_lsp.server.inline import Candidate

if TYPE_CHECKING:
    from spark_lsp.server.app import SparkServer

log = logging.getLogger(__name__)


async def distinct_candidates(server: SparkServer, target: Target) -> AsyncIterator[Candidate]:
    """Yield distinct texts: first the one on the screen, which is there at once, then those to choose from."""
    snapshot, seen = own_text(server, target.uri), set()
    for invoked in (False, True):
        if own_text(server, target.uri) is not snapshot:
            return  # edited meanwhile: nothing of it would be about what the user sees
        for candidate in await candidates(server, target, invoked=invoked):
            if candidate.text not in seen:
                seen.add(candidate.text)
                yield candidate


async def panel_completion(server: SparkServer, params: dict[str, Any]) -> dict[str, Any]:
    """Return `{"items": [...]}`.

    With a `partialResultToken` each item is sent as `$/progress` as soon as it is there, and the answer holds those
    that were not sent: none.
    """
    target, token = target_of(params), params.get("partialResultToken")
    items: list[dict[str, Any]] = []
    if target is None:
        return {"items": items}
    await agree_on_version(server, params)
    async for candidate in distinct_candidates(server, target):
        item = types.InlineCompletionItem(candidate.text, range=candidate.range, command=candidate.command)
        plain = server.protocol.plain(item)
        if isinstance(token, (str, int)):
            server.progress(types.ProgressParams(token=token, value={"items": [plain]}))
        else:
            items.append(plain)
    return {"items": items}


async def get_panel_completions(server: SparkServer, params: dict[str, Any]) -> dict[str, Any]:
    """Return `{"solutionCountTarget": number}`, the most that may come.

    Each text is sent as a `PanelSolution`, and `PanelSolutionsDone` after the last one. A newer request for the same
    document ends the older one.
    """
    target, identifier = target_of(params), params.get("panelId")
    if target is None or not isinstance(identifier, str):
        return {"solutionCountTarget": 0}
    await agree_on_version(server, params)
    task = asyncio.ensure_future(_fill(server, target, identifier))
    server.keep_task(task)
    older = server.copilot.panels.pop(target.uri, None)
    if older is not None:
        older.cancel()
    server.copilot.panels[target.uri] = task
    return {"solutionCountTarget": most_candidates(server)}


async def _fill(server: SparkServer, target: Target, identifier: str) -> None:
    done: dict[str, Any] = {"panelId": identifier, "status": "OK"}
    count = 0
    try:
        await asyncio.sleep(0)  # the answer goes first: plugins open the panel with it
        async for candidate in distinct_candidates(server, target):
            snapshot = own_text(server, target.uri)
            if snapshot is None:
                break
            count += 1
            solution = {
                "panelId": identifier,
                "solutionId": candidate.identifier,
                # At the cursor and without the rest of its line: some plugins put it in as it is.
                "completionText": candidate.text,
                "displayText": candidate.text,
                "range": utf16_range(server, snapshot, candidate.range),
                "score": 1 / count,  # says only which one comes before which
            }
            server.protocol.notify("PanelSolution", solution)
    except Exception:
        log.exception("The panel could not be filled")
        done |= {"status": "Error", "message": "No suggestions could be computed; the log has the details."}
    finally:
        if server.copilot.panels.get(target.uri) is asyncio.current_task():
            del server.copilot.panels[target.uri]
        server.protocol.notify("PanelSolutionsDone", done)


HANDLERS = {"textDocument/copilotPanelCompletion": panel_completion, "getPanelCompletions": get_panel_completions}
