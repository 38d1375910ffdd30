"""Who the user is and what the server is: no account is needed, and that is what every question about one is answered.

Plugins stay silent until they hear that somebody is signed in.
"""

from __future__ import annotations

import platform
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from spark_lsp import __version__
from spark_lsp.server.copilot.feedback import OK

if TYPE_CHECKING:
    from spark_lsp.server.app import SparkServer

LOCAL_USER = "local"
"""The name that is given for the user; nobody is asked for one."""
NO_ACCOUNT = "No account is needed: suggestions are computed on this machine."


def set_editor_info(server: SparkServer, params: dict[str, Any]) -> str:
    """Take note of nothing but that the client is one of these."""
    return OK


def check_status(server: SparkServer, params: dict[str, Any]) -> dict[str, Any]:
    """Return the state of the account: all is well, always."""
    return {"status": OK, "user": LOCAL_USER}


def sign_in(server: SparkServer, params: dict[str, Any]) -> dict[str, Any]:
    """Return that it is done, and tell why it was not necessary."""
    server.tell(NO_ACCOUNT, types.MessageType.Info)
    return {"status": "AlreadySignedIn", "user": LOCAL_USER}


def sign_out(server: SparkServer, params: dict[str, Any]) -> dict[str, Any]:
    """Return the state of the account, which is what it was: there is none to leave."""
    server.tell(NO_ACCOUNT, types.MessageType.Info)
    return check_status(server, params)


def get_version(server: SparkServer, params: dict[str, Any]) -> dict[str, Any]:
    """Return our own version."""
    runtime = f"python/{platform.python_version()}"
    return {"version": __version__, "buildType": "release", "runtimeVersion": runtime}


def models(server: SparkServer, params: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the one model that runs, or none before it is known; others are chosen in the settings."""
    status = server.engine_status
    if status is None or not status.model:
        return []
    name = status.model
    return [{"id": name, "modelName": name, "modelFamily": name, "scopes": ["completion"], "default": True}]


HANDLERS = {
    "setEditorInfo": set_editor_info,
    "checkStatus": check_status,
    "signIn": sign_in,
    "signInInitiate": sign_in,
    "signInConfirm": check_status,
    "signOut": sign_out,
    "getVersion": get_version,
    "copilot/models": models,
}
