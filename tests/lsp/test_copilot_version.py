"""Waiting for the version of a document that a request names, without a pipe: nothing here depends on the clock."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcContentModified

from spark_lsp.server.app import SparkServer
from spark_lsp.server.copilot import version
from spark_lsp.server.copilot.version import OutdatedRequestError, agree_on_version
from spark_lsp.server.document_store import DocumentStore

URI = "file:///project/a.py"
AGES = 60.0


class Documents:
    """What the function needs of a server, with one open document of version 1."""

    def __init__(self, *, speaks: bool = True) -> None:
        self.store = DocumentStore()
        self.store.open(types.TextDocumentItem(URI, "python", 1, "value ="))
        self.server = cast("SparkServer", SimpleNamespace(copilot=SimpleNamespace(speaks=speaks), documents=self.store))

    def edit(self, number: int) -> None:
        change = types.TextDocumentContentChangeWholeDocument("value = ")
        self.store.change(types.VersionedTextDocumentIdentifier(number, URI), [change])

    async def ask(self, wanted: int | None, *, agent: bool = False, character: int = 0) -> asyncio.Task[None]:
        """Start to wait."""
        identifier: dict[str, Any] = {"uri": URI, "position": {"line": 0, "character": character}, "version": wanted}
        params = {"doc": identifier} if agent else {"textDocument": identifier, "position": identifier["position"]}
        task = asyncio.ensure_future(agree_on_version(self.server, params))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        return task


@pytest.mark.parametrize("agent", [False, True])
async def test_edits_that_are_on_their_way_are_waited_for(monkeypatch: pytest.MonkeyPatch, agent: bool) -> None:
    monkeypatch.setattr(version, "LATE_CHANGE_SECONDS", AGES)
    documents = Documents()
    task = await documents.ask(3, agent=agent)
    documents.edit(2)
    await asyncio.sleep(0)
    assert not task.done()
    documents.edit(3)
    assert await task is None


@pytest.mark.parametrize("agent", [False, True])
async def test_an_edit_too_many_is_the_end_of_the_wait(monkeypatch: pytest.MonkeyPatch, agent: bool) -> None:
    monkeypatch.setattr(version, "LATE_CHANGE_SECONDS", AGES)
    documents = Documents()
    task = await documents.ask(2, agent=agent)
    documents.edit(3)
    with pytest.raises(OutdatedRequestError):
        await task


async def test_a_document_that_is_closed_meanwhile_is_nobodys_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(version, "LATE_CHANGE_SECONDS", AGES)
    documents = Documents()
    task = await documents.ask(2)
    documents.store.close(URI)
    assert await task is None


@pytest.mark.parametrize(
    "agent, character, refused",
    [(False, 0, True), (True, 7, False), (True, 8, True)],
    ids=["a current plugin", "an older one, about a place that is there", "an older one, about one that is not"],
)
async def test_when_no_edit_comes(monkeypatch: pytest.MonkeyPatch, agent: bool, character: int, refused: bool) -> None:
    monkeypatch.setattr(version, "LATE_CHANGE_SECONDS", 0.0)
    task = await Documents().ask(2, agent=agent, character=character)
    if refused:
        with pytest.raises(JsonRpcContentModified) as error:
            await task
        assert error.value.code == -32801
        assert not isinstance(error.value, OutdatedRequestError)
    else:
        assert await task is None


async def test_nothing_is_refused_without_a_version_or_to_other_clients() -> None:
    assert await (await Documents().ask(None)) is None
    assert await (await Documents(speaks=False).ask(0)) is None
