"""What is sent: one line for each kind of message, with how often it comes.

To add a kind, add a line to `KINDS`: a name, a weight, and a function that makes the message. `world.request` notes
that an answer is due, and which errors it may be; a request is never answered with an internal error. A kind that is
bytes is sent as it is, in place of a frame.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.lsp.fuzz.world import LANGUAGES, MOST_CHARACTERS, World

INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS, CANCELLED = -32600, -32601, -32602, -32800
WRONG = (None, True, -1, 1.5, "text", [], ["text"], {}, {"text": {}}, 10**20)
"""What may stand where something else belongs."""
HANDLED_BY_SOME = (
    "textDocument/completion",
    "textDocument/codeAction",
    "textDocument/hover",
    "codeAction/resolve",
    "textDocument/copilotInlineEdit",
    "textDocument/copilotPanelCompletion",
    "getCompletions",
    "getCompletionsCycling",
    "checkStatus",
    "signIn",
    "setEditorInfo",
    "notifyShown",
    "notifyAccepted",
    "notifyRejected",
)
"""Requests that a server may or may not know."""
NOTIFIED_BY_SOME = (
    "textDocument/didFocus",
    "textDocument/didShowCompletion",
    "textDocument/didPartiallyAcceptCompletion",
    "workspace/didChangeWatchedFiles",
    "notebookDocument/didClose",
    "$/setTrace",
    "window/workDoneProgress/cancel",
    "no/such/notification",
)


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of message."""

    name: str
    weight: int
    make: Callable[[World], Any]


# Documents


def _open(world: World) -> Any:
    uri, text = world.uri(), world.some_text()
    world.opened(uri, text)
    version = world.chance.choice([1, 1, 1, 0, 77, None])
    item = {"uri": uri, "languageId": world.chance.choice(LANGUAGES), "version": version, "text": text}
    return world.notification("textDocument/didOpen", {"textDocument": item})


def _close(world: World) -> Any:
    uri = world.uri()
    world.closed(uri)
    return world.notification("textDocument/didClose", {"textDocument": {"uri": uri}})


def _change(world: World) -> Any:
    """Type, delete or replace; several edits of one notification refer to the text that the one before left."""
    uri = world.open_uri()
    if len(world.texts.get(uri, "")) > MOST_CHARACTERS:
        return _change_all(world, uri)
    edits = []
    for _ in range(world.chance.choice([1, 1, 1, 2, 3])):
        start = world.position(uri)
        end = start if world.chance.random() < 0.6 else world.position(uri)
        edit = {"range": {"start": start, "end": end}, "text": world.piece() if world.chance.random() < 0.8 else ""}
        world.changed(uri, [edit])
        edits.append(edit)
    return _edit(world, uri, edits)


def _change_all(world: World, uri: str = "") -> Any:
    uri = uri or world.uri()
    edit = {"text": world.some_text()} if world.chance.random() < 0.8 else {"range": None, "text": world.some_text()}
    world.changed(uri, [edit])
    return _edit(world, uri, [edit])


def _edit(world: World, uri: str, edits: list[dict[str, Any]]) -> Any:
    version = world.chance.choice([1, 2, 3, 900, None])
    return world.notification(
        "textDocument/didChange", {"textDocument": {"uri": uri, "version": version}, "contentChanges": edits}
    )


def _wrong_change(world: World) -> Any:
    """An edit that cannot be understood, and so changes nothing."""
    where = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}}
    wrong = world.chance.choice(
        [
            {"range": where},
            {"range": where, "text": world.chance.choice([None, 3, True, [], {}])},
            {"range": {**where, "end": world.chance.choice([None, "0", 3, {}])}, "text": "x"},
            {
                "range": {**where, "start": {"line": world.chance.choice([None, "1", -1, 1.5]), "character": 0}},
                "text": "x",
            },
            None,
            3,
        ]
    )
    return _edit(world, world.open_uri(), [wrong])


def _diagnostics(world: World) -> Any:
    uri = world.open_uri()
    found = {"range": {"start": world.position(uri), "end": world.position(uri)}, "message": world.piece()}
    items = [found, {**found, "severity": world.chance.choice([1, 2, 3, 4, 9, None, "x"])}, world.chance.choice(WRONG)]
    return world.notification("spark/diagnostics", {"uri": uri, "diagnostics": items})


# Requests


def _complete(world: World) -> Any:
    return world.request("textDocument/inlineCompletion", _completion_params(world))


def _completion_params(world: World) -> dict[str, Any]:
    uri = world.open_uri() if world.chance.random() < 0.9 else world.uri()
    params: dict[str, Any] = {
        "textDocument": {"uri": uri, "version": world.chance.choice([1, 2, 900])},
        "position": world.position(uri),
        "context": {"triggerKind": world.chance.choice([1, 2, 2, 7])},
    }
    if world.chance.random() < 0.1:
        place = {"start": world.position(uri), "end": world.position(uri)}
        params["context"]["selectedCompletionInfo"] = {"range": place, "text": world.piece()}
    if world.chance.random() < 0.1:
        params["partialResultToken"] = world.chance.choice(["token", 3, [], None])
    return params


def _wrong_params(world: World) -> Any:
    """A request one field of which is missing or has another type; whether that is an error depends on the field."""
    params: Any = json.loads(json.dumps(_completion_params(world)))
    place = params
    for _ in range(3):
        name = world.chance.choice(sorted(place))
        if isinstance(place[name], dict) and place[name] and world.chance.random() < 0.7:
            place = place[name]
            continue
        if world.chance.random() < 0.3:
            del place[name]
        else:
            place[name] = world.chance.choice(WRONG)
        break
    return world.request("textDocument/inlineCompletion", params)


def _at_cursor(world: World) -> dict[str, Any]:
    """Return parameters that fit most requests about a place."""
    uri = world.open_uri()
    place = world.position(uri)
    return {
        "textDocument": {"uri": uri, "version": 2},
        "position": place,
        "doc": {"uri": uri, "position": place, "version": 2, "relativePath": uri},
        "range": {"start": place, "end": place},
        "context": {"triggerKind": 1, "diagnostics": []},
    }


def _of_some(world: World) -> Any:
    params = _at_cursor(world) if world.chance.random() < 0.8 else world.chance.choice(WRONG)
    return world.request(world.chance.choice(HANDLED_BY_SOME), params)


def _notified_by_some(world: World) -> Any:
    params = _at_cursor(world) if world.chance.random() < 0.5 else world.chance.choice(WRONG)
    return world.notification(world.chance.choice(NOTIFIED_BY_SOME), params)


def _command(world: World) -> Any:
    name = world.chance.choice(["spark.accept", "spark.accept", "spark.explainLast", "no.such.command"])
    token = world.tokens[-1] if world.tokens and world.chance.random() < 0.7 else world.chance.choice(WRONG)
    arguments = world.chance.choice([[token], [token, 3], [], None])
    return world.request("workspace/executeCommand", {"command": name, "arguments": arguments})


def _configuration(world: World) -> Any:
    ours = {"completion": {"maxTokens": world.chance.choice([4, 8, "many"]), "colour": 1}}
    return world.notification(
        "workspace/didChangeConfiguration", {"settings": world.chance.choice([{"spark": ours}, *WRONG])}
    )


def _folders(world: World) -> Any:
    folder = {"uri": world.chance.choice(["file:///fuzz", "file:///other", "strange"]), "name": "x"}
    event = world.chance.choice([{"added": [folder], "removed": []}, {"added": [], "removed": [folder]}])
    return world.notification("workspace/didChangeWorkspaceFolders", {"event": event})


# The envelope


def _cancel(world: World) -> Any:
    """Of a request that was, is or will be, or of none."""
    number = world.chance.randrange(max(1, len(world.due) - 30), len(world.due) + 5)
    identifier = world.chance.choice([number, number, f"s{number}", "never", -1, None, 1.5])
    return world.notification("$/cancelRequest", {"id": identifier})


def _strange_id(world: World) -> Any:
    identifier: Any = world.chance.choice([None, True, 1.5, [], {}, [1]])
    world.due[None] += 1
    world.allowed[None] = {INVALID_REQUEST, -32700}
    return {"jsonrpc": "2.0", "id": identifier, "method": "spark/status"}


def _same_id(world: World) -> Any:
    """A request with the id of another one, which may be answered or not."""
    numbers = [number for number in world.due if isinstance(number, int)]
    if not numbers:
        return _complete(world)
    world.allowed.pop(numbers[-1], None)
    return world.request("textDocument/inlineCompletion", _completion_params(world), identifier=numbers[-1])


def _batch(world: World) -> Any:
    return [_complete(world), _change(world), world.request("spark/status", None)]


def _not_a_message(world: World) -> Any:
    world.due[None] += 1
    world.allowed[None] = {INVALID_REQUEST, -32700}
    return world.chance.choice([[], 3, "text", None, True, [[]]])


def _bad_frame(world: World) -> bytes:
    world.due[None] += 1
    world.allowed[None] = {INVALID_REQUEST, -32700}
    return world.chance.choice(
        [
            b"Content-Length: 3\r\n\r\n{{{",
            b"Content-Length: -3\r\n\r\n{}",
            b"Content-Length: many\r\nX: y\r\n\r\n",
            b"X: y\r\n\r\n{",
            b"Content-Length: 40\r\n\r\n" + b"[" * 40,
            b"Content-Length: 30000\r\n\r\n" + b"[" * 30000,
        ]
    )


def _broken_request(world: World) -> bytes:
    message = world.request("spark/status", None, -32700)
    body = json.dumps(message).encode()[:-1] + b', "params": {'
    return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


def _response(world: World) -> Any:
    """An answer to nothing."""
    identifier = world.chance.choice([0, len(world.due), "s1", "never", None, 1.5, []])
    return {"jsonrpc": "2.0", "id": identifier, **world.chance.choice([{"result": {}}, {"error": 3}, {}])}


KINDS = (
    Kind("an open", 6, _open),
    Kind("a close", 3, _close),
    Kind("an edit", 40, _change),
    Kind("a whole text", 3, _change_all),
    Kind("an edit that is none", 2, _wrong_change),
    Kind("a save", 1, lambda w: w.notification("textDocument/didSave", {"textDocument": {"uri": w.uri()}})),
    Kind("diagnostics", 2, _diagnostics),
    Kind("a completion", 20, _complete),
    Kind("wrong parameters", 4, _wrong_params),
    Kind("a request that some know", 3, _of_some),
    Kind("a notification that some know", 2, _notified_by_some),
    Kind("an unknown request", 1, lambda w: w.request("no/such", w.chance.choice(WRONG), METHOD_NOT_FOUND)),
    Kind("a command", 2, _command),
    Kind("settings", 1, _configuration),
    Kind("folders", 1, _folders),
    Kind("the status", 2, lambda w: w.request("spark/status", w.chance.choice([None, {}, [], {"x": {"jsonrpc": 1}}]))),
    Kind("a second start", 1, lambda w: w.request("initialize", {"capabilities": {}}, INVALID_REQUEST)),
    Kind(
        "a request of a notification", 1, lambda w: w.request("textDocument/didClose", _at_cursor(w), INVALID_REQUEST)
    ),
    Kind("another protocol", 1, lambda w: {**w.request("spark/status", None, INVALID_REQUEST), "jsonrpc": "1.0"}),
    Kind("a cancel", 8, _cancel),
    Kind("a strange id", 1, _strange_id),
    Kind("an id again", 1, _same_id),
    Kind("a batch", 1, _batch),
    Kind("no message", 1, _not_a_message),
    Kind("a bad frame", 1, _bad_frame),
    Kind("a broken request", 1, _broken_request),
    Kind("a response to nothing", 2, _response),
)
