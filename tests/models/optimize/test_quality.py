"""Quality is compared by text, whatever ids a vocabulary has."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from spark_lsp.models.optimize.quality import agreement, infill, predictions
from spark_lsp.models.optimize.sample import InfillTask
from tests.scripted_engine import END, ScriptedEngine

ABOVE = "def area(width, height):\n"
LINE = "    return width * height"
TASK = InfillTask("a.py", ABOVE, LINE, (4, 10, 18), "\n\nx = area(2, 3)\n")


@pytest.mark.parametrize(
    ("learned", "expected"),
    [
        (ABOVE + LINE + "\n", (True, True, True)),
        (ABOVE + LINE + "   \n", (True, True, True)),
        (ABOVE + "    return width + height\n", (False, False, False)),
        (ABOVE + LINE + ".bit_length()\n", (False, False, False)),
        (ABOVE + "    return width\n", (False, False, False)),
    ],
    ids=["the same", "blanks at the end", "another operator", "longer", "shorter"],
)
def test_a_cut_is_completed_when_the_rest_of_the_line_is_exact(learned: str, expected: tuple[bool, ...]) -> None:
    assert list(infill(ScriptedEngine([learned]), [TASK])) == [expected]


def test_a_text_that_has_departed_is_not_generated_to_its_end() -> None:
    departed = ABOVE + "    raise NotImplementedError('a rather long message that nobody waits for')\n"
    one_cut = InfillTask("a.py", ABOVE, LINE, (4,), TASK.below)
    engine = ScriptedEngine([departed])
    prompt = len(engine.tokenize(ABOVE + "    " + TASK.below)) + 3
    assert list(infill(engine, [one_cut])) == [(False,)]
    assert engine.decoded_tokens - prompt < 10


def predicted(learned: str, text: str, words: Sequence[str]) -> tuple[dict[int, bytes], ScriptedEngine]:
    engine = ScriptedEngine([learned], words=words)
    return predictions(engine, text), engine


def test_predictions_are_bytes_by_offset_and_control_tokens_have_their_name() -> None:
    found, _ = predicted("return x", "return x", ["return", " x"])
    assert found == {6: b" x", 8: b"\0control " + END.encode()}


def test_a_vocabulary_without_the_token_agrees_when_it_begins_to_spell_it() -> None:
    text, learned = "self.", "self.assertEqual(a)"
    long, _ = predicted(learned, text, ["self", "assert", "assertEqual"])
    short, engine = predicted(learned, text, ["self", "assert"])
    assert (long[5], short[5]) == (b"assertEqual", b"assert")
    assert agreement(long, short, frozenset(engine.vocabulary.pieces).__contains__) == (2, 2)


@pytest.mark.parametrize(
    ("original", "variant", "known", "expected"),
    [
        ({1: b"a", 2: b"b"}, {1: b"a", 2: b"c"}, {b"a", b"b", b"c"}, (1, 2)),
        ({1: b"abc"}, {1: b"ab"}, {b"abc", b"ab"}, (0, 1)),
        ({1: b"abc"}, {1: b"ab"}, {b"ab"}, (1, 1)),
        ({1: b"a", 5: b"b"}, {1: b"a", 3: b"x", 4: b"y", 5: b"b"}, {b"a"}, (2, 2)),
        ({1: b"\0control <end>"}, {1: b"\0control <end>"}, set(), (1, 1)),
    ],
    ids=["one differs", "the longer one is known", "the longer one is unknown", "offsets of one alone", "control"],
)
def test_agreement(
    original: dict[int, bytes], variant: dict[int, bytes], known: set[bytes], expected: tuple[int, int]
) -> None:
    assert agreement(original, variant, known.__contains__) == expected
