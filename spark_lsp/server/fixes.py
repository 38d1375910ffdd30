"""`textDocument/codeAction`: repairs of what other language servers report.

An action only says which fault it is about; what the edit is, the model finds out when the action is resolved. A client
that resolves no edits gets actions (or, without literals, commands) that run `spark.repair`, which sends the edit with
`workspace/applyEdit`. An edit is for the version of the document that the model has seen, or it is not sent at all.

Only a repair of which a check shows that it removes the fault is preferred. One that was found is remembered until the
text changes, so that the next list of actions has it ready; where none was found none is offered again.

What the user may want to edit next (`copilotInlineEdit`) is another thing and stands in a module of its own.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lsprotocol import types
from pygls.exceptions import JsonRpcContentModified, JsonRpcException, JsonRpcRequestCancelled

from spark_lsp.context.diagnostics import Severity
from spark_lsp.documents.positions import offset_at, position_at
from spark_lsp.documents.text import TextSnapshot
from spark_lsp.pipeline import CompletionRequest, Pipeline, Reason
from spark_lsp.repair import Edit, Fault, Outcome, RepairRequest, repair
from spark_lsp.scheduler import EngineState, Task
from spark_lsp.server.diagnostics import keep_diagnostics
from spark_lsp.server.document_store import OpenDocument
from spark_lsp.server.repair_progress import RepairProgress

if TYPE_CHECKING:
    from spark_lsp.server.app import SparkServer

REPAIR_COMMAND = "spark.repair"
MOST_ACTIONS = 5
"""For one place; the severest faults come first."""
MOST_REMEMBERED = 32
TITLE_CHARACTERS = 72
_SERVER_CANCELLED = -32802
_READY = (EngineState.IDLE, EngineState.BUSY)


@dataclass(frozen=True, slots=True)
class _Asked:
    """What an action is about, as it goes to the client and back."""

    document: OpenDocument
    fault: Fault


class Fixes:
    """Repairs for one server; belongs to the event loop."""

    def __init__(self, server: SparkServer) -> None:
        self._server = server
        self._known: OrderedDict[tuple[str, Fault], tuple[TextSnapshot, Outcome]] = OrderedDict()

    async def actions(
        self, params: types.CodeActionParams, raw: dict[str, Any]
    ) -> list[types.CodeAction | types.Command]:
        """Return an action for each fault in the range."""
        server, document = self._server, self._server.documents.get(params.text_document.uri)
        only = params.context.only
        if document is None or document.obstacle is not None or not server.settings.completion.enabled:
            return []
        if only is not None and not any(_includes_quick_fixes(kind) for kind in only):
            return []
        if await server.gate.excluded(document):
            return []
        context = raw.get("context")
        items = context.get("diagnostics") if isinstance(context, dict) else None
        items = items if isinstance(items, list) else []
        keep_diagnostics(server, document, items, range(params.range.start.line, params.range.end.line + 1))
        if server.scheduler.status.state not in _READY:
            return []
        found: list[types.CodeAction | types.Command] = []
        for item in sorted(filter(_is_worth_it, items), key=_severity):
            fault = self._fault(document, item)
            action = self._action(document, fault, item) if fault is not None else None
            if action is not None and len(found) < MOST_ACTIONS:
                found.append(action)
        return found

    async def resolve(self, action: types.CodeAction, raw: dict[str, Any]) -> types.CodeAction:
        """Return the action with its edit; without one, and with a sentence to the user, if there is no repair."""
        asked = self._asked(raw.get("data"))
        if asked is None:
            return action
        outcome = await self._outcome(asked, raw.get("workDoneToken"))
        if outcome.edit is None:
            self._say(outcome.sentence)
            if self._literals is not None and self._literals.disabled_support:
                action.disabled = types.CodeActionDisabled(reason=outcome.sentence)
            return action
        action.edit = self._workspace_edit(asked.document, outcome.edit)
        action.is_preferred = True if outcome.proven else None
        return action

    async def run(self, data: Any, token: Any) -> None:
        """Repair the fault that `data`, the argument of the command, is about."""
        asked = self._asked(data)
        if asked is None:
            self._say("The document has changed; ask for its repairs again.")
            return
        outcome = await self._outcome(asked, token)
        if outcome.edit is None:
            self._say(outcome.sentence)
            return
        edit = self._workspace_edit(asked.document, outcome.edit)
        label = f"Repair: {asked.fault.message}"
        # Nobody waits for the answer, which some clients leave out.
        self._server.workspace_apply_edit(types.ApplyWorkspaceEditParams(edit=edit, label=label), self._applied)

    def _applied(self, answer: types.ApplyWorkspaceEditResult | None) -> None:
        if answer is not None and not answer.applied:
            self._say("The editor did not apply it.")

    @property
    def _literals(self) -> types.CodeActionClientCapabilities | None:
        """What the client says of code actions; None if it only knows commands."""
        text_document = self._server.client_capabilities.text_document
        known = text_document.code_action if text_document is not None else None
        return known if known is not None and known.code_action_literal_support is not None else None

    def _resolves_edits(self) -> bool:
        known = self._literals
        support = known.resolve_support if known is not None else None
        return support is not None and "edit" in support.properties and bool(known and known.data_support)

    def _fault(self, document: OpenDocument, item: dict[str, Any]) -> Fault | None:
        """Return the fault that a protocol diagnostic describes; None if it describes none of the text."""
        encoding, snapshot = self._server.documents.encoding, document.snapshot
        try:
            start, end = item["range"]["start"], item["range"]["end"]
            places = [int(start["line"]), int(start["character"]), int(end["line"]), int(end["character"])]
            message = " ".join(str(item["message"]).split())
        except (TypeError, KeyError, ValueError, OverflowError):
            return None
        if not message or not 0 <= places[0] < snapshot.line_count:
            return None
        first = offset_at(snapshot, places[0], places[1], encoding)
        return Fault(first, max(first, offset_at(snapshot, places[2], places[3], encoding)), message)

    def _action(
        self, document: OpenDocument, fault: Fault, item: dict[str, Any]
    ) -> types.CodeAction | types.Command | None:
        known = self._known.get((document.uri, fault))
        outcome = known[1] if known is not None and known[0] is document.snapshot else None
        if outcome is not None and outcome.edit is None:
            return None
        title = f"Repair: {fault.message}"
        title = title if len(title) <= TITLE_CHARACTERS else title[: TITLE_CHARACTERS - 1] + "…"
        data = {
            "uri": document.uri,
            "version": document.snapshot.version,
            "range": item["range"],
            "message": item["message"],
        }
        command = types.Command(title=title, command=REPAIR_COMMAND, arguments=[data])
        if self._literals is None:
            return command
        action = types.CodeAction(title=title, kind=types.CodeActionKind.QuickFix)
        if outcome is not None and outcome.edit is not None:
            action.edit = self._workspace_edit(document, outcome.edit)
            action.is_preferred = True if outcome.proven else None
        elif self._resolves_edits():
            action.data = data
        else:
            action.command = command
        return action

    def _asked(self, data: Any) -> _Asked | None:
        """Return what the data of an action is about; None if it is not ours. Raises if the text has changed since."""
        if not isinstance(data, dict) or not isinstance(data.get("uri"), str):
            return None
        document = self._server.documents.get(data["uri"])
        if document is None or document.obstacle is not None or document.excluded is not False:
            return None
        if data.get("version") != document.snapshot.version:
            raise JsonRpcContentModified("The document has changed since the repair was offered.")
        fault = self._fault(document, data)
        return _Asked(document, fault) if fault is not None else None

    async def _outcome(self, asked: _Asked, token: Any) -> Outcome:
        """Return what the model comes to. Raises with the protocol's code when cancelled or when the text changes."""
        server, document, fault = self._server, asked.document, asked.fault
        snapshot = document.snapshot
        known = self._known.get((document.uri, fault))
        if known is not None and known[0] is snapshot:
            return known[1]
        found: list[Outcome] = []
        request = RepairRequest(document.uri, snapshot, document.language, fault)

        def work(pipeline: Pipeline, cancelled: Any) -> None:
            found.append(
                repair(pipeline, request, cancelled=cancelled, on_answer=lambda n: server.post(progress.report, n))
            )

        place = CompletionRequest(document.uri, snapshot, fault.start, document.language)
        task = Task(place, work)
        progress = RepairProgress(server, "Repairing", token, lambda: server.scheduler.cancel(task))
        server.scheduler.undertake(task)
        try:
            done = await asyncio.shield(asyncio.wrap_future(task.result))
        except asyncio.CancelledError:
            server.scheduler.cancel(task)
            progress.end("Cancelled")
            raise
        progress.end("Repaired" if found and found[0].edit is not None else "Not repaired")
        if document.snapshot is not snapshot or server.documents.get(document.uri) is not document:
            raise JsonRpcContentModified("The document changed while the model wrote the repair.")
        if done.reason is Reason.CANCELLED:
            raise JsonRpcRequestCancelled("The repair was cancelled.")
        if done.reason is Reason.SUPERSEDED:
            raise JsonRpcException("Another repair was asked for.", code=_SERVER_CANCELLED)
        if not found:
            message = server.scheduler.status.message or "The model could not be asked; the log has the details."
            return Outcome(None, sentence=message)
        self._known[document.uri, fault] = snapshot, found[0]
        if len(self._known) > MOST_REMEMBERED:
            self._known.popitem(last=False)
        return found[0]

    def _workspace_edit(self, document: OpenDocument, edit: Edit) -> types.WorkspaceEdit:
        encoding, snapshot = self._server.documents.encoding, document.snapshot
        start, end = (types.Position(*position_at(snapshot, at, encoding)) for at in (edit.start, edit.end))
        text_edit = types.TextEdit(range=types.Range(start, end), new_text=edit.text)
        workspace = self._server.client_capabilities.workspace
        known = workspace.workspace_edit if workspace is not None else None
        if known is None or not known.document_changes:
            return types.WorkspaceEdit(changes={document.uri: [text_edit]})
        identifier = types.OptionalVersionedTextDocumentIdentifier(uri=document.uri, version=snapshot.version)
        changes = types.TextDocumentEdit(text_document=identifier, edits=[text_edit])
        return types.WorkspaceEdit(document_changes=[changes])

    def _say(self, sentence: str) -> None:
        """Answer the user, every time: `tell` says a thing only once."""
        message = f"spark-lsp: no repair. {sentence}"
        self._server.window_show_message(types.ShowMessageParams(type=types.MessageType.Info, message=message))


def register(server: SparkServer) -> None:
    """Register code actions, their resolution and the command.

    Handlers do not name the server's class: pygls looks up each annotation where the handler stands.
    """
    fixes = Fixes(server)
    options = types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix], resolve_provider=True)

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION, options)
    async def code_action(params: types.CodeActionParams) -> list[types.CodeAction | types.Command]:
        return await fixes.actions(params, server.protocol.raw_params)

    @server.feature(types.CODE_ACTION_RESOLVE)
    async def resolve_code_action(action: types.CodeAction) -> types.CodeAction:
        return await fixes.resolve(action, server.protocol.raw_params)

    @server.command(REPAIR_COMMAND)
    async def run_repair(*arguments: Any) -> None:
        data = arguments[0] if arguments else None
        await fixes.run(data, server.protocol.raw_params.get("workDoneToken"))


def _includes_quick_fixes(kind: object) -> bool:
    name = getattr(kind, "value", kind)
    return name in ("", "quickfix")


def _severity(item: Any) -> int:
    severity = item.get("severity")
    return severity if isinstance(severity, int) else Severity.ERROR


def _is_worth_it(item: Any) -> bool:
    """Whether a diagnostic is an error or a warning."""
    return isinstance(item, dict) and _severity(item) <= Severity.WARNING
