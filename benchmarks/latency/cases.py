"""The cases of the benchmark: four kinds of writing, each from what an editor really has at hand."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.latency.edits import COMMENTS, EDITS, edit
from benchmarks.latency.prompts import FREE, REPETITIVE, REWRITTEN, Rewrite

KINDS = {
    "a": "free code",
    "b": "repetitive code",
    "c": "edited suggestion",
    "d": "rewriting a block",
}


@dataclass(frozen=True, slots=True)
class Case:
    """Text before the cursor, and the old text that stood at the cursor, if any."""

    kind: str
    """One of `KINDS`."""
    name: str
    language: str
    before: str
    old: str = ""


def cases(kinds: str) -> list[Case]:
    """Return the cases of those of the kinds a, b and d that `kinds` names; c is made by `edited_case`."""
    plain = [("a", FREE), ("b", REPETITIVE)]
    return [
        *(Case(kind, *texts) for kind, table in plain if kind in kinds for texts in table),
        *(_rewriting(rewrite) for rewrite in REWRITTEN if "d" in kinds),
    ]


def free_cases() -> list[Case]:
    """Return the cases of kind a, of whose suggestions those of kind c are made."""
    return cases("a")


def edited_case(case: Case, number: int, suggestion: str) -> Case | None:
    """Return kind c: the user took the beginning of the `suggestion` for `case`, edited it, and goes on writing.

    The rest of the suggestion is the old text. The edit is the one whose turn it is by `number`; where the beginning
    has nothing to edit in that way, the next one. None if none is possible.
    """
    for turn in range(len(EDITS)):
        name = EDITS[(number + turn) % len(EDITS)]
        edited = edit(name, case.before, suggestion, case.language)
        if edited is not None:
            return Case("c", f"{case.name}: {name}", case.language, case.before + edited.typed, edited.rest)
    return None


def _rewriting(rewrite: Rewrite) -> Case:
    mark = COMMENTS[rewrite.language]
    signature, newline, body = rewrite.block.partition("\n")
    before = (
        f"{mark} Old version\n{rewrite.block}\n"
        f"{mark} New version: {rewrite.change}\n{signature.replace(*rewrite.replaced)}{newline}"
    )
    return Case("d", rewrite.name, rewrite.language, before, body)
