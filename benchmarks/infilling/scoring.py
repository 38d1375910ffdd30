"""Whether a text is right, and what it breaks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from difflib import SequenceMatcher
from typing import Any

from benchmarks.infilling.damage import damage, with_line_feeds
from benchmarks.infilling.safim import syntax_match
from benchmarks.infilling.sandbox import passes
from benchmarks.infilling.tasks import Cut, Task
from benchmarks.infilling.ways import Answer, Way
from spark_lsp.syntax.languages import language_for

DAMAGES = ("adds_error", "leaves_error", "duplicates", "unbalanced")
"""Counted for shown texts only."""


def is_exact(task: Task, text: str) -> bool:
    """Return whether `text` is what the author wrote, blanks at the ends of lines left out.

    Where the rest of a line is asked for, only the first line of the text is looked at; SAFIM also leaves out blanks
    around the text.
    """
    text, answer = with_line_feeds(text), with_line_feeds(task.answer)
    if task.cut is Cut.LINE_END:
        return text.partition("\n")[0].rstrip() == answer.partition("\n")[0].rstrip()
    if task.set.startswith("safim"):
        text, answer = text.strip(), answer.strip()
    return _trimmed(text) == _trimmed(answer)


def _trimmed(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.split("\n")).rstrip()


def score(task: Task, way: Way, answer: Answer, run: Callable[[str], bool] = passes) -> dict[str, Any]:
    """Return the line of the journal for an answer; `run` tells whether a program passes its tests."""
    shown = bool(answer.text.strip())
    found: dict[str, Any] = {
        "set": task.set,
        "id": task.id,
        "group": task.group,
        "language": task.language,
        "way": way.name,
        "text": answer.text,
        "reason": answer.reason,
        "shown": shown,
        "exact": is_exact(task, answer.text),
    }
    if task.tests:
        found["passed"] = run(task.before + answer.text + task.after + task.tests)
    if task.set == "safim-api":
        found["syntax_match"] = syntax_match(answer.text, task.answer, task.language)
    if shown:
        language = language_for(task.language, task.path)
        found |= asdict(damage(task.before, answer.text, task.after, task.answer, language))
    if answer.ungated:
        found["ungated"] = _before_the_gate(task, answer, passed=bool(found.get("passed")))
    return {**found, "probabilities": list(answer.probabilities), **answer.cost}


def _before_the_gate(task: Task, answer: Answer, *, passed: bool) -> dict[str, Any]:
    """Return what thresholds are fitted with: what would be right if everything was shown, and each line by itself."""
    exact = is_exact(task, answer.ungated)
    shown_whole = answer.text == answer.ungated
    right = right_lines(answer.ungated, task.answer)
    if exact or (passed and shown_whole):
        right = [True] * len(right)
    judged = task.cut is not Cut.LINE_END  # else only the first line counts, and nobody knows of the others
    lines = zip(right, answer.lines, strict=True) if judged else ()
    return {
        "exact": exact,
        "lines": [{"right": is_right, "probabilities": list(values)} for is_right, values in lines],
        **({} if shown_whole else {"text": answer.ungated}),
    }


def right_lines(text: str, answer: str) -> list[bool]:
    """Return for each line of `text` whether the author wrote it too, in this order, blanks at the ends left out."""
    ours, theirs = ([line.rstrip() for line in with_line_feeds(side).split("\n")] for side in (text, answer))
    right = [False] * len(ours)
    for block in SequenceMatcher(None, ours, theirs, autojunk=False).get_matching_blocks():
        right[block.a : block.a + block.size] = [True] * block.size
    return right
