"""The method names that Copilot's editor plugins speak, answered by our own suggestions.

A plugin that lets its user choose the server's command works with us as it is. There are two generations of plugins:

* current ones ask with `textDocument/inlineCompletion` as everybody does, and tell what they show and accept
  (`feedback`); they may ask for a panel of texts (`panel`) and for edits elsewhere (`inline_edit`);
* older ones ask with `getCompletions`, always in UTF-16 (`completions`, `panel`).

Both want to hear that the user is signed in (`account`) and how the server is (`client`). A request may name the
version of the document it is about (`version`). Nothing here calls itself by the other server's name, and nothing in
the parameters is relied on: plugins put in what they like.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from spark_lsp.server.copilot import account, completions, feedback, inline_edit, panel
from spark_lsp.server.copilot.client import CopilotClient

if TYPE_CHECKING:
    from spark_lsp.server.app import SparkServer

__all__ = ["CopilotClient", "register"]

Handler = Callable[["SparkServer", dict[str, Any]], Any]
"""Takes the parameters as the client sent them (no object: empty) and returns the JSON value of the answer."""


def register(server: SparkServer) -> None:
    """Serve all the methods; a client that uses one of them is recognised by that."""
    for module in (account, completions, feedback, inline_edit, panel):
        handlers: dict[str, Handler] = module.HANDLERS
        for method, handler in handlers.items():
            server.feature(method)(_recognising(handler))


def _recognising(handler: Handler) -> Callable[..., Any]:
    if inspect.iscoroutinefunction(handler):

        async def answer_later(ls: SparkServer, _params: Any) -> Any:
            ls.copilot.recognise()
            return await handler(ls, ls.protocol.raw_params)

        return answer_later

    def answer(ls: SparkServer, _params: Any) -> Any:
        ls.copilot.recognise()
        return handler(ls, ls.protocol.raw_params)

    return answer
