"""Documents of about 1,000 lines with a hole of several lines, and what a model might write there.

Python files are modules of installed packages. Files of the other languages are whole programs of SAFIM one after the
other, as far as they parse together without an error: single ones are too short.
"""

from __future__ import annotations

import ast
import hashlib
import sysconfig
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.infilling.humaneval import read_rows
from benchmarks.infilling.safim import ENDINGS, FILES, FOLDER, HOLE
from benchmarks.infilling.tasks import sample
from spark_lsp.syntax.errors import error_count
from spark_lsp.syntax.languages import Language, language_for
from spark_lsp.syntax.parser import parse

LEAST_LINES, MOST_LINES = 900, 1100
LEAST_ANSWER, MOST_ANSWER = 2, 12
"""Lines of what is missing."""
REPEATED_BELOW = 3
LOOP_TURNS = 6


@dataclass(frozen=True, slots=True)
class LongFile:
    """A document with a hole at the end of `before`."""

    language: Language
    before: str
    answer: str
    """What the author wrote."""
    after: str


def faulty_texts(file: LongFile) -> dict[str, str]:
    """Return the author's text and the same with what models typically get wrong, by the name of the fault."""
    lines = file.answer.split("\n")
    last = lines[-1].rstrip()
    below = [line for line in file.after.split("\n")[1:] if line.strip()][:REPEATED_BELOW]
    return {
        "none": file.answer,
        "repeats the lines below": "\n".join([*lines, *below]),
        "a bracket too many": file.answer.rstrip() + ")",
        "cut off within a line": file.answer.rstrip()[: -max(1, len(last.strip()) // 2)],
        "a line that is no code": "\n".join([lines[0], "= = )", *lines[1:]]),
        "indented too far": "\n".join([lines[0], *(f"    {line}" if line.strip() else line for line in lines[1:])]),
        "its last line again and again": "\n".join([*lines, *[lines[-1]] * LOOP_TURNS]),
        "a fence and an explanation": f"```\n{file.answer}\n```\nThis code does what was asked for.",
    }


def python_files(count: int, seed: int, folder: Path | None = None) -> list[LongFile]:
    """Return up to `count` modules of the packages in `folder`, by default those of this Python."""
    root = folder if folder is not None else Path(sysconfig.get_path("purelib"))
    found: list[LongFile] = []
    for path in sample(sorted(root.rglob("*.py")), 1_000_000, seed, "python"):
        if len(found) == count:
            break
        try:
            text = path.read_bytes().decode("utf-8").replace("\r\n", "\n")
        except (OSError, UnicodeDecodeError):
            continue
        if LEAST_LINES <= text.count("\n") <= MOST_LINES:
            found += _with_hole(text, f"{seed} {path.name}")[:1]
    return found


def _with_hole(text: str, seed: str) -> list[LongFile]:
    """Return the module without one of its blocks, or nothing if it has none of a fitting size."""
    try:
        module = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    lines = text.split("\n")
    language = language_for("python", "")
    blocks = [
        (body[0].lineno - 1, body[-1].end_lineno or body[-1].lineno)
        for node in ast.walk(module)
        if isinstance(body := getattr(node, "body", None), list) and body and isinstance(body[0], ast.stmt)
    ]
    fitting = [(first, end) for first, end in blocks if LEAST_ANSWER <= end - first <= MOST_ANSWER]
    if not fitting or error_count(parse(text, language)):
        return []
    first, end = min(fitting, key=lambda block: hashlib.sha256(f"{seed} {block}".encode()).hexdigest())
    before = "".join(f"{line}\n" for line in lines[:first])
    return [LongFile(language, before, "\n".join(lines[first:end]), "".join(f"\n{line}" for line in lines[end:]))]


def safim_files(data: Path, count: int, seed: int) -> list[LongFile]:
    """Return up to `count` files of each language of the block tasks but Python."""
    languages: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in read_rows(data / FOLDER / FILES["safim-block"]):
        languages[row["lang"]].append(row)
    found = []
    for name in sorted(languages.keys() - {"python"}):
        rows = sample(languages[name], len(languages[name]), seed, name)
        language = language_for(name, f"x.{ENDINGS[name]}")
        programs = list(dict.fromkeys(row["eval_prompt"].replace(HOLE, row["ground_truth"]) for row in rows))
        holes = (row for row in rows if LEAST_ANSWER <= row["ground_truth"].count("\n") + 1 <= MOST_ANSWER)
        for number, row in zip(range(count), holes, strict=False):
            found.append(_surrounded(row, language, programs[number:] + programs[:number]))
    return found


def _surrounded(row: dict[str, Any], language: Language, programs: Sequence[str]) -> LongFile:
    """Return the file of a task with other programs above and below it."""
    before, _, after = row["eval_prompt"].partition(HOLE)
    answer, text = row["ground_truth"], ""
    own = before + answer + after
    above = below = ""
    for program in _fitting(own, programs):
        above_is_shorter = above.count("\n") <= below.count("\n")
        text = f"{program}\n{above}{own}{below}" if above_is_shorter else f"{above}{own}{below}\n{program}"
        if text.count("\n") > MOST_LINES or error_count(parse(text, language)):
            continue
        if above_is_shorter:
            above = f"{program}\n{above}"
        else:
            below = f"{below}\n{program}"
        if text.count("\n") >= LEAST_LINES:
            break
    return LongFile(language, above + before, answer, after + below)


def _fitting(own: str, programs: Sequence[str]) -> Iterator[str]:
    return (program for program in programs if program != own and program.count("\n") < MOST_LINES // 2)
