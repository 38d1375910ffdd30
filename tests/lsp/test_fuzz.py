"""Twenty thousand random messages: one answer for each request, the text as the protocol says, and a quiet log."""

from __future__ import annotations

from typing import Any

import pytest

from spark_lsp.server import document_store
from spark_lsp.server.app import SparkServer
from tests.lsp.fuzz.kinds import KINDS
from tests.lsp.fuzz.runner import FuzzFailure, run

MESSAGES = 7_000
"""In each of the three encodings."""


@pytest.mark.timeout(1200)
@pytest.mark.parametrize(("encoding", "seed"), [("utf-8", 1), ("utf-16", 2), ("utf-32", 3)])
async def test_every_request_is_answered_once_and_the_text_is_the_reference(encoding: str, seed: int) -> None:
    counts = await run(MESSAGES, seed, encoding)
    assert counts.total() == MESSAGES
    assert counts.keys() == {kind.name for kind in KINDS}


async def test_a_server_that_counts_in_other_units_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    real = document_store.apply_changes
    monkeypatch.setattr(
        document_store,
        "apply_changes",
        lambda snapshot, edits, _encoding, version: real(snapshot, edits, document_store.Encoding.UTF32, version),
    )
    with pytest.raises(FuzzFailure, match=r"the text of .*(\n.*)*--seed 1 --encoding utf-16"):
        await run(1500, 1, "utf-16")


async def test_a_handler_that_fails_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_arguments: Any) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(SparkServer, "count", fail)
    with pytest.raises(FuzzFailure, match="internal error"):
        await run(1500, 1, "utf-16")
