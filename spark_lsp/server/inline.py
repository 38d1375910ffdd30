"""`textDocument/inlineCompletion`: one answer for every request.

In this order: what the request refers to, the cache, what the user has just done, the engine. An automatic request that
follows the deletion of one character is answered with nothing; any other one at the deadline with the text that is
verified by then; the engine goes on behind it until the next keystroke, so that the follow-up request finds a longer
text. A request made by hand is answered with several texts to choose from.

With a `partialResultToken` (an extension of ours; the standard method has none) each growth of the first text is sent
as `$/progress` whose value replaces the one before; the answer begins with the last of them, or with what is left of it
in the end.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from spark_lsp.pipeline import Completion, CompletionRequest, Reason
from spark_lsp.postprocess import postprocess
from spark_lsp.scheduler import EngineState, Job
from spark_lsp.server.document_store import Obstacle
from spark_lsp.server.place import Place, Query, part_of, place_of

if TYPE_CHECKING:
    from spark_lsp.server.app import SparkServer

ACCEPT_COMMAND = "spark.accept"
OFFERS_REMEMBERED = 256
"""Suggestions that may still be accepted; a growing one takes an entry for each growth."""
INVOKED_SECONDS = 10.0
"""A request made by hand waits longer than an automatic one, but not for ever."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A suggestion as it is offered: `text` (LF line ends) takes the place of `range`, which lies on one line."""

    text: str
    range: types.Range
    identifier: str
    """The argument of its accept command."""

    @property
    def command(self) -> types.Command:
        """What the client runs when it is accepted."""
        return types.Command(title="Accept", command=ACCEPT_COMMAND, arguments=[self.identifier])


def register(server: SparkServer) -> None:
    """Serve the request, and say so in the answer to `initialize`, also where the client offers to register it later.

    The specification allows one of the two for a method. The static one is there from the first key on and works with
    every client; a client that knows both applies its own document selector to it. Options are given because pygls does
    not advertise inline completion without them.
    """

    @server.feature(types.TEXT_DOCUMENT_INLINE_COMPLETION, types.InlineCompletionOptions())
    async def inline(ls: SparkServer, params: types.InlineCompletionParams) -> types.InlineCompletionList:
        return await inline_completion(ls, params, ls.protocol.raw_params)


async def inline_completion(
    server: SparkServer, params: types.InlineCompletionParams, raw: dict[str, Any]
) -> types.InlineCompletionList:
    """Return the items; never null and never a bare list, which some clients cannot take."""
    await server.copilot.agree_on_version(raw)
    invoked = params.context.trigger_kind is types.InlineCompletionTriggerKind.Invoked
    query = Query(params.text_document.uri, params.position, invoked, params.context.selected_completion_info)
    return _list(await candidates(server, query, raw.get("partialResultToken")))


async def candidates(server: SparkServer, query: Query, token: Any = None) -> list[Candidate]:
    """Return the suggestions for a place: several at most where it is `invoked`, else one at most.

    With a `token` each growth of the first one is sent as `$/progress`. Every answer is counted with its reason.
    Raises CancelledError when the request was cancelled.
    """
    try:
        reason, texts, place = await _complete(server, query, token)
    except asyncio.CancelledError:
        server.count(Reason.CANCELLED)
        raise
    server.count(reason)
    return _offer(server, texts, place)


def accepted(server: SparkServer, identifier: object) -> None:
    """Take note that the suggestion with this identifier was accepted; an unknown one is only counted."""
    server.outcomes.accepted(str(identifier))
    text = server.offers.pop(str(identifier), "")
    if text:
        server.scheduler.learn(text)


def foreseen(server: SparkServer, request: CompletionRequest, completion: Completion) -> None:
    """Keep what was computed in advance for a request that may come."""
    document = server.documents.get(request.document)
    if document is None or document.excluded is not False:
        return
    server.outcomes.wrote(document.uri, completion)
    if completion.generation is not None:
        server.metrics.count_pregeneration(completion.generation, useful=bool(completion.text))
    if completion.if_invoked:
        server.completions.put(
            document.uri,
            request.snapshot.text,
            request.cursor,
            completion.text,
            completion.if_invoked,
            foreseen=True,
        )


async def _complete(server: SparkServer, query: Query, token: Any) -> tuple[Reason, Sequence[str], Place | None]:
    if not server.settings.completion.enabled:
        return Reason.DISABLED, (), None
    if server.paused:
        return Reason.PAUSED, (), None
    part = part_of(server, query.uri)
    if part is None:
        return Reason.UNKNOWN_DOCUMENT, (), None
    document = part.document
    if document.obstacle is not None:
        return (Reason.BINARY if document.obstacle is Obstacle.BINARY else Reason.TOO_LARGE), (), None
    place = await place_of(server, query)
    if place is None or place.document is not document:
        return Reason.SUPERSEDED, (), None
    snapshot = document.snapshot
    if await server.gate.excluded(document):
        return Reason.EXCLUDED, (), None
    if document.snapshot is not snapshot:
        return Reason.SUPERSEDED, (), None
    known = server.completions.get(document.uri, place.snapshot.text, place.cursor, invoked=query.invoked)
    if known is not None:
        if known.foreseen:
            server.metrics.count_use_of_pregeneration()
        _shown(server, place, known.text)
        reason, text = (Reason.CACHED if known.text else Reason.LOW_CONFIDENCE), known.text
    elif server.scheduler.status.state is EngineState.LOADING:
        return Reason.LOADING, (), None
    elif not query.invoked and place.deleted:  # more of what is being taken back helps nobody
        return Reason.DELETION, (), None
    else:
        reason, text = await _ask_engine(server, place, query.invoked, token)
    others: Sequence[str] | None = known.others if known is not None else None
    if query.invoked and text and others is None and document.snapshot is snapshot:
        others = await _ask_for_others(server, place, text, token)
    if document.snapshot is not snapshot:
        # Never a text for an older version: the client asks again for the newer one.
        return Reason.SUPERSEDED, (), None
    most = server.settings.completion.candidates if query.invoked else 1
    return reason, (text, *(others or ()))[:most], place


async def _ask_engine(server: SparkServer, place: Place, invoked: bool, token: Any) -> tuple[Reason, str]:
    def on_text(text: str) -> None:
        if token is not None:
            server.post(_send_partial, server, token, text, place)

    seconds = INVOKED_SECONDS if invoked else server.settings.completion.deadline_ms / 1000
    if place.snapshot is place.document.snapshot:
        server.feed.touched(place.document, place.cursor)
    request = replace(_request(place), invoked=invoked)
    job = server.scheduler.submit(request, on_text)
    # Kept even if the request is answered before, at the deadline or because the user types what the job writes.
    job.outcome.add_done_callback(lambda done: server.post(_remember, server, place, done.result()))
    try:
        # A client that takes partial results waits for the end; it has something to show meanwhile.
        completion = await asyncio.wait_for(
            asyncio.shield(asyncio.wrap_future(job.result)), INVOKED_SECONDS if token is not None else seconds
        )
    except asyncio.TimeoutError:
        return await _answer_early(server, place, job)
    except asyncio.CancelledError:
        server.scheduler.cancel(job)
        raise
    return completion.reason, completion.text


async def _answer_early(server: SparkServer, place: Place, job: Job) -> tuple[Reason, str]:
    """Return what is verified so far, judged as a text that is at its end.

    The lines below the first are whole, and sure enough to stay.
    """
    lead, typed = job.following or (job, "")
    if lead.place is None:
        return Reason.COLD, ""
    # Not on the event loop: a text that breaks the syntax is parsed several times.
    text = await asyncio.to_thread(postprocess, lead.text, lead.place)
    text = text[len(typed) :] if text.startswith(typed) else ""
    if job.result.done():
        completion = job.result.result()
        return completion.reason, completion.text
    if not text:
        return Reason.COLD, ""
    server.completions.put(place.document.uri, place.snapshot.text, place.cursor, text)
    return Reason.SHOWN, text


async def _ask_for_others(server: SparkServer, place: Place, text: str, token: Any) -> Sequence[str]:
    """Return other texts than `text`, which a client with a `token` gets to see now."""
    settings, ready = server.settings.completion, server.scheduler.status.state in (EngineState.IDLE, EngineState.BUSY)
    if settings.candidates < 2 or not settings.candidates_ms or not ready:
        return ()
    if token is not None:
        _send_partial(server, token, text, place)
    # They have their own time once the engine is free for them.
    seconds = INVOKED_SECONDS + settings.candidates_ms / 1000
    job = server.scheduler.submit(replace(_request(place), invoked=True, beside=(text,)))
    try:
        found = await asyncio.wait_for(asyncio.shield(asyncio.wrap_future(job.result)), seconds)
    except asyncio.TimeoutError:
        server.scheduler.cancel(job)
        return ()
    except asyncio.CancelledError:
        server.scheduler.cancel(job)
        raise
    if found.reason is Reason.OTHERS:
        server.completions.add_others(place.document.uri, place.snapshot.text, place.cursor, found.others)
    return found.others


def _request(place: Place) -> CompletionRequest:
    return CompletionRequest(place.document.uri, place.snapshot, place.cursor, place.document.language)


def _remember(server: SparkServer, place: Place, completion: Completion) -> None:
    text, if_invoked, document = completion.text, completion.if_invoked, place.document
    server.outcomes.wrote(document.uri, completion)
    if if_invoked and server.documents.get(document.uri) is document:
        server.completions.put(document.uri, place.snapshot.text, place.cursor, text, if_invoked)
        _shown(server, place, text)


def _shown(server: SparkServer, place: Place, text: str) -> None:
    """Let idle time go on from what is on the screen."""
    if text and place.snapshot is place.document.snapshot and server.settings.completion.pregenerate:
        server.scheduler.shown(_request(place), text)


def _send_partial(server: SparkServer, token: Any, text: str, place: Place) -> None:
    value = server.protocol.plain(_list(_offer(server, [text], place)))
    server.progress(types.ProgressParams(token=token, value=value))


def _offer(server: SparkServer, texts: Sequence[str], place: Place | None) -> list[Candidate]:
    """Return `texts` as candidates that can be accepted; there are none without a place."""
    offered: list[Candidate] = []
    if place is None:
        return offered
    for text in filter(None, texts):
        identifier = uuid.uuid4().hex
        server.offers[identifier] = text
        server.outcomes.offered(identifier, place.document, place.snapshot, place.cursor, text)
        if len(server.offers) > OFFERS_REMEMBERED:
            server.offers.popitem(last=False)
        offered.append(Candidate(place.lead + text, place.replaced, identifier))
    return offered


def _list(offered: Sequence[Candidate]) -> types.InlineCompletionList:
    return types.InlineCompletionList(
        items=[
            types.InlineCompletionItem(insert_text=one.text, range=one.range, command=one.command) for one in offered
        ]
    )
