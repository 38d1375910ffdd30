"""Whatever an editor does, the KV cache holds the prompt, and its logits are those of a fresh context.

The whole pipeline is driven by random edits, cursor moves, aborts and evictions, on an engine whose logits depend on
every cell: a wrong one anywhere would show in the row.
"""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from spark_lsp.context.window import CompletionContext, with_line_feeds
from spark_lsp.decoding.cost_model import default_cost_model
from spark_lsp.decoding.kv_cache import KVCache
from spark_lsp.documents.text import TextSnapshot
from spark_lsp.errors import CancelledError
from spark_lsp.pipeline import CompletionRequest, Pipeline
from spark_lsp.prompt.fim import PromptBuilder
from spark_lsp.settings import CompletionSettings
from spark_lsp.syntax.languages import language_for
from tests.scripted_engine import ReadingEngine

SCRIPT = ["name_7 = 7\nname_8 = 8", "word(first)", "    return 1\n"]
SETTINGS = CompletionSettings(max_tokens=6, prefix_tokens=64, suffix_tokens=16)
CONTEXT = 1000
"""Cells. One window takes 300 to 700 of them, for bytes are tokens here: the second or third evicts another."""
DOCUMENTS = "abc"
EDITS = ("type", "enter", "pair", "delete", "cut", "jump", "above", "below", "undo", "stay")
EVENTS = ("complete", "complete", "stop between slices", "interrupt", "idle", "interrupted idle", "close")


class Typist:
    """Texts and cursors of some documents, changed as hypothesis wants."""

    def __init__(self, data: st.DataObject) -> None:
        self.data = data
        self.texts = {name: self.numbered(data.draw(st.integers(0, 80), label="lines")) for name in DOCUMENTS}
        self.cursors = {name: len(text) for name, text in self.texts.items()}
        self.before = {name: [(self.texts[name], self.cursors[name])] for name in DOCUMENTS}

    @staticmethod
    def numbered(count: int) -> str:
        return "".join(f"name_{number} = {number}\n" for number in range(count))

    def edit(self, name: str, action: str) -> None:
        text, cursor = self.texts[name], self.cursors[name]
        self.before[name].append((text, cursor))
        if action in ("type", "enter", "pair"):
            typed = {"type": "word", "enter": "\n    ", "pair": "("}[action]
            text = text[:cursor] + typed + ")" * (action == "pair") + text[cursor:]
            cursor += len(typed)
        elif action == "delete":
            text, cursor = text[: max(0, cursor - 2)] + text[cursor:], max(0, cursor - 2)
        elif action == "cut":
            text = text[:cursor] + text[cursor + 40 :]
        elif action == "jump":
            cursor = self.data.draw(st.integers(0, len(text)), label="to")
        elif action == "above":
            text, cursor = "new\r\n" + text, cursor + 5
        elif action == "below":
            text += "more\n"
        elif action == "undo":
            self.before[name].pop()
            text, cursor = self.before[name][-1]
        self.texts[name], self.cursors[name] = text, cursor

    def request(self, name: str) -> CompletionRequest:
        snapshot = TextSnapshot.of(self.texts[name])
        return CompletionRequest(name, snapshot, self.cursors[name], language_for("python", ""))


def assert_cells_are_what_the_cache_believes(pipeline: Pipeline, engine: ReadingEngine) -> None:
    for key, sequence in pipeline.cache._owners.items():
        assert tuple(engine.cells[sequence]) == pipeline.cache.tokens(key)
    unowned = set(range(engine.info.sequences)) - set(pipeline.cache._owners.values())
    assert all(not engine.cells[sequence] for sequence in unowned)


def assert_window_is_cut_from(window: CompletionContext, text: str, cursor: int) -> None:
    assert window.above == with_line_feeds(text[window.start : window.anchor])
    assert window.tail == with_line_feeds(text[window.anchor : cursor])
    if window.end is not None:  # else it differs by closers, as `choose_window` says
        assert window.below == with_line_feeds(text[cursor : window.end])


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_after_any_series_of_edits_moves_aborts_and_evictions_the_cells_are_the_prompt_and_the_logits_are_fresh(
    data: st.DataObject,
) -> None:
    engine, typist = ReadingEngine(SCRIPT, context_length=CONTEXT, sequences=3), Typist(data)
    pipeline = Pipeline(engine, SETTINGS, cost=default_cost_model())
    for _ in range(data.draw(st.integers(1, 12), label="steps")):
        name = data.draw(st.sampled_from(DOCUMENTS), label="document")
        typist.edit(name, data.draw(st.sampled_from(EDITS), label="edit"))
        event = data.draw(st.sampled_from(EVENTS), label="event")
        if event in ("interrupt", "interrupted idle"):
            engine.interrupt_after(data.draw(st.integers(0, 8)), data.draw(st.integers(0, 64)))
        calls = iter(range(10_000))
        limit = data.draw(st.integers(0, 6)) if event == "stop between slices" else 10_000

        def stopped(calls: object = calls, limit: int = limit) -> bool:
            return next(calls) >= limit  # type: ignore[call-overload,no-any-return]

        try:
            pipeline.complete(typist.request(name), cancelled=stopped)
            finished = True
            while event in ("idle", "interrupted idle") and pipeline.idle(lambda: False):
                pass
        except CancelledError:
            finished = False
        engine.interrupt_after(None)
        if event == "close":
            pipeline.forget(name)
            assert not any(key[0] == name for key in pipeline.cache._owners)  # type: ignore[index]
        assert_cells_are_what_the_cache_believes(pipeline, engine)
        if event == "close" or not finished:
            continue
        document = pipeline._documents[name]
        window, key = document.windows[document.slot], (name, document.slot)
        assert window is not None
        assert_window_is_cut_from(window, typist.texts[name], typist.cursors[name])
        prompt = PromptBuilder(engine.vocabulary, engine.tokenize, layout="anchored", heal_tokens=4).build(window)
        assert pipeline.cache.tokens(key)[: len(prompt.tokens)] == prompt.tokens
        if data.draw(st.booleans(), label="compare the logits"):
            kept = pipeline.cache.prefill(key, prompt.tokens).logits.row(0)
            fresh = KVCache(ReadingEngine(SCRIPT)).prefill("fresh", prompt.tokens).logits.row(0)
            assert (kept == fresh).all()
