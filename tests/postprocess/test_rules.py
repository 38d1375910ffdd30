"""Post-processing by example, and what holds for every text and place."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spark_lsp.documents.text import TextSnapshot
from spark_lsp.postprocess import RULES, Place, postprocess
from spark_lsp.syntax.languages import LANGUAGES, language_for
from spark_lsp.syntax.parser import parse
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


IDS = sorted({language.name for language in LANGUAGES})
PIECES = [*"ab(){}[]<>\"'`;:,.=#/*-\\ \t\n\r|@é\u2028😀", "if ", "def f():\n", '"""', "end\n"]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=30).map("".join)


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(IDS), TEXTS, TEXTS, TEXTS, st.booleans(), st.booleans())
def test_no_text_at_any_place_in_any_language_breaks_a_rule(
    name: str, before: str, after: str, written: str, growing: bool, with_tree: bool
) -> None:
    language = language_for(name, "")
    tree = parse(before + after, language) if with_tree else None
    place = Place.at(TextSnapshot.of(before + after), len(before), language, tree)
    shown = postprocess(written, place.while_growing() if growing else place)
    assert "\r" not in shown
    assert shown.strip() or not shown
    assert not any(line.endswith("\t") for line in shown.split("\n"))


def test_what_the_popup_has_selected_stays_as_it_is() -> None:
    """The server puts the selected text into the document first; a suggestion is only ever put behind it."""
    text = "self.assertEqual(a, b)\nself.assertEqual"
    place = Place.at(TextSnapshot.of(text), len(text), language_for("python", ""))
    assert place.line_before == "self.assertEqual"
    assert postprocess("(c, d)", place) == "(c, d)"
    assert postprocess("    (c, d)", place).lstrip() == "(c, d)"
