"""Repairs with the scripted engine, which knows by heart what it answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from spark_lsp.decoding.cost_model import default_cost_model
from spark_lsp.documents.text import TextSnapshot
from spark_lsp.errors import CancelledError
from spark_lsp.pipeline import Pipeline
from spark_lsp.repair import Fault, Outcome, RepairRequest, repair
from spark_lsp.settings import CompletionSettings
from spark_lsp.syntax.languages import language_for
from tests.scripted_engine import ScriptedEngine

CHAT = ("<|im_start|>", "<|im_end|>")
FENCE = "```"


def conversing(engine: ScriptedEngine) -> ScriptedEngine:
    """Return the engine as one that was taught conversations."""
    vocabulary, size = engine.vocabulary, len(engine.vocabulary)
    special = vocabulary.special | {name: size + number for number, name in enumerate(CHAT)}
    engine.vocabulary = replace(vocabulary, pieces=(*vocabulary.pieces, b"", b""), special=special)
    engine.info = replace(engine.info, chat_template="{{ '<|im_start|>' }}")
    return engine


def pipeline_of(script: Sequence[str], *, chat: bool = False, rolls_back: bool = True) -> Pipeline:
    engine = ScriptedEngine(script, rolls_back=rolls_back)
    return Pipeline(
        conversing(engine) if chat else engine, CompletionSettings(snapshots=False), cost=default_cost_model()
    )


def asked(marked: str, message: str, language: str = "python") -> RepairRequest:
    start = marked.index("|")
    text = marked.replace("|", "")
    return RepairRequest("a", TextSnapshot.of(text), language_for(language, ""), Fault(start, start, message))


def repaired(request: RepairRequest, outcome: Outcome) -> str | None:
    return outcome.edit.applied(request.snapshot.text) if outcome.edit is not None else None


NAME = "value = 1\nprint(|vlaue)\n"
MESSAGE = "undefined name 'vlaue'"


def test_a_model_without_conversations_fills_in_the_lines_below_a_comment() -> None:
    request = asked(NAME, MESSAGE)
    pipeline = pipeline_of([f"# {MESSAGE}.\n# was: print(vlaue)\nvalue = 1\nprint(value)"])
    outcome = repair(pipeline, request)
    assert repaired(request, outcome) == "value = 1\nprint(value)\n"
    assert outcome.proven
    assert outcome.answers == 1


def test_a_model_that_converses_is_asked_in_words() -> None:
    request = asked(NAME, MESSAGE)
    pipeline = pipeline_of([f"assistant\n{FENCE}python\nvalue = 1\nprint(value)\n{FENCE}"], chat=True)
    outcome = repair(pipeline, request)
    assert repaired(request, outcome) == "value = 1\nprint(value)\n"


def test_the_edit_is_the_smallest_one() -> None:
    request = asked(NAME, MESSAGE)
    outcome = repair(pipeline_of(["# was: print(vlaue)\nvalue = 1\nprint(value)"]), request)
    assert outcome.edit is not None
    assert request.snapshot.text[outcome.edit.start : outcome.edit.end] == "la"
    assert outcome.edit.text == "al"


def test_unchanged_text_is_verified_in_batches() -> None:
    body = "".join(f"    first_{number} = second_{number}\n" for number in range(3))
    text = f"def f(second_0, second_1, second_2):\n{body}    return |frist_0\n"
    right = text.replace("|frist_0", "first_0").rstrip()
    lines = right.split("\n")
    request = asked(text, "undefined name 'frist_0'")
    # The smallest region is left as it is, so that the whole block is written.
    script = [f"# was: return frist_0\n{lines[0]}\n" + "\n".join(lines[1:])]
    outcome = repair(pipeline_of(script), request)
    assert outcome.tokens > 0
    assert outcome.steps < outcome.tokens


def test_line_ends_stay() -> None:
    request = asked(NAME.replace("\n", "\r\n"), MESSAGE)
    outcome = repair(pipeline_of(["# was: print(vlaue)\nvalue = 1\nprint(value)"]), request)
    assert repaired(request, outcome) == "value = 1\r\nprint(value)\r\n"


def test_what_does_not_compile_is_refused() -> None:
    request = asked(NAME, MESSAGE)
    outcome = repair(pipeline_of(["# was: print(vlaue)\nvalue = 1\nprint(value"]), request)
    assert outcome.edit is None
    assert "does not compile" in outcome.sentence


def test_a_rewrite_is_refused() -> None:
    request = asked(NAME, MESSAGE)
    outcome = repair(pipeline_of(["# was: print(vlaue)\nvalue = 1\nimport os; os.getcwd() + str(value)"]), request)
    assert outcome.edit is None
    assert outcome.sentence.startswith("The model would write another line")


def test_a_model_that_changes_nothing_has_no_repair() -> None:
    request = asked(NAME, MESSAGE)
    outcome = repair(pipeline_of(["# was: print(vlaue)\nvalue = 1\nprint(vlaue)"]), request)
    assert outcome.edit is None
    assert outcome.sentence == "The model would change nothing."


def test_a_name_of_the_standard_library_gets_its_import() -> None:
    request = asked("import os\n\nprint(os, |json.dumps(1))\n", "undefined name 'json'")
    pipeline = pipeline_of([f"is defined?assistant\n{FENCE}python\nimport json\n{FENCE}"], chat=True)
    # Control tokens write nothing, and a role ends with a line end.
    pipeline.engine.script = [f"\nassistant\n{FENCE}python\nimport json\n{FENCE}"]  # type: ignore[attr-defined]
    outcome = repair(pipeline, request)
    assert repaired(request, outcome) == "import os\nimport json\n\nprint(os, json.dumps(1))\n"
    assert outcome.proven


def test_a_syntax_error_of_another_language_is_judged_by_its_tree() -> None:
    request = asked("int f() {\n  int a = 1|\n  return a;\n}\n", "expected ';'", "c")
    script = ["// was: int a = 1\nint f() {\n  int a = 1;\n  return a;", "  // was: int a = 1\n"]
    outcome = repair(pipeline_of(script), request)
    assert repaired(request, outcome) == "int f() {\n  int a = 1;\n  return a;\n}\n"
    assert outcome.proven


def test_a_fault_that_no_check_knows_is_repaired_without_proof() -> None:
    request = asked("a = 1\nb = a |is 1\n", "use ==/!= to compare constant literals")
    outcome = repair(pipeline_of(["# was: b = a is 1\na = 1\nb = a == 1"]), request)
    assert repaired(request, outcome) == "a = 1\nb = a == 1\n"
    assert not outcome.proven


@pytest.mark.parametrize("language", ["python", "c", "plaintext"])
@pytest.mark.parametrize("rolls_back", [True, False])
def test_any_place_of_any_text_has_an_outcome(language: str, rolls_back: bool) -> None:
    pipeline = pipeline_of([], rolls_back=rolls_back)
    for marked in ("|", "|\n", "\n\n|", "a|", "(|[{\n", "\r\n|\r\n", "é = '|", "    |x\n"):
        outcome = repair(pipeline, asked(marked, "wrong", language))
        assert outcome.edit is None
        assert outcome.sentence


def test_nothing_stays_in_the_kv_cache() -> None:
    pipeline = pipeline_of(["# was: print(vlaue)\nvalue = 1\nprint(value)"])
    repair(pipeline, asked(NAME, MESSAGE))
    assert not any(pipeline.engine.cells)  # type: ignore[attr-defined]


def test_it_stops_when_cancelled_and_leaves_nothing() -> None:
    pipeline = pipeline_of(["# was: print(vlaue)\nvalue = 1\nprint(value)"])
    with pytest.raises(CancelledError):
        repair(pipeline, asked(NAME, MESSAGE), cancelled=lambda: True)
    assert not any(pipeline.engine.cells)  # type: ignore[attr-defined]


def test_without_time_there_is_no_repair() -> None:
    outcome = repair(pipeline_of([]), asked(NAME, MESSAGE), seconds=0.0)
    assert outcome.edit is None
    assert outcome.answers == 0
