"""SAFIM: API calls, control expressions and blocks of C++, Java, Python and C# files.

The prompt is the file around the hole, without the description of the problem that the data set also has: an editor has
none. Control expressions and blocks come with input and output for compiled programs; here they are compared with what
the author wrote, so figures of those two sets are no pass@1.
"""

from __future__ import annotations

import ast
import hashlib
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

from benchmarks.infilling.humaneval import read_rows
from benchmarks.infilling.tasks import Cut, Task, by_turns, sample

FOLDER = "safim"
FILES = {
    "safim-api": "api_completion.jsonl.gz",
    "safim-control": "control_completion.jsonl.gz",
    "safim-block": "block_completion.jsonl.gz",
}
CUTS = {"safim-api": Cut.CALL, "safim-control": Cut.CONDITION, "safim-block": Cut.PARSABLE}
HOLE = "{{completion}}"
ENDINGS = {"python": "py", "java": "java", "cpp": "cpp", "csharp": "cs"}
_SPACE = re.compile(r"\s+")


def safim_tasks(data: Path, name: str, count: int, seed: int) -> list[Task]:
    """Return the sampled tasks of the set `name`: of the API calls `count`, else `count` of each language, by turns."""
    rows = read_rows(data / FOLDER / FILES[name])
    if name == "safim-api":
        return [_task(name, row) for row in sample(rows, count, seed, name)]
    languages: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        languages[row["lang"]].append(row)
    chosen = [sample(languages[language], count, seed, f"{name} {language}") for language in sorted(languages)]
    return [_task(name, row) for row in by_turns(chosen)]


def _task(name: str, row: dict[str, Any]) -> Task:
    before, _, after = row["eval_prompt"].partition(HOLE)
    return Task(
        set=name,
        id=row["task_id"],
        group=file_of(before + row["ground_truth"] + after),
        language=row["lang"],
        path=f"{row['task_id']}.{ENDINGS[row['lang']]}",
        before=before,
        after=after,
        answer=row["ground_truth"],
        cut=CUTS[name],
    )


def file_of(text: str) -> str:
    """Return a name for a file by its content: several holes of one file are one group."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:12]


def syntax_match(text: str, answer: str, language: str) -> bool:
    """Return whether both are the same but for white space or, in Python, but for the order of keyword arguments.

    That is how SAFIM judges API calls, only that here the name of the called function counts too.
    """
    if _SPACE.sub("", text) == _SPACE.sub("", answer):
        return True
    if language != "python":
        return False
    calls = [_call(text), _call(answer)]
    return calls[0] is not None and calls[0] == calls[1]


def _call(text: str) -> tuple[str, list[str], dict[str | None, str]] | None:
    try:
        body = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    if not isinstance(body, ast.Call):
        return None
    keywords = {keyword.arg: ast.dump(keyword.value) for keyword in body.keywords}
    return ast.dump(body.func), [ast.dump(argument) for argument in body.args], keywords
