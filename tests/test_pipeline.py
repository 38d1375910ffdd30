"""All stages on a scripted engine; ``█`` is the cursor."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spark_lsp.context.session import removed_text
from spark_lsp.decoding.calibration import CALIBRATION_WIDTHS
from spark_lsp.decoding.cost_model import CostModel, default_cost_model
from spark_lsp.decoding.drafters.ngrams import PIECE_CHARACTERS
from spark_lsp.documents.text import TextSnapshot
from spark_lsp.errors import CancelledError
from spark_lsp.pipeline import Completion, CompletionRequest, Pipeline, Reason
from spark_lsp.postprocess import whole_lines
from spark_lsp.settings import CompletionSettings
from spark_lsp.syntax.languages import language_for
from tests.scripted_engine import ScriptedEngine

PYTHON = language_for("python", "")


def complete(
    marked: str, *script: str, language: str = "python", pipeline: Pipeline | None = None, **changes: object
) -> Completion:
    text = marked.replace("█", "")
    pipeline = pipeline or Pipeline(ScriptedEngine(script), CompletionSettings(**changes))  # type: ignore[arg-type]
    request = CompletionRequest("doc", TextSnapshot.of(text), marked.index("█"), language_for(language, ""))
    return pipeline.complete(request)


CASES = [
    ("the rest of a word", "python", "self.assertE█", ["self.assertEqual(a)"], "qual(a)"),
    ("one statement and no more", "python", "x = █", ["x = 1\ny = 2\nz = 3"], "1"),
    ("a call over several lines", "python", "x = █", ["x = f(\n    1,\n)\ny = 2"], "f(\n    1,\n)"),
    (
        "a function with its body",
        "python",
        "de█",
        ["def f():\n    return 1\n\n\ndef g():\n    pass"],
        "f f():\n    return 1",
    ),
    (
        "a body for an open block",
        "python",
        "def f():█\n",
        ["def f():\n    a = 1\n    return a\nx = 2"],
        "\n    a = 1\n    return a",
    ),
    ("code for a comment", "python", "# two numbers\n█", ["# two numbers\na = 1\nb = 2\n\n\nc"], "a = 1\nb = 2"),
    ("only this line when there is code behind", "python", "f(█, b)", ["f(a + 1\nx"], "a + 1"),
    ("only this line in a comment", "python", "# a comm█", ["# a comment about\nx = 1"], "ent about"),
    ("no closer twice", "python", "print(█)", ["print(x)"], "x"),
    ("no line twice", "python", "a = 1\n█\nreturn a\n", ["a = 1\nb = 2\nreturn a"], "b = 2"),
    ("a block in braces", "javascript", "function f() {█\n", ["function f() {\n  return 1;\n}\nx"], "\n  return 1;\n}"),
    ("a statement in Rust", "rust", "    let x = █", ["let x = 1;\n    let y = 2;"], "1;"),
    ("a language nobody knows", "klingon", "x = █", ["x = 1\ny = 2"], "1"),
    (
        "no more than a method of a class after a finished function",
        "python",
        "def f():\n    return 1\n\n\n█",
        ["    return 1\n\n\nclass A:\n    def f(self):\n        a = 1\n\n    def g(self):\n        b = 2\n"],
        "class A:\n    def f(self):\n        a = 1",
    ),
    (
        "a decorator and its function",
        "python",
        "import a\n\n█",
        ["import a\n\n@cache\ndef f():\n    return 1\nx = 2"],
        "@cache\ndef f():\n    return 1",
    ),
    ("a paragraph for a comment", "python", "# numbers\n█", ["# numbers\na = 1\nb = 2\n\nc = 3\n"], "a = 1\nb = 2"),
    (
        "up to the last good line",
        "python",
        "def f():█\n",
        ["def f():\n    a = 1\n    b = = 2\n    c = 3\n    d = 4\n"],
        "\n    a = 1",
    ),
    ("not past the brace that is there", "go", "func f() {\n\t█\n}\n", ["func f() {\n\ta()\n}\n\nfunc g() {"], "a()"),
    ("CR LF comes back as LF", "python", "def f():█\r\n", ["def f():\n    return 1\nx"], "\n    return 1"),
]


@pytest.mark.parametrize(("name", "language", "marked", "script", "expected"), CASES, ids=[c[0] for c in CASES])
def test_it_writes(name: str, language: str, marked: str, script: list[str], expected: str) -> None:
    assert complete(marked, *script, language=language).text == expected


def test_nothing_to_write_has_a_reason() -> None:
    assert complete("other█", "x = 1").reason is Reason.NOTHING
    assert complete("a\n█\nreturn a\n", "a\nreturn a").reason is Reason.DUPLICATE
    assert complete("total = compute(1)\n█", "(1)\ntotal = compute(1)\n").reason is Reason.REPETITION
    assert complete("a = 1\n█\nb = 2\n", "a = 1\n= = )\n").reason is Reason.SYNTAX


def test_what_streams_is_how_the_completion_begins() -> None:
    script = "def f(a, b):\n    total = compute(a, b)\n    if total:\n        return a\n    return b\nx = 1"
    text = "def f(a, b):\n    return b\n"
    pipeline = Pipeline(ScriptedEngine([script]), CompletionSettings(drafting=False))
    request = CompletionRequest("doc", TextSnapshot.of(text), len("def f(a, b):"), PYTHON)
    seen: list[str] = []
    result = pipeline.complete(request, on_text=seen.append)
    assert result.text == "\n    total = compute(a, b)\n    if total:\n        return a"
    assert len(seen) > 10
    assert all(longer.startswith(shorter) for shorter, longer in zip(seen, [*seen[1:], result.text], strict=True))


def test_the_token_limit_leaves_whole_lines() -> None:
    result = complete("def f():█", "def f():\n    alpha = 1\n    beta = 2", max_tokens=17)
    assert result.text == "\n    alpha = 1"


@pytest.mark.parametrize(
    ("text", "kept"), [("a\nb", "a"), ("a", "a"), ("\n    a", "\n    a"), ("\na\nb", "\na"), ("", "")]
)
def test_whole_lines(text: str, kept: str) -> None:
    assert whole_lines(text) == kept


def test_no_keystroke_computes_more_than_the_word_being_typed() -> None:
    pipeline = Pipeline(ScriptedEngine(["# end\nresult = compute(first)"]), CompletionSettings())
    above = "".join(f"name_{number} = {number}\n" for number in range(300)) + "# end\n"
    below = "\n" + "".join(f"other_{number} = {number}\n" for number in range(50))
    complete(above + "█" + below, pipeline=pipeline)
    typed = ""
    for key in "result = other(q)\n    x":
        typed += key
        generation = complete(above + typed + "█" + below, pipeline=pipeline).generation
        assert generation is not None
        # Bytes are tokens here: a word is healed anew as a whole.
        assert generation.prompt_tokens <= 2


def numbered(count: int, first: int = 0) -> str:
    return "".join(f"name_{number} = {number}\n" for number in range(first, first + count))


def test_a_jump_back_finds_its_place_in_the_cache() -> None:
    pipeline = Pipeline(ScriptedEngine(["x = 1"]), CompletionSettings())
    text = numbered(300)
    here, there = len(numbered(100)), len(numbered(250))
    costs = []
    for offset in (here, there, here, there):
        generation = complete(text[:offset] + "█" + text[offset:], pipeline=pipeline).generation
        assert generation is not None
        costs.append(generation.prompt_tokens)
    assert costs[0] > 100
    assert costs[2:] == [0, 0]


def test_a_long_tail_gets_a_new_anchor_in_idle_time_and_the_next_keystroke_computes_nothing_much() -> None:
    pipeline = Pipeline(ScriptedEngine(["x = 1"]), CompletionSettings())
    text = numbered(100)
    complete(text + "█\n", pipeline=pipeline)
    costs = []
    for number in range(120):
        text += f"name_{number} = 1\n"
        generation = complete(text + "█\n", pipeline=pipeline).generation
        assert generation is not None
        costs.append(generation.prompt_tokens)
        while pipeline.idle(lambda: False):
            pass
    # A line is 15 to 17 bytes, and bytes are tokens here: nothing but the line itself was ever computed.
    assert max(costs) <= 17


def settle(pipeline: Pipeline) -> None:
    while pipeline.idle(lambda: False):
        pass


def held(pipeline: Pipeline) -> str:
    """Return what the sequence in use holds, as text."""
    document = pipeline._documents["doc"]
    tokens = pipeline.cache.tokens(("doc", document.slot))
    return b"".join(pipeline.engine.vocabulary.pieces[token] for token in tokens).decode()


def test_a_new_place_is_answered_from_a_small_window_and_the_next_keystroke_has_a_full_one() -> None:
    engine = ScriptedEngine(["x = 1"])
    pipeline = Pipeline(engine, CompletionSettings(), cost=default_cost_model())
    text = numbered(200)
    first = complete(text + "█\n" + text, pipeline=pipeline).generation
    assert first is not None
    small = held(pipeline)
    settle(pipeline)
    second = complete(text + "x█\n" + text, pipeline=pipeline).generation
    assert second is not None
    assert second.prompt_tokens <= 2
    assert len(held(pipeline)) > 1.5 * len(small)


def test_the_suggestion_is_still_the_draft_after_a_better_window_was_put_to_use() -> None:
    script = numbered(200) + "x = compute(alpha, beta, gamma)"
    pipeline = Pipeline(ScriptedEngine([script]), CompletionSettings(), cost=default_cost_model())
    complete(numbered(200) + "█\n", pipeline=pipeline)
    settle(pipeline)
    steps = []
    for typed in ("x = compute(a", "x = compute(al"):
        generation = complete(numbered(200) + typed + "█\n", pipeline=pipeline).generation
        assert generation is not None
        steps.append((generation.steps, generation.accepted))
    assert max(steps for steps, _ in steps) < 8


def test_typing_during_the_preparation_of_the_full_window_costs_no_prompt_tokens() -> None:
    engine = ScriptedEngine(["x = 1"])
    pipeline = Pipeline(engine, CompletionSettings(), cost=default_cost_model())
    text, typed = numbered(200), ""
    complete(text + "█\n" + text, pipeline=pipeline)
    small = len(held(pipeline))
    slices = 0

    def interrupted() -> bool:
        nonlocal slices
        slices += 1
        return slices % 3 == 0

    for key in "name_of_it = 12\nother_name = 3":
        with contextlib.suppress(CancelledError):
            pipeline.idle(interrupted)
        typed += key
        generation = complete(text + typed + "█\n" + text, pipeline=pipeline).generation
        assert generation is not None
        assert generation.prompt_tokens <= 5, typed  # a letter is a token here, and healing takes back up to 4
    assert len(held(pipeline)) > 1.5 * small, "the preparation came to its end between the keys"


def test_a_patient_request_gets_the_full_window_at_once() -> None:
    text = numbered(200)
    sizes = []
    for patient in (False, True):
        pipeline = Pipeline(ScriptedEngine(["x = 1"]), CompletionSettings(), cost=default_cost_model())
        snapshot = TextSnapshot.of(text + text)
        pipeline.complete(CompletionRequest("doc", snapshot, len(text), PYTHON, patient=patient))
        sizes.append(len(held(pipeline)))
    assert sizes[1] > 1.5 * sizes[0]


def test_a_request_that_was_interrupted_finds_its_prompt_computed_in_idle_time() -> None:
    engine = ScriptedEngine(["x = 1"])
    pipeline = Pipeline(engine, CompletionSettings(), cost=default_cost_model())
    text = numbered(200)
    engine.interrupt.set()
    with pytest.raises(CancelledError):
        complete(text + "█\n", pipeline=pipeline)
    engine.interrupt.clear()
    settle(pipeline)
    generation = complete(text + "█\n", pipeline=pipeline).generation
    assert generation is not None
    assert generation.prompt_tokens == 0


def test_the_place_of_an_edit_is_prepared_although_nobody_asked_for_a_completion() -> None:
    pipeline = Pipeline(ScriptedEngine(["x = 1"]), CompletionSettings(), cost=default_cost_model())
    text = numbered(200)
    pipeline.expect(CompletionRequest("doc", TextSnapshot.of(text + "y\n"), len(text) + 1, PYTHON))
    settle(pipeline)
    generation = complete(text + "y█\n", pipeline=pipeline).generation
    assert generation is not None
    assert generation.prompt_tokens == 0


def test_the_place_before_is_still_there_after_a_full_window_was_made_for_the_new_one() -> None:
    pipeline = Pipeline(ScriptedEngine(["x = 1"]), CompletionSettings(), cost=default_cost_model())
    text = numbered(300)
    here, there = len(numbered(100)), len(numbered(250))
    costs = []
    for offset in (here, there, here, there):
        generation = complete(text[:offset] + "█" + text[offset:], pipeline=pipeline).generation
        assert generation is not None
        costs.append(generation.prompt_tokens)
        settle(pipeline)
    assert costs[2:] == [0, 0]


def test_background_work_that_is_interrupted_goes_on_later() -> None:
    engine = ScriptedEngine(["x = 1"])
    pipeline = Pipeline(engine, CompletionSettings(), cost=default_cost_model())
    complete(numbered(100) + "█\n", pipeline=pipeline)
    complete(numbered(100) + numbered(45, 500) + "█\n", pipeline=pipeline)
    engine.interrupt.set()
    with pytest.raises(CancelledError):
        pipeline.idle(lambda: False)
    engine.interrupt.clear()
    assert pipeline.idle(lambda: False)
    assert not pipeline.idle(lambda: False)


def test_an_unknown_machine_is_measured_in_idle_time_and_the_costs_are_kept_once_they_are_complete() -> None:
    kept: list[tuple[CostModel, int]] = []
    engine = ScriptedEngine(["x = 1"])
    pipeline = Pipeline(engine, CompletionSettings(), keep_cost=lambda cost: kept.append((cost, cost.exact_width)))
    assumed = pipeline.cost
    complete(numbered(10) + "█\n", pipeline=pipeline)
    held = pipeline.cache.tokens(("doc", 0))
    while pipeline.cost is assumed and pipeline.idle(lambda: False):
        pass
    assert pipeline.cost.exact_width == 1 and not kept, "used with the times, but a server that ends now keeps nothing"
    while pipeline.idle(lambda: False):
        pass
    assert kept == [(pipeline.cost, 32)]
    assert pipeline.cost.exact_width == 32
    assert set(pipeline.cost.step_seconds) == set(CALIBRATION_WIDTHS)
    assert pipeline.cache.tokens(("doc", 0)) == held
    assert sum(map(len, engine.cells)) == len(held)


def test_code_that_was_deleted_at_the_cursor_is_the_draft_for_what_is_written_there() -> None:
    block = "    first = compute(alpha)\n    second = compute(beta)\n    return first + second\n"
    engine = ScriptedEngine(["def f():\n" + block])
    pipeline = Pipeline(engine, CompletionSettings(), cost=default_cost_model())
    complete("def f():\n" + block + "█", pipeline=pipeline)
    result = complete("def f():\n█", pipeline=pipeline)
    assert result.generation is not None
    assert result.text == block.rstrip()
    assert pipeline.chain.counts()["previous"].accepted > len(block) // 2


BODY = "    total = compute(first, second)\n    return total + first(b)"


def test_the_workspace_is_learned_in_idle_time_and_changes_the_steps_and_never_the_text() -> None:
    marked, script = "def f():█\n", "def f():\n" + BODY
    results: dict[str, Completion] = {}
    for case, text in [("plain", ""), ("same", script), ("misleading", "def f():\n" + "    return 5\n" * 10)]:
        pipeline = Pipeline(ScriptedEngine([script]), CompletionSettings(), cost=default_cost_model())
        assert pipeline.workspace.read("other.py", text) is (text != "")
        while pipeline.idle(lambda: False):
            pass
        results[case] = complete(marked, pipeline=pipeline)
        assert (pipeline.chain.counts()["workspace"].accepted > len(BODY) // 2) is (case == "same")
    assert {result.text for result in results.values()} == {"\n" + BODY}
    generations = [result.generation for result in results.values()]
    assert all(generation is not None for generation in generations)
    plain, same, _ = (generation.steps for generation in generations if generation is not None)
    assert same < plain // 2


def test_the_workspace_comes_after_more_urgent_idle_work_and_costs_nothing_afterwards() -> None:
    engine = ScriptedEngine(["x = 1"])
    pipeline = Pipeline(engine, CompletionSettings(), cost=default_cost_model())
    complete(numbered(100) + "█\n", pipeline=pipeline)
    complete(numbered(100) + numbered(45, 500) + "█\n", pipeline=pipeline)
    text = numbered(600)
    pipeline.workspace.read("other.py", text)
    decoded = engine.decoded_tokens
    assert pipeline.idle(lambda: False)
    assert engine.decoded_tokens > decoded
    assert pipeline.workspace.pending == len(text)
    pieces = 0
    while pipeline.idle(lambda: False):
        pieces += 1
    assert pieces >= len(text) // PIECE_CHARACTERS
    assert pipeline.workspace.pending == 0


def test_an_unknown_machine_is_not_measured_before_something_was_asked() -> None:
    engine = ScriptedEngine(["x = 1"])
    pipeline = Pipeline(engine, CompletionSettings())
    pipeline.workspace.read("other.py", numbered(600))
    while pipeline.idle(lambda: False):
        pass
    assert pipeline.workspace.pending == 0
    assert engine.decoded_tokens == 0


@pytest.mark.parametrize("changes", [{"workspace": False}, {"drafting": False}])
def test_the_workspace_can_be_turned_off_at_any_time(changes: dict[str, bool]) -> None:
    pipeline = Pipeline(ScriptedEngine([]), CompletionSettings(), cost=default_cost_model())
    assert pipeline.workspace.read("other.py", numbered(600))
    pipeline.configure(CompletionSettings(**changes))  # type: ignore[arg-type]
    assert not pipeline.workspace.read("another.py", numbered(60))
    assert not pipeline.idle(lambda: False)
    assert pipeline.workspace.drafter.index.bytes < 1_000


def test_a_memory_that_cannot_be_cut_back_needs_no_workspace() -> None:
    pipeline = Pipeline(ScriptedEngine([], rolls_back=False), CompletionSettings())
    assert not pipeline.workspace.read("other.py", numbered(60))


@pytest.mark.parametrize(
    ("old", "new", "removed"),
    [
        ("a = 1\nlong_name = compute(2)\nb", "a = 1\n█\nb", "long_name = compute(2)"),
        ("a = 1\nx\nb", "a = 1\n█\nb", ""),
        ("long_name = compute(2)", "other█", ""),
        ("", "typed█", ""),
    ],
)
def test_what_was_deleted_at_the_cursor(old: str, new: str, removed: str) -> None:
    assert removed_text(old, new.replace("█", ""), new.index("█")) == removed


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_whatever_happens_the_cache_holds_the_prompt_of_the_current_window(data: st.DataObject) -> None:
    engine = ScriptedEngine(["x = 1"], context_length=6000)
    pipeline = Pipeline(engine, CompletionSettings(max_tokens=4))
    texts = {name: numbered(data.draw(st.integers(0, 80))) for name in "abc"}
    cursors = {name: len(text) for name, text in texts.items()}
    for _ in range(data.draw(st.integers(1, 12))):
        name = data.draw(st.sampled_from("abc"))
        text, cursor = texts[name], cursors[name]
        action = data.draw(
            st.sampled_from(["type", "enter", "pair", "delete", "jump", "above", "below", "idle", "abort"])
        )
        if action in ("type", "enter", "pair"):
            typed = {"type": "word", "enter": "\n    ", "pair": "("}[action]
            text = text[:cursor] + typed + ")" * (action == "pair") + text[cursor:]
            cursor += len(typed)
        elif action == "delete":
            text, cursor = text[: max(0, cursor - 2)] + text[cursor:], max(0, cursor - 2)
        elif action == "jump":
            cursor = data.draw(st.integers(0, len(text)))
        elif action == "above":
            text, cursor = "new\n" + text, cursor + 4
        elif action == "below":
            text += "more\n"
        texts[name], cursors[name] = text, cursor
        request = CompletionRequest(name, TextSnapshot.of(text), cursor, language_for("python", ""))
        calls = iter(range(10_000))
        limit = data.draw(st.integers(0, 6)) if action == "abort" else 10_000
        with contextlib.suppress(CancelledError):
            pipeline.complete(request, cancelled=lambda calls=calls, limit=limit: next(calls) >= limit)
        if action == "idle":
            while pipeline.idle(lambda: False):
                pass
        for key, sequence in pipeline.cache._owners.items():
            assert tuple(engine.cells[sequence]) == pipeline.cache.tokens(key)
        if action != "abort":
            document = pipeline._documents[name]
            window = document.windows[document.slot]
            assert window is not None
            prompt = pipeline.prompts.build(window).tokens
            assert pipeline.cache.tokens((name, document.slot))[: len(prompt)] == prompt


def test_switching_between_documents_keeps_both_in_the_cache() -> None:
    pipeline = Pipeline(ScriptedEngine(["x = 1"]), CompletionSettings())
    texts = {name: f"# {name}\n" * 40 + "x = " for name in "ab"}
    costs = []
    for name in "ababab":
        request = CompletionRequest(
            name, TextSnapshot.of(texts[name]), len(texts[name]), language_for("python", f"{name}.py")
        )
        generation = pipeline.complete(request).generation
        assert generation is not None
        costs.append(generation.prompt_tokens)
    assert all(cost > 100 for cost in costs[:2])
    assert all(cost <= 1 for cost in costs[2:])


def test_the_window_shrinks_to_a_small_context() -> None:
    engine = ScriptedEngine(["x = 1"], context_length=512)
    pipeline = Pipeline(engine, CompletionSettings(max_tokens=32))
    # Three bytes to a token is what the window assumes; here every byte is one, so only the prefix bound is at work.
    assert complete("x = █", pipeline=pipeline).text == "1"


def test_a_forgotten_document_starts_over() -> None:
    pipeline = Pipeline(ScriptedEngine(["x = 1"]), CompletionSettings())
    complete("# a\n" * 20 + "x = █", pipeline=pipeline)
    pipeline.forget("doc")
    generation = complete("# a\n" * 20 + "x = █", pipeline=pipeline).generation
    assert generation is not None
    assert generation.cached_tokens == 0
