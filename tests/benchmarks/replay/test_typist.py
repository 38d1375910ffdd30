from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.replay.hunks import Hunk
from benchmarks.replay.rhythm import Rhythm
from benchmarks.replay.typist import Indentation, Kind, Stroke, Typist, indentation_of

PYTHON, BRACES, TABS = Indentation("    ", ":([{"), Indentation("  ", "{(["), Indentation("\t", "{(")
NO_TYPOS = Rhythm(typo_share=0.0)


def strokes_of(typist: Typist, most: int = 2000) -> list[Stroke]:
    made = []
    while (stroke := typist.stroke()) is not None:
        made.append(stroke)
        typist.apply(stroke)
        assert len(made) < most
    return made


def typist(
    new: str,
    old: str = "",
    before: str = "",
    indentation: Indentation = PYTHON,
    rhythm: Rhythm = NO_TYPOS,
    seed: str = "0",
) -> Typist:
    return Typist(Hunk(0, old, new), before, indentation, rhythm, seed)


CASES = [
    ("value = 1", "", "", PYTHON),
    ("\n    if a:\n        return 1\n\n    return 2", "", "    x = 0", PYTHON),
    ("\nclass A:\n    def b(self):\n        pass\n\n\ndef c():\n    pass", "", "x = 1", PYTHON),
    ("if (a) {\n  b();\n}\nelse {\n  c();\n}", "", "", BRACES),
    ("\n\tif (a) {\n\t\tb();\n\t}", "", "\tx = 1;", TABS),
    ("new text", "old", "", PYTHON),
    ("one\ntwo\n", "a\nb\nc\n", "", PYTHON),
    ("aligned(first,\n        second)", "", "", PYTHON),
    ("trailing  \n  blanks", "", "", PYTHON),
]


@pytest.mark.parametrize(("new", "old", "before", "indentation"), CASES)
@pytest.mark.parametrize("typos", [0.0, 0.2, 1.0])
def test_the_edit_is_always_made(new: str, old: str, before: str, indentation: Indentation, typos: float) -> None:
    one = typist(new, old, before, indentation, Rhythm(typo_share=typos))
    strokes_of(one)
    assert one.written == new


PIECES = st.lists(
    st.sampled_from(["a", "bc", " ", "  ", "    ", "\n", "\n\n", "{", "}", ":", "\t", "d()"]), max_size=14
)


@given(PIECES, PIECES, PIECES, st.sampled_from([PYTHON, BRACES, TABS]), st.sampled_from([0.0, 0.5]))
@settings(max_examples=100, deadline=None)
def test_any_edit_is_made_in_the_end(
    new: list[str], old: list[str], before: list[str], indentation: Indentation, typos: float
) -> None:
    line_before = "".join(before).rpartition("\n")[2]
    one = typist("".join(new), "".join(old), line_before, indentation, Rhythm(typo_share=typos))
    strokes_of(one)
    assert one.written == "".join(new)


def test_the_editor_indents_after_enter_and_one_level_more_after_an_opener() -> None:
    made = strokes_of(typist("\n    if a:\n        b = 1", before="    x = 0"))
    enters = [stroke.text for stroke in made if stroke.text.startswith("\n")]
    assert enters == ["\n    ", "\n        "]
    assert "".join(stroke.text for stroke in made) == "\n    if a:\n        b = 1", "no blank was typed by hand"


def test_an_indentation_that_is_too_deep_is_taken_back_a_level_at_a_time() -> None:
    made = strokes_of(typist("    pass\nx = 1", before="    "))
    assert [(stroke.kind, stroke.end - stroke.start) for stroke in made if not stroke.text] == [
        (Kind.DELETE, 4),
        (Kind.DELETE, 4),
    ]


def test_an_indentation_that_is_not_deep_enough_is_made_with_the_tab_key() -> None:
    made = strokes_of(typist("a\n        b"))
    assert [stroke.text for stroke in made] == ["a", "\n", "    ", "    ", "b"]


def test_enter_on_a_blank_line_leaves_no_blanks_behind() -> None:
    one = typist("\n\n    y = 2", before="    x = 1")
    assert [stroke.text for stroke in strokes_of(one)][:3] == ["\n    ", "\n    ", "y"]
    assert one.written == "\n\n    y = 2"


def test_little_old_text_is_deleted_key_by_key_and_much_at_once() -> None:
    little = [stroke for stroke in strokes_of(typist("new name", "abc")) if stroke.kind is Kind.DELETE]
    much = [stroke for stroke in strokes_of(typist("new name", "two\nlines")) if stroke.kind is Kind.DELETE]
    assert [(stroke.start, stroke.end) for stroke in little] == [(2, 3), (1, 2), (0, 1)]
    assert [(stroke.start, stroke.end) for stroke in much] == [(0, 9)]


def test_a_typo_is_typed_on_for_at_most_two_keys_and_then_taken_back() -> None:
    rhythm = Rhythm(typo_share=1.0)
    seen = set()
    for seed in range(30):
        made = strokes_of(typist("value", rhythm=rhythm, seed=str(seed)))
        assert made[0].text == "b", "the key beside v"
        wrong = next(number for number, stroke in enumerate(made) if stroke.kind is Kind.DELETE)
        assert [stroke.kind for stroke in made[wrong : 2 * wrong]] == [Kind.DELETE] * wrong
        seen.add(wrong)
    assert seen == {1, 2, 3}


def test_a_place_is_quiet_while_something_is_to_be_deleted_and_at_the_end() -> None:
    one = typist("value", "old", rhythm=Rhythm(typo_share=1.0))
    quiet = [one.quiet]
    while (stroke := one.stroke()) is not None:
        one.apply(stroke)
        quiet.append(one.quiet)
    assert quiet[:3] == [True, True, True], "the old text goes first"
    assert quiet[3] is False
    assert quiet[4] is True, "a typo was made"
    assert quiet[-1] is True
    assert one.settled


def test_strokes_are_a_matter_of_the_seed_and_the_place_alone() -> None:
    new = "total = price * rate\nresult = total + tax"
    first, again, other = (strokes_of(typist(new, seed=seed)) for seed in ("1", "1", "2"))
    assert first == again
    assert [stroke.delay for stroke in first] != [stroke.delay for stroke in other]
    hurried = typist(new, seed="1")
    hurried.apply(Stroke(Kind.ACCEPT, 0, 0, new[:8], 0.0))
    assert strokes_of(hurried) == first[8:]


def test_accepted_text_is_not_typed() -> None:
    one = typist("return value")
    one.apply(Stroke(Kind.ACCEPT, 0, 0, "return value", 0.0))
    assert one.stroke() is None


@pytest.mark.parametrize(
    ("written", "back", "rest"),
    [("", 0, "    x = 1"), ("    x", 0, " = 1"), ("    y", 0, None), ("      ", 2, "x = 1"), ("      ", 0, None)],
)
def test_what_is_still_to_be_written_is_known_only_where_all_that_stands_there_is_right(
    written: str, back: int, rest: str | None
) -> None:
    one = typist("    x = 1")
    one.apply(Stroke(Kind.ACCEPT, 0, 0, written, 0.0))
    assert one.rest_after(back) == rest


def test_keys_come_in_the_rhythm_of_the_study() -> None:
    rhythm = dataclasses.replace(NO_TYPOS, hesitation_share=0.0, micro_pause_share=0.0)
    delays = [
        stroke.delay
        for number in range(40)
        for stroke in strokes_of(typist("letters" * 5, rhythm=rhythm, seed=str(number)))
    ]
    assert sum(delays) / len(delays) == pytest.approx(rhythm.key, rel=0.05)
    assert min(delays) > 0.03


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("if a:\n    b\n        c\n", "    "),
        ("a {\n  b {\n    c\n  }\n}\n", "  "),
        ("a {\n\tb\n}\n", "\t"),
        ("", "    "),
    ],
)
def test_the_unit_of_indentation_is_that_of_the_file(text: str, unit: str) -> None:
    assert indentation_of(text, "python").unit == unit
