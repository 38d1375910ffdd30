"""From a generation to what is shown, and why nothing is."""

from __future__ import annotations

import dataclasses
import math

import pytest

from spark_lsp.completion import Reason, finished
from spark_lsp.decoding.generate import Generation
from spark_lsp.decoding.stopping import StopReason
from spark_lsp.documents.text import TextSnapshot
from spark_lsp.gate import AUTOMATIC, INVOKED
from spark_lsp.postprocess import Place
from spark_lsp.syntax.languages import language_for

PLACE = Place.at(TextSnapshot.of("\n"), 0, language_for("python", ""))
SURE = 1.0
WEAK = math.exp((max(INVOKED.text, INVOKED.line) + min(AUTOMATIC.text, AUTOMATIC.line)) / 2)
GUESSED = math.exp(min(INVOKED.text, INVOKED.line) - 1)


def generation(*lines: tuple[str, float]) -> Generation:
    """One token for each line, with its probability."""
    text = "\n".join(line for line, _ in lines)
    ends = [len("\n".join(line for line, _ in lines[: count + 1])) for count in range(len(lines))]
    probabilities = tuple(probability for _, probability in lines)
    tokens = tuple(range(len(lines)))
    return Generation(text, tokens, probabilities, tuple(ends), StopReason.END, 1, 0, 1, 0, 0, 0.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("lines", "automatic", "invoked", "reason"),
    [
        ((("a = 1", SURE), ("b = 2", SURE)), "a = 1\nb = 2", "a = 1\nb = 2", Reason.SHOWN),
        ((("a = 1", SURE), ("b = 2", WEAK)), "a = 1", "a = 1\nb = 2", Reason.SHOWN),
        ((("a = 1", SURE), ("b = 2", GUESSED)), "a = 1", "a = 1", Reason.SHOWN),
        ((("a = 1", WEAK),), "", "a = 1", Reason.LOW_CONFIDENCE),
        ((("a = 1", GUESSED),), "", "", Reason.LOW_CONFIDENCE),
        ((("", SURE),), "", "", Reason.NOTHING),
    ],
)
def test_what_is_shown_depends_on_who_asked(
    lines: tuple[tuple[str, float], ...], automatic: str, invoked: str, reason: Reason
) -> None:
    made = generation(*lines)
    by_itself, asked_for, ungated = (
        finished(made, PLACE),
        finished(made, PLACE, invoked=True),
        finished(made, PLACE, gate=False),
    )
    assert (by_itself.text, by_itself.if_invoked, by_itself.reason) == (automatic, invoked, reason)
    assert asked_for.text == asked_for.if_invoked == invoked
    assert ungated.text == ungated.if_invoked == by_itself.ungated == asked_for.ungated == made.text


def test_a_name_that_does_not_exist_lowers_the_score() -> None:
    made = generation(("json.loda", SURE))
    assert finished(made, PLACE).reason is Reason.SHOWN
    doubtful = dataclasses.replace(made, unknown_names=(5,))
    assert finished(doubtful, PLACE).reason is Reason.LOW_CONFIDENCE
    assert finished(doubtful, PLACE, invoked=True).text == "json.loda"
