"""`workspace/executeCommand`: what a user can tell the server to do.

Each command says in one message what came of it, since many clients show no result; the result is for those that do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lsprotocol import types

from spark_lsp.explanations import explain
from spark_lsp.server import inline
from spark_lsp.server.status import summary

if TYPE_CHECKING:
    from spark_lsp.server.app import SparkServer

STATUS_COMMAND = "spark.status"
PAUSE_COMMAND = "spark.pause"
RESUME_COMMAND = "spark.resume"
SWITCH_COMMAND = "spark.switchModel"
EXPLAIN_COMMAND = "spark.explainLast"


def status_sentence(status: dict[str, Any]) -> str:
    """Return the status as one line."""
    parts = [f"{status['model']}: {status['engine']}"]
    if status["paused"]:
        parts.append("paused")
    if status["tokensPerSecond"]:
        parts.append(f"{status['tokensPerSecond']:.0f} tokens/s")
    if status["acceptanceRate"] is not None:
        parts.append(f"{100 * status['acceptanceRate']:.0f} % of suggestions accepted")
    if status["lastReason"]:
        parts.append(f"last answer {status['lastReason']}")
    return f"{', '.join(parts)}. {status['message']}".strip()


def pause(server: SparkServer, *, paused: bool) -> dict[str, Any]:
    """Stop answering and working in the background, or go on; returns the status."""
    server.paused = paused
    if paused:
        for document in server.documents:
            server.scheduler.supersede(document.uri)
    server.status_feed.changed()
    _say(server, "Completions are paused." if paused else "Completions go on.")
    return summary(server)


async def switch_model(server: SparkServer, name: object) -> dict[str, Any]:
    """Load another model and return the status when it answers; if it cannot be loaded the old one stays."""
    if not isinstance(name, str) or not name.strip():
        _say(server, f"{SWITCH_COMMAND} needs the name of a model, as `spark-lsp models list` shows it, or a path.")
        return summary(server)
    if not await server.configuration.choose_model(name.strip()):
        _say(server, f"{server.scheduler.status.model} is in use.")
    return summary(server)


def explain_last(server: SparkServer) -> str:
    """Return why the last request was answered as it was."""
    sentence = explain(server.last_reason)
    _say(server, sentence)
    return sentence


def _say(server: SparkServer, sentence: str) -> None:
    """Answer the user, every time: `tell` says a thing only once."""
    message = f"spark-lsp: {sentence}"
    server.window_show_message(types.ShowMessageParams(type=types.MessageType.Info, message=message))


def register(server: SparkServer) -> None:
    """Register the commands; clients find them in the capabilities.

    They do not name the server's class: pygls looks up each annotation where the command stands.
    """

    @server.command(inline.ACCEPT_COMMAND)
    def accept(*arguments: Any) -> None:
        inline.accepted(server, arguments[0] if arguments else None)

    @server.command(STATUS_COMMAND)
    def show_status(*_arguments: Any) -> dict[str, Any]:
        status = summary(server)
        _say(server, status_sentence(status))
        return status

    @server.command(PAUSE_COMMAND)
    def pause_completions(*_arguments: Any) -> dict[str, Any]:
        return pause(server, paused=True)

    @server.command(RESUME_COMMAND)
    def resume_completions(*_arguments: Any) -> dict[str, Any]:
        return pause(server, paused=False)

    @server.command(SWITCH_COMMAND)
    async def switch(*arguments: Any) -> dict[str, Any]:
        return await switch_model(server, arguments[0] if arguments else None)

    @server.command(EXPLAIN_COMMAND)
    def explain_answer(*_arguments: Any) -> str:
        return explain_last(server)
