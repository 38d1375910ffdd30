"""The KV cache holds exactly the prompt that was asked for, whatever happened before."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spark_lsp.decoding.kv_cache import PREFILL_SLICE_TOKENS, KVCache
from spark_lsp.decoding.prefix import common_prefix
from spark_lsp.decoding.snapshots import SnapshotStore
from spark_lsp.errors import CancelledError, ContextFullError, DecodeError
from tests.scripted_engine import ReadingEngine, ScriptedEngine

TOKENS = st.lists(st.integers(0, 3), min_size=1, max_size=200)


def held(engine: ScriptedEngine, cache: KVCache, key: str) -> list[int]:
    sequence = cache._owners[key]
    assert tuple(engine.cells[sequence]) == cache.tokens(key)
    return engine.cells[sequence]


@given(TOKENS, TOKENS)
def test_common_prefix_is_where_a_loop_would_stop(left: list[int], right: list[int]) -> None:
    expected = 0
    while expected < min(len(left), len(right)) and left[expected] == right[expected]:
        expected += 1
    assert common_prefix(left, right) == expected


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_after_any_series_of_prompts_aborts_and_evictions_the_cells_equal_the_prompt_and_the_logits_are_fresh(
    data: st.DataObject,
) -> None:
    engine = ReadingEngine((), context_length=300, sequences=2)
    cache = KVCache(engine)
    for _ in range(data.draw(st.integers(1, 8))):
        key = data.draw(st.sampled_from("abc"))
        prompt = list(cache.tokens(key)[: data.draw(st.integers(0, 250))]) + data.draw(st.one_of(st.just([]), TOKENS))
        prompt = prompt[:200] or [0]
        draft = data.draw(st.lists(st.integers(0, 3), max_size=5))
        abort_after = data.draw(st.one_of(st.none(), st.integers(0, 3)))
        slices = 0

        def between(limit: int | None = abort_after) -> None:
            nonlocal slices
            if limit is not None and slices >= limit:
                raise CancelledError
            slices += 1

        before = list(cache.tokens(key))
        everybody = [list(cache.tokens(other)) for other in "abc"]
        try:
            result = cache.prefill(key, prompt, draft, between_slices=between)
        except CancelledError:
            now = held(engine, cache, key)
            assert now == [*prompt, *draft][: len(now)]
        else:
            assert held(engine, cache, key) == prompt + (draft if result.drafted else [])
            assert result.drafted or result.computed == 0
            assert result.computed + result.reused == len(prompt)
            fresh = KVCache(ReadingEngine()).prefill("fresh", prompt)
            assert (result.logits.row(0) == fresh.logits.row(0)).all()
            shared = max(common_prefix(others, prompt) for others in [before, *everybody])
            assert result.reused <= shared
            cache.rewind(key, len(prompt))
            assert held(engine, cache, key) == prompt


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_after_any_series_of_prompts_saves_damage_and_restores_the_cells_equal_the_tokens(data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        store = SnapshotStore(Path(folder), "model")
        engine = ScriptedEngine(context_length=300, sequences=2)
        cache = KVCache(engine)
        saved: dict[str, tuple[int, ...]] = {}
        for _ in range(data.draw(st.integers(1, 12))):
            key = data.draw(st.sampled_from("abc"))
            action = data.draw(st.sampled_from(["prompt", "save", "damage", "restore", "restart"]))
            if action == "prompt":
                cache.prefill(key, data.draw(TOKENS), data.draw(st.lists(st.integers(0, 3), max_size=5)))
            elif action == "save":
                state = cache.state(key)
                assert (state is None) == (not cache.tokens(key))
                if state is not None:
                    assert store.keep(key, cache.tokens(key), {}, state)
                    saved[key] = cache.tokens(key)
            elif action == "damage":
                for file in Path(folder).iterdir():
                    size = file.stat().st_size
                    content = bytearray(file.read_bytes())
                    content[data.draw(st.integers(0, size - 1))] ^= 1
                    file.write_bytes(content[: data.draw(st.integers(size // 2, size))])
                saved = {}
            elif action == "restart":
                engine = ScriptedEngine(context_length=300, sequences=2)
                cache = KVCache(engine)
            else:
                found = store.find(key)
                assert (found is not None) == (key in saved)
                if found is not None and cache.restore(key, found.state, found.tokens):
                    assert tuple(held(engine, cache, key)) == saved[key]
            for other in cache._owners:
                held(engine, cache, str(other))


def state_of(cache: KVCache, key: str) -> bytearray:
    state = cache.state(key)
    assert state is not None
    return state


class StrangeEngine(ScriptedEngine):
    """Says that it restored what it did not."""

    answer = True

    def restore(self, sequence: int, state: bytearray, length: int) -> bool:
        self.cells[sequence] = [1, 2]
        return self.answer


@pytest.mark.parametrize("answer", [True, False])
def test_a_sequence_that_is_not_what_was_saved_is_emptied(answer: bool) -> None:
    engine = StrangeEngine()
    engine.answer = answer
    cache = KVCache(engine)
    cache.prefill("a", [1, 2, 3, 4])
    assert not cache.restore("b", state_of(cache, "a"), [1, 2, 3, 4])
    assert held(engine, cache, "b") == []
    assert held(engine, cache, "a") == [1, 2, 3, 4]


def test_a_restored_prompt_computes_only_its_last_token() -> None:
    cache = KVCache(ScriptedEngine())
    cache.prefill("a", list(range(100)))
    again = KVCache(ScriptedEngine())
    assert again.restore("a", state_of(cache, "a"), list(range(100)))
    assert again.prefill("a", list(range(100))).computed == 1


def test_a_restore_makes_room_like_a_prompt_does() -> None:
    engine = ScriptedEngine(context_length=100, sequences=3)
    cache = KVCache(engine)
    cache.prefill("a", [1] * 80)
    state = state_of(cache, "a")
    cache.prefill("b", [2] * 60)
    assert cache.restore("a", state, [1] * 80)
    assert cache.tokens("b") == ()
    assert held(engine, cache, "a") == [1] * 80


def test_a_restore_of_more_than_the_context_is_refused() -> None:
    cache = KVCache(ScriptedEngine(context_length=100))
    assert not cache.restore("a", bytearray(b"[]"), [1] * 101)
    assert cache.tokens("a") == ()


def test_there_is_no_state_without_a_sequence_or_of_a_model_that_cannot_take_tokens_back() -> None:
    assert KVCache(ScriptedEngine()).state("a") is None
    cache = KVCache(ScriptedEngine(rolls_back=False))
    cache.prefill("a", [1, 2])
    assert cache.state("a") is None


def test_appending_to_a_prompt_computes_only_what_is_new() -> None:
    cache = KVCache(ScriptedEngine())
    cache.prefill("a", list(range(100)))
    result = cache.prefill("a", [*range(100), 7, 8])
    assert (result.computed, result.reused) == (2, 100)


def test_the_same_prompt_again_computes_nothing_and_gives_the_same_logits() -> None:
    engine = ScriptedEngine(["\x01\x02\x03\x04"])
    cache = KVCache(engine)
    first = cache.prefill("a", [1, 2, 3], [9]).logits.row(0).copy()
    cache.extend("a", [5, 6])
    again = cache.prefill("a", [1, 2, 3], [8])
    assert (again.computed, again.reused, again.drafted) == (0, 3, False)
    assert (again.logits.row(0) == first).all()
    assert cache.tokens("a") == (1, 2, 3)
    with pytest.raises(DecodeError):
        again.logits.row(1)


def test_a_prompt_that_is_a_part_of_the_last_one_computes_its_last_token() -> None:
    cache = KVCache(ScriptedEngine())
    cache.prefill("a", [1, 2, 3])
    assert cache.prefill("a", [1, 2]).computed == 1
    assert cache.prefill("a", [1, 2, 3]).computed == 1


def test_what_another_sequence_holds_is_shared_and_not_computed() -> None:
    engine = ScriptedEngine()
    cache = KVCache(engine)
    cache.prefill("a", list(range(100)))
    result = cache.prefill("b", [*range(80), 7, 8])
    assert (result.computed, result.reused) == (2, 80)
    assert held(engine, cache, "a") == list(range(100))
    assert held(engine, cache, "b") == [*range(80), 7, 8]


def test_a_few_tokens_are_not_worth_giving_up_what_a_sequence_has() -> None:
    cache = KVCache(ScriptedEngine())
    cache.prefill("a", [1, 2, 3, 4])
    assert cache.prefill("b", [1, 2, 3, 4]).computed == 4


def test_an_aborted_prefill_keeps_the_finished_slices() -> None:
    engine = ScriptedEngine()
    cache = KVCache(engine)
    calls = iter([None, None, CancelledError()])

    def between() -> None:
        error = next(calls)
        if error is not None:
            raise error

    with pytest.raises(CancelledError):
        cache.prefill("a", [1] * 300, between_slices=between)
    assert cache.prefill("a", [1] * 300).reused == 2 * PREFILL_SLICE_TOKENS


def test_logits_are_not_taken_for_those_of_an_aborted_prompt_of_the_same_length() -> None:
    cache = KVCache(ReadingEngine())
    cache.prefill("a", [1] * 80)
    calls = iter([None, None, CancelledError()])

    def between() -> None:
        error = next(calls)
        if error is not None:
            raise error

    with pytest.raises(CancelledError):
        cache.prefill("a", [1] * 10 + [2] * 190, between_slices=between)
    held = cache.tokens("a")[:80]
    assert held == (*[1] * 10, *[2] * 70)
    fresh = KVCache(ReadingEngine()).prefill("fresh", held)
    assert (cache.prefill("a", held).logits.row(0) == fresh.logits.row(0)).all()


def test_a_model_that_cannot_take_tokens_back_starts_over() -> None:
    cache = KVCache(ScriptedEngine(rolls_back=False))
    cache.prefill("a", [1, 2, 3, 4])
    assert cache.prefill("a", [1, 2, 9]).computed == 3
    with pytest.raises(DecodeError):
        cache.rewind("a", 2)


def test_the_least_recently_used_document_makes_room() -> None:
    cache = KVCache(ScriptedEngine(sequences=2))
    for key in ("old", "new"):
        cache.prefill(key, [1, 2])
    cache.prefill("old", [1, 2])
    cache.prefill("third", [1, 2])
    assert cache.tokens("old") == (1, 2)
    assert cache.tokens("new") == ()


def test_a_full_context_evicts_other_documents_first() -> None:
    cache = KVCache(ScriptedEngine(context_length=100, sequences=3))
    cache.prefill("a", [1] * 60)
    cache.prefill("b", [2] * 80)
    assert cache.tokens("a") == ()
    assert len(cache.tokens("b")) == 80


def test_a_prompt_longer_than_the_context_is_refused_before_anything_is_lost() -> None:
    cache = KVCache(ScriptedEngine(context_length=100))
    cache.prefill("a", [1] * 50)
    with pytest.raises(ContextFullError, match="does not fit"):
        cache.prefill("a", [1] * 101)
    assert len(cache.tokens("a")) == 50


def test_the_counters_include_cancelled_work_but_no_draft() -> None:
    cache = KVCache(ScriptedEngine())
    cache.prefill("a", [1] * 10, [2, 3])
    assert (cache.prompt_tokens, cache.steps) == (10, 1)
    cache.extend("a", [4])
    assert (cache.prompt_tokens, cache.steps) == (10, 2)


@pytest.mark.parametrize("sequences", [2, 4])
def test_a_place_decoded_alone_gives_its_row_and_leaves_what_is_behind_where_it_can(sequences: int) -> None:
    engine = ScriptedEngine(["abcdef"], sequences=sequences)
    cache = KVCache(engine)
    cache.prefill("doc", engine.tokenize("ab"))
    cache.extend("doc", engine.tokenize("cde"))
    row, intact = cache.alone("doc", 3)
    assert engine.vocabulary.pieces[int(row.argmax())] == b"d"
    assert intact == (sequences == 4)
    left = engine.tokenize("abcde" if intact else "abc")
    assert list(cache.tokens("doc")) == left
    assert sorted(filter(None, engine.cells)) == [left], "nothing stays in the sequence it was decoded in"


def test_a_prompt_whose_end_was_decoded_alone_is_not_asked_again() -> None:
    engine = ScriptedEngine(["abcdef"])
    cache = KVCache(engine)
    prompt = engine.tokenize("abc")
    assert cache.missing("doc", prompt) == 3
    assert cache.prefill("doc", prompt).width == 3
    cache.alone("doc", 3)
    assert cache.missing("doc", prompt) == 0
    assert cache.prefill("doc", prompt).width == 1
    assert cache.missing("doc", engine.tokenize("abcd")) == 1
    assert cache.missing("doc", engine.tokenize("ab")) == 1, "its logits are not known any more"


def test_an_interrupted_decode_of_a_place_alone_leaves_no_trace() -> None:
    engine = ScriptedEngine(["abcdef"])
    cache = KVCache(engine)
    cache.prefill("doc", engine.tokenize("abcd"))
    engine.interrupt.set()
    with pytest.raises(CancelledError):
        cache.alone("doc", 3)
    engine.interrupt.clear()
    assert list(cache.tokens("doc")) == engine.tokenize("abcd")
    assert engine.cells[-1] == []


@pytest.mark.parametrize("filled", [0, 2], ids=["before the cells are filled", "when some are"])
def test_after_a_failure_that_nobody_foresaw_the_cache_knows_what_the_engine_holds(filled: int) -> None:
    engine = ReadingEngine()
    cache, decode = KVCache(engine), engine.decode
    cache.prefill("a", [1, 2])

    def fail(sequence: int, position: int, tokens: Sequence[int], outputs: int) -> None:
        decode(sequence, position, tokens[:filled], 0) if filled else None
        raise ZeroDivisionError

    engine.decode = fail  # type: ignore[method-assign, assignment]
    with pytest.raises(ZeroDivisionError):
        cache.prefill("a", [1, 2, 3, 3, 3])
    assert held(engine, cache, "a") == [1, 2, 3, 3][: 2 + filled]
    engine.decode = decode  # type: ignore[method-assign]
    cache.prefill("a", [1, 2, 0, 0])
    assert held(engine, cache, "a") == [1, 2, 0, 0]
