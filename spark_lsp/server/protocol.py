"""JSON-RPC as clients really speak it.

pygls decodes every message into typed objects while it parses the JSON. That loses fields it does not know (Copilot's
`textDocument.version`, our `partialResultToken`), mistakes nested objects for messages, and leaves a request without
`params` unanswered. So the JSON stays plain until the whole message is there:

* a request gets exactly one answer in every case: what the handler returns, or the error code that the specification
  names;
* the raw `params` of the request being handled are at hand (`raw_params`); handlers of methods that are not in the
  protocol get them plain;
* what has a wrong type is refused and never converted: a `text` of null is not the text "None";
* only what we asked is taken for an answer, so that nobody else's id ends one of our requests or theirs;
* an error carries a sentence, never a traceback;
* documents go to our own store, since pygls splits lines at form feeds and U+2028.
"""

from __future__ import annotations

import asyncio
import contextvars
import logging
from collections.abc import Callable, Generator
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.protocol import JsonRPCNotification, JsonRPCRequestMessage, LanguageServerProtocol
from pygls.protocol.language_server import lsp_method

from spark_lsp.server import fallback
from spark_lsp.server.diagnostics import DIAGNOSTICS_CAPABILITY
from spark_lsp.server.envelope import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    NOT_INITIALIZED,
    be_strict,
    completed,
    request_id,
    salvaged,
)
from spark_lsp.server.framing import BadFrame

if TYPE_CHECKING:
    from spark_lsp.server.app import SparkServer

log = logging.getLogger(__name__)

_CANCELLED_SECONDS = 1.0
"""A request that was cancelled is answered by then; one that is not does not keep the editor from leaving."""
_BEFORE_INITIALIZE = frozenset({types.INITIALIZE, types.EXIT, types.CANCEL_REQUEST})


class SparkProtocol(LanguageServerProtocol):
    """The language server protocol with the rules above."""

    _server: SparkServer

    def __init__(self, server: Any, converter: Any) -> None:
        # First, since the base class looks at every attribute, `raw_params` included.
        self._raw: contextvars.ContextVar[dict[str, Any] | None] = contextvars.ContextVar("raw_params", default=None)
        be_strict(converter)
        super().__init__(server, converter)
        self._initialized = False

    @property
    def raw_params(self) -> dict[str, Any]:
        """The `params` of the message being handled, as the client sent them; empty if it sent none."""
        return self._raw.get() or {}

    def plain(self, value: Any) -> Any:
        """Return a protocol object as the JSON value that is sent for it."""
        return self._converter.unstructure(value)

    def receive(self, message: Any) -> None:
        """Handle what one frame holds: a message, several in an array, or something that is none. Never raises."""
        try:
            if isinstance(message, BadFrame):
                self._answer_error(message.id, message.code, message.sentence)
            elif isinstance(message, list) and message:
                # LSP has no batches; each of their messages is handled by itself.
                for one in message:
                    self.handle_message(one)
            else:
                self.handle_message(message)
        except Exception as error:
            log.warning("A message could not be handled: %s", error, exc_info=log.isEnabledFor(logging.DEBUG))

    def handle_message(self, message: Any) -> None:
        """Check the envelope of one message, then hand it to its handler."""
        if not isinstance(message, dict):
            self._answer_error(None, INVALID_REQUEST, "This is not a JSON-RPC 2.0 message.")
        elif "method" not in message:
            self._take_response(message)
        elif message.get("jsonrpc") != self.VERSION:
            self._refuse(message, INVALID_REQUEST, "This is not a JSON-RPC 2.0 message.")
        elif not isinstance(message["method"], str):
            self._refuse(message, INVALID_REQUEST, "The method is not a string.")
        elif "id" in message and request_id(message) is None:
            self._refuse(message, INVALID_REQUEST, "The id of a request is a number without a fraction or a string.")
        elif "id" in message and request_id(message) in self._request_futures:
            self._refuse(message, INVALID_REQUEST, "A request with this id is not answered yet.")
        elif self._may_come_now(message, message["method"]):
            self._dispatch(message, message["method"])

    def _dispatch(self, message: dict[str, Any], method: str) -> None:
        """Hand a request or notification to its handler, typed as far as the protocol knows it."""
        known = self.fm.builtin_features.keys() | self.fm.features.keys() | {types.CANCEL_REQUEST}
        if method not in known:
            self._refuse(message, METHOD_NOT_FOUND, f"The method {method} is not known.")
            return
        if method == types.INITIALIZE:
            message = self._server.copilot.prepared(message)
        params = message.get("params")
        try:
            structured = self._structured(completed(message, request_id(message)), method)
        except Exception as error:
            log.debug("%s", error)
            self._refuse(message, INVALID_PARAMS, f"The parameters of {method} are not valid.")
            return
        if "id" in message and not hasattr(structured, "id"):
            self._refuse(message, INVALID_REQUEST, f"{method} is a notification and has no id.")
            return
        token = self._raw.set(params if isinstance(params, dict) else {})
        try:
            super().handle_message(structured)
        finally:
            self._raw.reset(token)

    def _structured(self, message: dict[str, Any], method: str) -> Any:
        kind = self.get_message_type(method)
        if method == types.INITIALIZE and isinstance(message["params"], dict):
            params = message["params"]
            if not self._fits(params):
                message = {**message, "params": salvaged(params, self._fits)}
        if kind is not None:
            return self._converter.structure(message, kind)
        if "id" in message:
            return JsonRPCRequestMessage(message["id"], method, self.VERSION, message["params"])
        return JsonRPCNotification(method, self.VERSION, message["params"])

    def _fits(self, params: dict[str, Any]) -> bool:
        """Whether these are parameters of `initialize`."""
        try:
            self._converter.structure(params, types.InitializeParams)
        except Exception as error:
            log.info("The client's initialize request is not quite right: %s", error)
            return False
        return True

    def _take_response(self, message: dict[str, Any]) -> None:
        """End the request of ours that `message` answers; anything else is nobody's answer."""
        identifier = message.get("id")
        if not isinstance(identifier, str) or identifier not in self._result_types:
            log.info("Ignored a response to a request that was never sent")
            return
        kind, future = self._result_types.pop(identifier), self._request_futures.pop(identifier, None)
        if future is None or future.done():
            return
        error = message.get("error")
        if error is not None:
            said = error.get("message") if isinstance(error, dict) else None
            future.set_exception(JsonRpcException(said if isinstance(said, str) else "The client refused."))
            return
        try:
            answer = {"jsonrpc": self.VERSION, "id": identifier, "result": message.get("result")}
            result = self._converter.structure(answer, kind).result if kind is not None else message.get("result")
        except Exception as wrong:
            log.debug("%s", wrong)
            future.set_exception(JsonRpcException("The client's answer is not valid."))
        else:
            future.set_result(result)

    def _may_come_now(self, message: dict[str, Any], method: str) -> bool:
        """Whether the life cycle allows `method`; a request that comes too early or too late is answered here."""
        if self._shutdown and method != types.EXIT:
            self._refuse(message, INVALID_REQUEST, "The server is shutting down.")
        elif not self._initialized and method not in _BEFORE_INITIALIZE:
            self._refuse(message, NOT_INITIALIZED, "The server has not been initialized.")
        elif self._initialized and method == types.INITIALIZE:
            self._refuse(message, INVALID_REQUEST, "The server has been initialized already.")
        else:
            return True
        return False

    def _refuse(self, message: dict[str, Any], code: int, sentence: str) -> None:
        """Answer a request with an error; a notification is only logged."""
        if "id" in message:
            self._answer_error(request_id(message), code, sentence)
        else:
            log.info("Ignored a notification: %s", sentence)

    def _answer_error(self, identifier: int | str | None, code: int, sentence: str) -> None:
        """Send an error, with the id null if it cannot be told whose it is."""
        error = {"code": code, "message": sentence}
        self._send_data({"jsonrpc": self.VERSION, "id": identifier, "error": error})

    def _execute_handler(
        self,
        msg_id: Any,
        handler: Callable[..., Any],
        callback: Callable[[Future[Any]], None],
        args: tuple[Any, ...] | None = None,
        kwargs: dict[str, Any] | None = None,
    ) -> None:
        def done(future: Future[Any]) -> None:
            # pygls forgets requests, but neither notifications nor the handlers of commands.
            self._request_futures.pop(msg_id, None)
            callback(future)

        super()._execute_handler(msg_id, handler, done, args, kwargs)

    def _send_handler_result(self, future: Future[Any], *, msg_id: Any) -> None:
        """Send what a handler came to. A refusal that it chose is no failure of ours, and is not logged as one."""
        refusal = None if future.cancelled() else future.exception()
        if isinstance(refusal, JsonRpcException) and refusal.code != INTERNAL_ERROR:
            self._request_futures.pop(msg_id, None)
            self._send_response(msg_id, error=types.ResponseError(code=refusal.code, message=refusal.message))
        else:
            super()._send_handler_result(future, msg_id=msg_id)

    def _send_response(self, msg_id: Any, result: Any = None, error: types.ResponseError | None = None) -> None:
        if error is not None and (error.code == INTERNAL_ERROR or error.data is not None):
            # pygls puts the traceback, with paths and code, into the error it sends.
            log.error("Request %r failed: %s", msg_id, error.message)
            message = "spark-lsp could not answer; its log has the details." if error.code == INTERNAL_ERROR else None
            error = types.ResponseError(code=error.code, message=message or error.message)
        super()._send_response(msg_id, result, error)

    def _send_data(self, data: Any) -> None:
        if self._server.closed:
            return  # the client is gone; reporting that it is gone would only recurse
        super()._send_data(data)

    @lsp_method(types.INITIALIZE)
    def lsp_initialize(self, params: types.InitializeParams) -> Generator[Any, Any, types.InitializeResult]:
        """Say what clients may send besides the protocol."""
        result = yield from super().lsp_initialize(params)
        fallback.advertise(self._server, self.raw_params, result.capabilities)
        self._initialized = True
        result.capabilities.experimental = {DIAGNOSTICS_CAPABILITY: self._server.settings.context.diagnostics}
        return result

    @lsp_method(types.SHUTDOWN)
    def lsp_shutdown(self, *arguments: Any) -> Generator[Any, Any, None]:
        """Cancel what is not answered, and see to it that the client hears of that before it says exit."""
        own = self.msg_id
        if (handler := self.fm.features.get(types.SHUTDOWN)) is not None:
            yield handler, arguments, None
        self._shutdown = True
        # Over a copy: a request that is cancelled takes itself out of the table.
        left: list[Any] = [future for identifier, future in [*self._request_futures.items()] if identifier != own]
        for future in left:
            future.cancel()
        waiting = [future for future in left if asyncio.isfuture(future)]
        if waiting:
            yield _ended, (waiting,), None

    @lsp_method(types.TEXT_DOCUMENT_DID_OPEN)
    def lsp_text_document__did_open(self, params: types.DidOpenTextDocumentParams) -> None:
        """Put a document into our store."""
        self._server.events.opened(self._server.documents.open(params.text_document))

    @lsp_method(types.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: types.DidChangeTextDocumentParams) -> None:
        """Apply changes to our store."""
        self._server.events.change(params)

    @lsp_method(types.TEXT_DOCUMENT_DID_CLOSE)
    def lsp_text_document__did_close(self, params: types.DidCloseTextDocumentParams) -> None:
        """Free what is kept for a document."""
        self._server.events.close(params.text_document.uri)

    @lsp_method(types.NOTEBOOK_DOCUMENT_DID_OPEN)
    def lsp_notebook_document__did_open(self, params: types.DidOpenNotebookDocumentParams) -> None:
        """Put the cells of a notebook into our store."""
        self._server.notebooks.did_open(params)

    @lsp_method(types.NOTEBOOK_DOCUMENT_DID_CHANGE)
    def lsp_notebook_document__did_change(self, params: types.DidChangeNotebookDocumentParams) -> None:
        """Apply changes to the cells in our store."""
        self._server.notebooks.did_change(params)

    @lsp_method(types.NOTEBOOK_DOCUMENT_DID_CLOSE)
    def lsp_notebook_document__did_close(self, params: types.DidCloseNotebookDocumentParams) -> None:
        """Free what is kept for a notebook."""
        self._server.notebooks.did_close(params)


async def _ended(requests: list[asyncio.Future[Any]]) -> None:
    """Wait until requests that were cancelled have their answers, but not for long."""
    await asyncio.wait(requests, timeout=_CANCELLED_SECONDS)
