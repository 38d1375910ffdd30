"""JSON-RPC as clients really speak it.

pygls decodes every message into typed objects while it parses the JSON. That loses fields it does not know (Copilot's
`textDocument.version`, our `partialResultToken`), mistakes nested objects for messages, and leaves a request without
`params` unanswered. So the JSON stays plain until the whole message is there:

* a request gets an answer in every case: what the handler returns, or the error code that the specification names;
* the raw `params` of the request being handled are at hand (`raw_params`);
* an error carries a sentence, never a traceback;
* documents go to our own store, since pygls splits lines at form feeds and U+2028.
"""

from __future__ import annotations

import contextvars
import logging
from collections.abc import Generator
from typing import TYPE_CHECKING, Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.protocol import LanguageServerProtocol
from pygls.protocol.language_server import lsp_method

from spark_lsp.server import fallback
from spark_lsp.server.diagnostics import DIAGNOSTICS_CAPABILITY

if TYPE_CHECKING:
    from spark_lsp.server.app import SparkServer

log = logging.getLogger(__name__)

_PARSE_ERROR = -32700
_INVALID_REQUEST = -32600
_INVALID_PARAMS = -32602
_INTERNAL_ERROR = -32603
_NOT_INITIALIZED = -32002
_BEFORE_INITIALIZE = frozenset({types.INITIALIZE, types.EXIT, types.CANCEL_REQUEST})


class SparkProtocol(LanguageServerProtocol):
    """The language server protocol with the rules above."""

    _server: SparkServer

    def __init__(self, server: Any, converter: Any) -> None:
        # First, since the base class looks at every attribute, `raw_params` included.
        self._raw: contextvars.ContextVar[dict[str, Any] | None] = contextvars.ContextVar("raw_params", default=None)
        super().__init__(server, converter)
        self._initialized = False

    @property
    def raw_params(self) -> dict[str, Any]:
        """The `params` of the message being handled, as the client sent them; empty if it sent none."""
        return self._raw.get() or {}

    def plain(self, value: Any) -> Any:
        """Return a protocol object as the JSON value that is sent for it."""
        return self._converter.unstructure(value)

    def structure_message(self, data: dict[str, Any]) -> Any:
        """Return `data` unchanged: this is called for each nested object, before the message is complete."""
        return data

    def handle_message(self, message: Any) -> None:
        """Check the envelope, then hand the typed message to its handler."""
        if not isinstance(message, dict) or message.get("jsonrpc") != self.VERSION:
            self._refuse(message, _INVALID_REQUEST, "This is not a JSON-RPC 2.0 message.")
            return
        method = message.get("method")
        if method is not None:
            if not isinstance(method, str):
                self._refuse(message, _INVALID_REQUEST, "The method is not a string.")
                return
            if not self._may_come_now(message, method):
                return
            message = {"params": None, **message}
            if method == types.INITIALIZE:
                message = self._server.copilot.prepared(message)
        params = message.get("params")  # pygls takes those of methods that it does not know out of the message
        try:
            structured = super().structure_message(message)
        except JsonRpcException:
            self._refuse(message, _INVALID_PARAMS, f"The parameters of {method or 'the response'} are not valid.")
            return
        token = self._raw.set(params if isinstance(params, dict) else {})
        try:
            super().handle_message(structured)
        finally:
            self._raw.reset(token)

    def _may_come_now(self, message: dict[str, Any], method: str) -> bool:
        """Whether the life cycle allows `method`; a request that comes too early or too late is answered here."""
        if self._shutdown and method != types.EXIT:
            self._refuse(message, _INVALID_REQUEST, "The server is shutting down.")
            return False
        if not self._initialized and method not in _BEFORE_INITIALIZE:
            self._refuse(message, _NOT_INITIALIZED, "The server has not been initialized.")
            return False
        if method == types.INITIALIZE:
            if self._initialized:
                self._refuse(message, _INVALID_REQUEST, "The server has been initialized already.")
                return False
            self._initialized = True
        return True

    def _refuse(self, message: Any, code: int, sentence: str) -> None:
        """Answer a request with an error; a notification or a response is only logged."""
        is_request = isinstance(message, dict) and "id" in message and ("method" in message or code == _INVALID_REQUEST)
        if is_request and isinstance(message["id"], (int, str)):
            self._send_response(message["id"], error=types.ResponseError(code=code, message=sentence))
        else:
            log.info("Ignored a message: %s", sentence)

    def _send_response(self, msg_id: Any, result: Any = None, error: types.ResponseError | None = None) -> None:
        if error is not None and (error.code == _INTERNAL_ERROR or error.data is not None):
            # pygls puts the traceback, with paths and code, into the error it sends.
            log.error("Request %r failed: %s", msg_id, error.message)
            message = "spark-lsp could not answer; its log has the details." if error.code == _INTERNAL_ERROR else None
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
        result.capabilities.experimental = {DIAGNOSTICS_CAPABILITY: self._server.settings.context.diagnostics}
        return result

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
