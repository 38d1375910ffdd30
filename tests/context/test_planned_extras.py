"""When extras come and go: with a window that is planned in idle time, and never on a keystroke."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spark_lsp.context.diagnostics import diagnostic_at
from spark_lsp.context.extras import NO_EXTRAS, Extras
from spark_lsp.context.sources import SourceText
from spark_lsp.decoding.cost_model import default_cost_model
from spark_lsp.decoding.snapshots import SnapshotStore
from spark_lsp.documents.text import TextSnapshot
from spark_lsp.errors import CancelledError
from spark_lsp.pipeline import CompletionRequest, Pipeline
from spark_lsp.settings import CompletionSettings, ContextSettings
from spark_lsp.syntax.languages import language_for
from tests.scripted_engine import ScriptedEngine

PYTHON = language_for("python", "")
ON = ContextSettings(definitions=True, recent=True, snippets=True)
OFF = ContextSettings()
FIRST, SECOND = "def join_rings(one, other): ...\n", "def join_rings(one, other, third): ...\n"


def pipeline(context: ContextSettings = ON, store: SnapshotStore | None = None) -> Pipeline:
    return Pipeline(
        ScriptedEngine(["x = 1"]), CompletionSettings(), cost=default_cost_model(), context=context, snapshots=store
    )


def source(name: str, text: str) -> SourceText:
    return SourceText(name, name, "project", PYTHON, TextSnapshot.of(text))


def tell(pipeline: Pipeline, document: str, text: str, cursor: int = 0) -> None:
    pipeline.sources.touch(document, source(document, text), cursor)


def ask(pipeline: Pipeline, marked: str, document: str = "main.py", *, patient: bool = False) -> int:
    """Make a request at the mark and return the prompt tokens that it computed."""
    text, cursor = marked.replace("█", ""), marked.index("█")
    tell(pipeline, document, text, cursor)
    request = CompletionRequest(document, TextSnapshot.of(text), cursor, PYTHON, patient=patient)
    generation = pipeline.complete(request).generation
    assert generation is not None
    return generation.prompt_tokens


def settle(pipeline: Pipeline) -> None:
    while pipeline.idle(lambda: False):
        pass


def extras(pipeline: Pipeline, document: str = "main.py") -> Extras:
    kept = pipeline._documents[document]
    window = kept.windows[kept.slot]
    return window.extras if window is not None else NO_EXTRAS


def held(pipeline: Pipeline, document: str = "main.py") -> str:
    tokens = pipeline.cache.tokens((document, pipeline._documents[document].slot))
    return b"".join(pipeline.engine.vocabulary.pieces[token] for token in tokens).decode()


def numbered(count: int) -> str:
    return "".join(f"name_{number} = {number}\n" for number in range(count))


TEXT = numbered(60) + "x = join_rings(█\n" + numbered(20)


def test_a_new_place_has_no_extras_and_the_planned_window_has_them() -> None:
    p = pipeline()
    tell(p, "ring.py", FIRST)
    ask(p, TEXT)
    assert not extras(p)
    assert "join_rings(one" not in held(p)
    settle(p)
    assert "ring.py" in {chunk.name for chunk in extras(p).chunks}
    assert "# Part of ring.py:\n# def join_rings(one, other): ...\n" in held(p)


def test_a_keystroke_computes_as_many_prompt_tokens_as_without_extras() -> None:
    costs = {}
    for context in (OFF, ON):
        p = pipeline(context)
        tell(p, "ring.py", FIRST)
        ask(p, TEXT)
        settle(p)
        assert bool(extras(p)) is (context is ON)
        costs[context] = []
        typed = ""
        for key in "one, second)\n    y = join_rings(a,\n":
            typed += key
            costs[context].append(ask(p, TEXT.replace("█", typed + "█")))
            if key == "\n":
                settle(p)
    assert costs[ON] == costs[OFF]
    assert max(costs[ON]) <= 5


def test_what_changes_elsewhere_waits_for_idle_time_even_if_it_matters() -> None:
    p = pipeline()
    tell(p, "ring.py", FIRST)
    ask(p, TEXT)
    settle(p)
    before = extras(p)
    tell(p, "ring.py", SECOND)
    assert ask(p, TEXT.replace("█", "a█")) <= 2
    assert extras(p) == before
    settle(p)
    assert "third" in held(p)
    assert ask(p, TEXT.replace("█", "ab█")) <= 2


def test_what_changes_elsewhere_without_another_choice_computes_nothing() -> None:
    p = pipeline(ContextSettings(definitions=True))
    tell(p, "ring.py", FIRST)
    ask(p, TEXT)
    settle(p)
    decoded, before = p.cache.prompt_tokens, extras(p)
    tell(p, "ring.py", FIRST + "# nothing new\n")
    ask(p, TEXT.replace("█", "a█"))
    settle(p)
    assert extras(p) == before
    assert p.cache.prompt_tokens - decoded <= 2


def test_typing_during_the_preparation_leaves_the_plan_alone() -> None:
    p = pipeline()
    tell(p, "ring.py", FIRST)
    ask(p, TEXT)
    slices = 0

    def interrupted() -> bool:
        nonlocal slices
        slices += 1
        return slices % 3 == 0

    typed = ""
    for key in "one, second)\nname = 3\nother = 12":
        with contextlib.suppress(CancelledError):
            p.idle(interrupted)
        typed += key
        assert ask(p, TEXT.replace("█", typed + "█")) <= 5, typed
    assert extras(p), "the preparation came to its end between the keys"


def test_a_patient_request_has_extras_at_once() -> None:
    p = pipeline()
    tell(p, "ring.py", FIRST)
    ask(p, TEXT, patient=True)
    assert "join_rings(one, other)" in held(p)
    assert ask(p, TEXT, patient=True) == 0


def test_with_every_part_off_nothing_changes() -> None:
    p = pipeline(OFF)
    tell(p, "ring.py", FIRST)
    ask(p, TEXT)
    settle(p)
    assert "ring.py" not in held(p)


def test_a_text_that_turns_out_to_be_private_leaves_every_prompt() -> None:
    p = pipeline()
    tell(p, "ring.py", FIRST)
    ask(p, TEXT)
    settle(p)
    assert "ring.py" in held(p)
    p.forget("ring.py", keep=False)
    ask(p, TEXT)
    assert "ring.py" not in held(p)
    settle(p)
    assert "ring.py" not in held(p)


def test_files_that_were_read_leave_every_prompt_when_the_rules_change() -> None:
    p = pipeline(ContextSettings(definitions=True))
    p.sources.put(source("ring.py", FIRST))
    tell(p, "main.py", TEXT.replace("█", ""))
    p.sources.link("main.py", ["ring.py"])
    ask(p, TEXT)
    settle(p)
    assert "ring.py" in held(p)
    p.forget_files()
    ask(p, TEXT)
    settle(p)
    assert "ring.py" not in held(p)


def test_extras_are_taken_up_by_the_next_start(tmp_path: Path) -> None:
    p = pipeline(store=SnapshotStore(tmp_path, "model"))
    tell(p, "ring.py", FIRST)
    ask(p, TEXT)
    settle(p)
    ask(p, TEXT)
    before = extras(p)
    p.leave()
    p = pipeline(store=SnapshotStore(tmp_path, "model"))
    assert ask(p, TEXT) <= 1
    assert extras(p) == before


@pytest.mark.parametrize("private", [True, False])
def test_a_private_document_leaves_nothing_on_disk(tmp_path: Path, private: bool) -> None:
    p = pipeline(store=SnapshotStore(tmp_path, "model"))
    ask(p, TEXT)
    settle(p)
    p.leave()
    assert len([*tmp_path.glob("*.kv")]) == 1
    p.forget("main.py", keep=not private)
    assert len([*tmp_path.glob("*.kv")]) == (0 if private else 1)


DIAGNOSED = numbered(60) + "x = undefined_name\ny = 1\nz = join_rings(█\n" + numbered(20)


def diagnose(pipeline: Pipeline, *messages: str, text: str = DIAGNOSED.replace("█", "")) -> None:
    snapshot = TextSnapshot.of(text)
    found = [diagnostic_at(snapshot, snapshot.line_of(text.index("undefined_name")), 10_000, one) for one in messages]
    known = tuple(one for one in found if one is not None)
    pipeline.sources.put(SourceText("main.py", "main.py", "project", PYTHON, snapshot, known), "main.py")
    pipeline.sources.diagnosed("main.py")


def ask_diagnosed(pipeline: Pipeline, *messages: str, typed: str = "") -> int:
    """Make a request as an editor does that knows these findings; return the prompt tokens that it computed."""
    text, cursor = DIAGNOSED.replace("█", typed), DIAGNOSED.index("█") + len(typed)
    diagnose(pipeline, *messages, text=text)
    generation = pipeline.complete(CompletionRequest("main.py", TextSnapshot.of(text), cursor, PYTHON)).generation
    assert generation is not None
    return generation.prompt_tokens


def test_what_is_wrong_near_the_cursor_is_shown_from_the_next_idle_time_on() -> None:
    p = pipeline(ContextSettings(diagnostics=True))
    ask_diagnosed(p, "it is not defined")
    assert "not defined" not in held(p)
    settle(p)
    assert "# x = undefined_name  error: it is not defined\n" in held(p)
    assert ask_diagnosed(p, "it is not defined", typed="a") <= 2


def test_the_same_findings_sent_again_compute_nothing() -> None:
    p = pipeline(ContextSettings(diagnostics=True))
    ask_diagnosed(p, "it is not defined")
    settle(p)
    decoded = p.cache.prompt_tokens
    ask_diagnosed(p, "it is not defined", typed="a")
    settle(p)
    assert p.cache.prompt_tokens - decoded <= 2


def test_what_stands_before_the_findings_is_not_computed_again_with_them() -> None:
    p = pipeline(ContextSettings(definitions=True, diagnostics=True))
    tell(p, "ring.py", FIRST * 20)
    ask_diagnosed(p, "one")
    settle(p)
    prompt = held(p)
    before = len(prompt.partition("# x = undefined_name")[0])
    assert "join_rings(one" in prompt[:before]
    decoded = p.cache.prompt_tokens
    ask_diagnosed(p, "two")
    settle(p)
    assert "error: two" in held(p)
    assert p.cache.prompt_tokens - decoded <= len(prompt) - before + 50


def test_findings_that_are_gone_leave_the_prompt() -> None:
    p = pipeline(ContextSettings(diagnostics=True))
    ask_diagnosed(p, "it is not defined")
    settle(p)
    ask_diagnosed(p)
    settle(p)
    assert "not defined" not in held(p)


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_whatever_happens_only_idle_time_changes_extras_and_the_cache_holds_the_prompt(data: st.DataObject) -> None:
    p = Pipeline(
        ScriptedEngine(["x = 1"], context_length=6000),
        CompletionSettings(max_tokens=4),
        cost=default_cost_model(),
        context=ON,
    )
    texts = {name: numbered(data.draw(st.integers(0, 40))) + "join_rings(" for name in ("a.py", "b.py")}
    cursors = {name: len(text) for name, text in texts.items()}
    for _ in range(data.draw(st.integers(1, 12))):
        name = data.draw(st.sampled_from(["a.py", "b.py"]))
        action = data.draw(st.sampled_from(["type", "type", "jump", "idle", "elsewhere", "private", "file"]))
        text, cursor = texts[name], cursors[name]
        if action == "type":
            text, cursor = text[:cursor] + "ab\n" + text[cursor:], cursor + 3
        elif action == "jump":
            cursor = data.draw(st.integers(0, len(text)))
        elif action == "elsewhere":
            tell(p, "ring.py", data.draw(st.sampled_from([FIRST, SECOND])))
        elif action == "file":
            p.sources.put(source("more.py", FIRST * data.draw(st.integers(1, 3))))
        elif action == "private":
            p.forget("ring.py", keep=False)
        texts[name], cursors[name] = text, cursor
        before = {e for kept in p._documents.values() for w in kept.windows if w is not None for e in [w.extras]}
        ask(p, text[:cursor] + "█" + text[cursor:], name)
        assert extras(p, name) in before | {NO_EXTRAS}
        if action == "idle":
            settle(p)
        kept = p._documents[name]
        window = kept.windows[kept.slot]
        assert window is not None
        prompt = p.prompts.build(window).tokens
        assert p.cache.tokens((name, kept.slot))[: len(prompt)] == prompt
        if action == "private":
            assert all("ring.py" not in {c.name for c in extras(p, other).chunks} for other in p._documents)
