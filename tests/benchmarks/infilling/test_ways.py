from __future__ import annotations

import pytest

from benchmarks.infilling.limits import LineLimit
from benchmarks.infilling.neighbours import PARTS
from benchmarks.infilling.scoring import is_exact, score
from benchmarks.infilling.tasks import Cut, OtherFile
from benchmarks.infilling.ways import PIPELINE, RAW, Answer, Runner, context_ways, ways
from spark_lsp.decoding.stopping import Extent, Stop, StopReason
from spark_lsp.pipeline import Pipeline
from tests.benchmarks.infilling.examples import task
from tests.scripted_engine import ScriptedEngine

PLACE = task("a = f(█)\n", "b", Cut.LINE_END)
SCRIPT = ("a = f(b)\nmore", "a = f()\nc\n")


def runner(*script: str) -> Runner:
    settings = ways([])[1].settings
    return Runner(Pipeline(ScriptedEngine(script), settings))


def test_a_task_goes_through_raw_model_and_pipeline() -> None:
    rows = {way.name: runner(*SCRIPT).answer(PLACE, way) for way in ways(["postprocess"])}
    assert rows[RAW].text == "c"
    assert rows[PIPELINE].text == "b"
    assert rows["without postprocess"].text == "b)"
    assert rows[PIPELINE].reason == rows[RAW].reason == "shown"
    assert len(rows[PIPELINE].probabilities) == 1
    assert len(rows["without postprocess"].probabilities) == 2


def test_a_task_leaves_nothing_for_the_next() -> None:
    one = runner(*SCRIPT)
    first = [one.answer(PLACE, way) for way in ways([])]
    again = [one.answer(task("a = f(█)\n", "b", Cut.LINE_END), way) for way in ways([])]
    assert [answer.text for answer in again] == [answer.text for answer in first]
    assert [answer.cost["prompt_tokens"] for answer in again] == [answer.cost["prompt_tokens"] for answer in first]


def test_an_engine_that_fails_gives_an_empty_answer() -> None:
    engine = ScriptedEngine(SCRIPT)
    broken = Runner(Pipeline(engine, ways([])[1].settings))
    engine.interrupt.set()
    assert [broken.answer(PLACE, way).reason for way in ways([])] == ["failed", "failed"]


def test_the_multi_file_set_has_a_second_request_after_one_typed_character() -> None:
    place = task("a = █\n", "fetch()", Cut.LINE_END, others=(OtherFile("other.py", "def fetch(): pass\n"),))
    one = runner("a = fetch()\n")
    for way in (ways([])[1], *context_ways(PARTS)):
        answer = one.answer(place, way)
        assert answer.text == "fetch()"
        assert answer.cost["second"]["prompt_tokens"] < answer.cost["prompt_tokens"]


def test_parts_are_switched_off_by_their_name() -> None:
    names = {way.name: way.settings for way in ways(["healing", "anchor", "drafting"])}
    assert names["without healing"].heal_tokens == 0
    assert names["without anchor"].layout == "plain"
    assert not names["without drafting"].drafting
    assert names[PIPELINE].heal_tokens > 0


def test_the_gate_is_switched_off_without_another_generation() -> None:
    unsure = ScriptedEngine(("a = b\n",), logits={"b": -0.9})
    one = Runner(Pipeline(unsure, ways([])[1].settings))
    place = task("a = █\n", "b", Cut.LINE_END)
    _, gated, ungated = (one.answer(place, way) for way in ways(["gate"]))
    assert (gated.text, gated.reason, gated.ungated) == ("", "low-confidence", "b")
    assert (ungated.text, ungated.reason, ungated.ungated) == ("b", "shown", "b")
    assert gated.probabilities == ungated.probabilities == gated.lines[0]
    fresh = Runner(Pipeline(ScriptedEngine(("a = b\n",), logits={"b": -0.9}), ways([])[1].settings))
    alone = fresh.answer(place, ways(["gate"])[2])
    assert (alone.text, alone.reason, alone.lines) == (ungated.text, ungated.reason, ungated.lines)


def test_what_thresholds_are_fitted_with_is_kept() -> None:
    place = task("█\n", "a = 1\nb = 2\nc = 3")
    lines = ((0.9,), (0.8, 0.7), (0.1,))
    probabilities = (0.9, 0.8, 0.7, 0.1)
    answer = Answer("a = 1", "shown", probabilities, ungated="a = 1\nc = 3 \nd = 4", lines=lines)
    found = score(place, ways([])[1], answer)
    assert found["ungated"] == {
        "exact": False,
        "lines": [
            {"right": True, "probabilities": [0.9]},
            {"right": True, "probabilities": [0.8, 0.7]},
            {"right": False, "probabilities": [0.1]},
        ],
        "text": "a = 1\nc = 3 \nd = 4",
    }
    assert not found["exact"]


def test_all_lines_of_a_text_that_passes_its_tests_are_right() -> None:
    place = task("█\n", "a = 1", tests="\nassert True\n")
    answer = Answer("a = 2 - 1", "shown", (0.9,), ungated="a = 2 - 1", lines=((0.9,),))
    found = score(place, ways([])[1], answer, lambda program: True)
    assert found["ungated"] == {"exact": False, "lines": [{"right": True, "probabilities": [0.9]}]}


def test_where_only_the_first_line_counts_no_line_is_judged() -> None:
    answer = Answer("b", "shown", (0.9,), ungated="b\nmore", lines=((0.9,), (0.9,)))
    assert score(PLACE, ways([])[1], answer)["ungated"]["lines"] == []


def test_without_stopping_only_the_limits_end_a_text() -> None:
    place = task("a = f()\n█\n", "b = 1", Cut.NONE)
    one = runner("a = f()\nb = 1\nc = 2\nd = 3\n")
    found = {way.name: one.answer(place, way) for way in ways(["stopping", "postprocess"])}
    assert (found[PIPELINE].text, found[PIPELINE].cost["stop"]) == ("b = 1", "statement-end")
    assert found["without stopping"].text == "b = 1\nc = 2\nd = 3"
    assert found["without stopping"].cost["stop"] == "end-of-generation"
    assert found["without postprocess"].text == "b = 1", "the rule is back"


def test_the_line_limit_holds_without_stopping() -> None:
    rule = LineLimit(Extent.LINE, indentation=0, max_lines=3)
    assert rule.check("a\n\nc") is None
    assert rule.check("a\n\nc\nd\ne") == Stop(StopReason.LINES, len("a\n\nc"))


def test_a_context_that_there_is_not_is_refused() -> None:
    with pytest.raises(ValueError, match="no context nonsense"):
        context_ways(["nonsense"])


@pytest.mark.parametrize("part", ["nonsense", "max_tokens", "model.draft"])
def test_a_part_that_cannot_be_switched_off_is_refused(part: str) -> None:
    with pytest.raises(ValueError, match="no part"):
        ways([part])


@pytest.mark.parametrize(
    ("cut", "name", "text", "answer", "expected"),
    [
        (Cut.LINE_END, "random-column", "b)  \nmore", "b)", True),
        (Cut.LINE_END, "random-column", " b)", "b)", False),
        (Cut.FIRST_LINE, "single", "    x = 1\n", "    x = 1  ", True),
        (Cut.FIRST_LINE, "single", "x = 1", "    x = 1", False),
        (Cut.NONE, "multi", "a\nb", "a", False),
        (Cut.CALL, "safim-api", " f(a)", "f(a)\r\n", True),
    ],
)
def test_an_exact_match(cut: Cut, name: str, text: str, answer: str, expected: bool) -> None:
    assert is_exact(task("█", answer, cut, set=name), text) is expected


def test_a_text_is_judged_by_the_tests_in_its_document() -> None:
    place = task("def f():\n█\n    return x\n", "    x = 1", whole_lines=True, tests="\nassert f() == 1\n")
    programs: list[str] = []

    def run(program: str) -> bool:
        programs.append(program)
        return False

    found = score(place, ways([])[1], Answer("    x = 2", "shown", (0.5,), {"seconds": 1.0}), run)
    assert programs == ["def f():\n    x = 2\n    return x\n\nassert f() == 1\n"]
    assert (found["passed"], found["exact"], found["shown"]) == (False, False, True)
    assert (found["adds_error"], found["probabilities"], found["seconds"]) == (False, [0.5], 1.0)


def test_nothing_shown_breaks_nothing() -> None:
    found = score(PLACE, ways([])[1], Answer("", "nothing-to-add", ()))
    assert not found["shown"]
    assert "adds_error" not in found
