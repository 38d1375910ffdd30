"""Which widths give the logits of single decodes is found out, not assumed."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

import pytest

from spark_lsp.decoding.exactness import ExactnessProbe
from spark_lsp.decoding.kv_cache import KVCache
from spark_lsp.errors import CancelledError
from tests.scripted_engine import ReadingEngine


class Rounding(ReadingEngine):
    """Decodes of more than `exact` tokens round otherwise."""

    exact = 32

    def decode(self, sequence: int, position: int, tokens: Sequence[int], outputs: int) -> Any:
        rows = super().decode(sequence, position, tokens, outputs)
        if len(tokens) > self.exact:
            for index in range(outputs):
                rows.row(index)[0] += 1e-6
        return rows


def probe(engine: Rounding) -> int:
    cache = KVCache(engine)
    found = ExactnessProbe(cache, len(engine.vocabulary))
    while found.work():
        assert cache.steps == cache.prompt_tokens == 0, "what a probe decodes is nobody's prompt"
    assert not any(engine.cells), "nothing stays in the cache"
    return found.exact_width


@pytest.mark.parametrize(("exact", "width"), [(1, 1), (2, 2), (3, 3), (6, 5), (16, 16), (32, 32), (64, 32)])
def test_the_widest_exact_decode_is_found(exact: int, width: int) -> None:
    engine = Rounding()
    engine.exact = exact
    assert probe(engine) == width


def test_a_small_context_is_left_alone() -> None:
    engine = Rounding(context_length=2048)
    assert probe(engine) == 1
    assert engine.decoded_tokens == 0


def test_an_interrupted_probe_goes_on_and_others_may_use_the_cache_meanwhile() -> None:
    engine = Rounding()
    engine.exact = 8
    cache = KVCache(engine)
    found = ExactnessProbe(cache, len(engine.vocabulary))
    for number in range(6):
        engine.interrupt_after(2 * number, 0)
        with contextlib.suppress(CancelledError):
            found.work()
        cache.prefill(f"document {number}", engine.tokenize("x = 1"))
    engine.interrupt_after(None)
    while found.work():
        pass
    assert found.exact_width == 8
