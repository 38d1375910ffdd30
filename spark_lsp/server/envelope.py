"""What a JSON-RPC message says about itself: its id, its error codes, and where clients are freer than the protocol."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lsprotocol import types

INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
NOT_INITIALIZED = -32002
_VERSIONED = frozenset({types.TEXT_DOCUMENT_DID_OPEN, types.TEXT_DOCUMENT_DID_CHANGE})


def request_id(message: dict[str, Any]) -> int | str | None:
    """Return the id of a request; None if it has none or one that the protocol does not allow.

    Some languages have one kind of number, so 7.0 is the id 7.
    """
    identifier = message.get("id")
    if isinstance(identifier, float) and identifier.is_integer():
        return int(identifier)
    return identifier if isinstance(identifier, (int, str)) and not isinstance(identifier, bool) else None


def completed(message: dict[str, Any], identifier: int | str | None) -> dict[str, Any]:
    """Return the message with what some clients leave out or send as null where the protocol wants it.

    `params` that have no required member; the version of a document; the range of a change of the whole text.
    """
    method, params = message["method"], message.get("params")
    if params is None and method == types.INITIALIZED:
        params = {}
    if method in _VERSIONED and isinstance(params, dict):
        document, changes = params.get("textDocument"), params.get("contentChanges")
        if isinstance(document, dict) and document.get("version") is None:
            params = {**params, "textDocument": {**document, "version": 0}}
        if isinstance(changes, list):
            params = {**params, "contentChanges": [_without_null_range(change) for change in changes]}
    return {**message, "params": params} if identifier is None else {**message, "params": params, "id": identifier}


def salvaged(params: dict[str, Any], valid: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """Return what is valid of the parameters of `initialize`; a client with one odd capability is served too."""
    capabilities = params.get("capabilities")
    groups = capabilities.items() if isinstance(capabilities, dict) else ()
    least: dict[str, Any] = {"processId": None, "rootUri": None, "capabilities": {}}
    good = {name: value for name, value in params.items() if name in least or valid({**least, name: value})}
    for name in ("processId", "rootUri"):
        if not valid({**least, name: params.get(name)}):
            good[name] = None
    kept = {name: value for name, value in groups if valid({**least, "capabilities": {name: value}})}
    return {**least, **good, "capabilities": kept}


def _without_null_range(change: Any) -> Any:
    if isinstance(change, dict) and change.get("range", change) is None:
        return {name: value for name, value in change.items() if name != "range"}
    return change


def be_strict(converter: Any) -> None:
    """Let `converter` refuse values of another type; by itself it makes the text "None" of a null and 3 of a "3"."""
    converter.register_structure_hook(str, _text)
    converter.register_structure_hook(int, _number)
    converter.register_structure_hook(bool, _truth)


def _text(value: Any, wanted: type[str]) -> str:
    """Return a string, or a member of an enumeration of strings: their classes come here too."""
    if not isinstance(value, str):
        raise TypeError(f"{type(value).__name__} in place of a string")
    return wanted(value)


def _number(value: Any, wanted: type[int]) -> int:
    """Return a whole number, or a member of an enumeration of numbers."""
    if isinstance(value, bool) or not (isinstance(value, int) or (isinstance(value, float) and value.is_integer())):
        raise TypeError(f"{type(value).__name__} in place of a whole number")
    return wanted(value)


def _truth(value: Any, _kind: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"{type(value).__name__} in place of true or false")
    return value
