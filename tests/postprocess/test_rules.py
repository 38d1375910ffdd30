"""Post-processing by example, and what holds for every text and place."""

from __future__ import annotations

import pytest

from spark_lsp.postprocess import RULES, postprocess
from tests.postprocess.cases import Case, all_cases

CASES = all_cases()


@pytest.mark.parametrize("case", CASES, ids=str)
def test_what_is_shown(case: Case) -> None:
    assert postprocess(case.written, case.place) == case.shown


def test_there_are_cases_for_every_module_of_rules() -> None:
    modules = {rule.__module__.rpartition(".")[2] for rule in RULES}
    assert {case.rule for case in CASES} == modules


def test_the_cases_are_many_and_in_many_languages() -> None:
    wanted = "python typescript typescriptreact go rust c cpp java html yaml shellscript"
    assert {case.language_id for case in CASES} >= set(wanted.split())
    assert len(CASES) >= 120
