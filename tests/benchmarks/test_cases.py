from __future__ import annotations

from collections import Counter

import pytest

from benchmarks.latency.cases import KINDS, cases, edited_case, free_cases
from benchmarks.latency.edits import COMMENTS, EDITS, PRINTING, edit

SUGGESTION = """    total = 0
    for item in items:
        total += item.price * 10
    return total
"""


def test_there_are_cases_of_each_kind_in_three_languages() -> None:
    plan = cases("abcd")
    assert Counter(case.kind for case in plan) == {"a": 8, "b": 8, "d": 6}
    for kind in "abd":
        families = {case.language.replace("typescript", "javascript") for case in plan if case.kind == kind}
        assert families == {"python", "javascript", "go"}


def test_the_cases_of_some_kinds_are_those_of_all() -> None:
    assert cases("bd") == [case for case in cases("abd") if case.kind in "bd"]
    assert free_cases() == cases("a")
    assert cases("c") == []


def test_names_are_unique_within_a_kind_and_prompts_end_with_a_line() -> None:
    plan = cases("abd")
    assert len({(case.kind, case.name) for case in plan}) == len(plan)
    assert all(case.before.endswith("\n") and case.kind in KINDS for case in plan)


@pytest.mark.parametrize("case", cases("d"), ids=lambda case: case.name)
def test_a_rewrite_shows_the_old_block_and_begins_the_new_one(case: object) -> None:
    assert case.old and case.old in case.before  # type: ignore[attr-defined]
    first = case.before.splitlines()[-1]  # type: ignore[attr-defined]
    assert case.before.count(first) == 1, "the first line is not changed"  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("name", "typed"),
    [
        ("rename", "    my_total = 0\n"),
        ("comment", "    total = 0  # the usual case\n"),
        ("literal", "    total = 1\n"),
        ("insert", '    total = 0\n    print("here")\n'),
    ],
)
def test_an_edit_changes_the_first_line_and_leaves_the_rest(name: str, typed: str) -> None:
    edited = edit(name, "def f(items):\n", SUGGESTION, "python")
    assert edited is not None
    assert edited.typed == typed
    assert edited.rest == SUGGESTION.partition("\n")[2]


@pytest.mark.parametrize(
    ("language", "suggestion", "typed"),
    [
        ("go", "\tin, err := os.Open(path)\n\tx()\n", "\tmy_in, err := os.Open(path)\n"),
        ("go", "\tf()\n\tfor key, value := range m {\n\t\tx()\n", "\tf()\n\tfor my_key, value := range m {\n"),
        ("javascript", "  const { rows } = await ask(rows);\n  x();\n", "  const { my_rows } = await ask(my_rows);\n"),
        ("typescript", "  let n: number = 1;\n  x();\n", "  let my_n: number = 1;\n"),
        ("python", "    for word in words:\n        x()\n", "    for my_word in words:\n"),
    ],
)
def test_a_renamed_variable_is_renamed_where_it_is_introduced(language: str, suggestion: str, typed: str) -> None:
    edited = edit("rename", "", suggestion, language)
    assert edited is not None
    assert edited.typed == typed


@pytest.mark.parametrize(
    ("name", "suggestion", "typed"),
    [
        ("rename", "    call(total=1)\n    x = 2\n    y()\n", "    call(total=1)\n    my_x = 2\n"),
        ("comment", "    # first\n    x = 2\n    y()\n", "    # first\n    x = 2  # the usual case\n"),
        ("literal", "    x()\n    open('a file')\n    y()\n", "    x()\n    open('new a file')\n"),
        (
            "insert",
            "\n    for x in y:\n        z()\n    return\n",
            '\n    for x in y:\n        z()\n        print("here")\n',
        ),
    ],
)
def test_an_edit_takes_as_many_lines_as_it_needs(name: str, suggestion: str, typed: str) -> None:
    edited = edit(name, "", suggestion, "python")
    assert edited is not None
    assert edited.typed == typed


def test_a_variable_of_the_text_before_is_not_renamed() -> None:
    assert edit("rename", "def f(total):\n", "    total = 0\n    return total\n", "python") is None


@pytest.mark.parametrize("suggestion", ["", "\n\n", "    return 1\n", "    total = 1"])
@pytest.mark.parametrize("name", EDITS)
def test_a_suggestion_of_one_line_leaves_nothing_to_verify(name: str, suggestion: str) -> None:
    assert edit(name, "", suggestion, "python") is None


def test_each_case_has_the_edit_whose_turn_it_is() -> None:
    case = free_cases()[0]
    edits = [edited_case(case, number, SUGGESTION) for number in range(5)]
    names = [edited.name.rpartition(": ")[2] for edited in edits if edited is not None]
    assert names == [*EDITS, EDITS[0]]


def test_an_edit_that_is_not_possible_is_replaced_by_the_next() -> None:
    edited = edited_case(free_cases()[0], 0, "    first()\n    second()\n    third()\n")
    assert edited is not None
    assert edited.name.endswith(": comment")
    assert edited.old == "    second()\n    third()\n"


def test_every_language_of_a_free_case_can_be_edited() -> None:
    assert {case.language for case in free_cases()} <= COMMENTS.keys() & PRINTING.keys()
