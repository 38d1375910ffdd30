from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from benchmarks.infilling.humaneval import humaneval_tasks, problem, random_column
from benchmarks.infilling.packages import package_tasks
from benchmarks.infilling.safim import safim_tasks, syntax_match
from benchmarks.infilling.tasks import by_turns, sample


def write(file: Path, rows: list[dict[str, Any]]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(file, "wt", encoding="utf-8") as stream:
        stream.writelines(json.dumps(row) + "\n" for row in rows)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    lines = [
        {
            "task_id": f"SingleLineInfilling/HumanEval/{number}/L0",
            "entry_point": "f",
            "prompt": "def f(x):\n",
            "canonical_solution": f"    return x + {number}\n",
            "suffix": "\n\n# end\n",
            "test": "def check(f):\n    assert f",
        }
        for number in range(20)
    ]
    write(tmp_path / "human-eval-infilling/HumanEval-SingleLineInfilling.jsonl.gz", lines)
    span = {**lines[0], "prompt": "def f(x):\n    ret", "canonical_solution": "urn", "suffix": " x\n"}
    write(tmp_path / "human-eval-infilling/HumanEval-RandomSpanInfillingLight.jsonl.gz", [span])
    holes = [
        {
            "lang": language,
            "task_id": f"{language}_{number}",
            "eval_prompt": "if ({{completion}}) {\r\n}",
            "ground_truth": "a",
        }
        for language in ("cpp", "java")
        for number in range(9)
    ]
    write(tmp_path / "safim/control_completion.jsonl.gz", holes)
    return tmp_path


def test_whole_lines_are_missing_from_an_empty_line(data: Path) -> None:
    task = humaneval_tasks(data, "single", 1, 0)[0]
    assert task.before == "def f(x):\n"
    assert task.after == "\n\n\n# end\n"
    assert task.published_after == "\n\n# end\n"
    assert task.answer.startswith("    return x + ")
    assert not task.answer.endswith("\n")
    program = task.before + task.answer + task.after + task.tests
    exec(compile(program, "task", "exec"), {})


def test_a_random_span_is_as_published(data: Path) -> None:
    task = humaneval_tasks(data, "span-light", 9, 0)[0]
    assert task.before + task.answer + task.after == "def f(x):\n    return x\n"
    assert task.published_after == task.after


def test_a_line_is_cut_within_its_code(data: Path) -> None:
    for task in humaneval_tasks(data, "random-column", 20, 0):
        line = task.before.rpartition("\n")[2] + task.answer
        assert line.startswith("    return x + ")
        assert task.answer
        assert len(task.before.rpartition("\n")[2]) >= 4
        assert not task.tests


@pytest.mark.parametrize("line", ["  ab", "x", "    return x   ", "\ty = 1"])
def test_every_column_of_the_code_is_cut_at_and_no_other(line: str) -> None:
    code = line.rstrip()
    columns = {random_column(line, str(seed)) for seed in range(300)}
    assert columns == set(range(len(code) - len(code.lstrip()), len(code)))


def test_the_seed_decides_tasks_and_columns(data: Path) -> None:
    first = humaneval_tasks(data, "random-column", 10, 1)
    assert humaneval_tasks(data, "random-column", 10, 1) == first
    assert humaneval_tasks(data, "random-column", 10, 2) != first


def test_a_larger_sample_begins_with_the_smaller_one(data: Path) -> None:
    assert humaneval_tasks(data, "single", 10, 3)[:4] == humaneval_tasks(data, "single", 4, 3)
    assert sample(range(100), 30, 0, "x")[:10] == sample(range(100), 10, 0, "x")


def test_languages_are_sampled_alike_and_by_turns(data: Path) -> None:
    tasks = safim_tasks(data, "safim-control", 3, 0)
    assert [task.language for task in tasks] == ["cpp", "java"] * 3
    assert (tasks[0].before, tasks[0].answer, tasks[0].after) == ("if (", "a", ") {\r\n}")


def test_turns_go_on_where_a_group_ends() -> None:
    assert by_turns(["abc", "x", "12"]) == ["a", "x", "1", "b", "2", "c"]


def test_tasks_of_one_problem_are_a_group() -> None:
    assert problem("SingleLineInfilling/HumanEval/7/L3") == problem("SingleLineInfilling/HumanEval/7/L0")
    assert problem("SingleLineInfilling/HumanEval/7/L3") != problem("SingleLineInfilling/HumanEval/70/L3")


def test_data_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="cannot be read"):
        humaneval_tasks(tmp_path, "multi", 1, 0)


@pytest.mark.parametrize(
    ("text", "answer", "language", "same"),
    [
        ("f( a,b )", "f(a, b)", "cpp", True),
        ("f(a, x=1, y=2)", "f(a, y=2, x=1)", "python", True),
        ("f(a, x=1, y=2)", "f(a, y=2, x=1)", "java", False),
        ("g(a)", "f(a)", "python", False),
        ("f(a, b)", "f(b, a)", "python", False),
        ("f(", "f(a)", "python", False),
    ],
)
def test_syntax_match(text: str, answer: str, language: str, same: bool) -> None:
    assert syntax_match(text, answer, language) is same


FILLER = "".join(f"VALUE_{number} = {number}  # so that the file is long enough to be code\n" for number in range(20))


@pytest.fixture
def site(tmp_path: Path) -> Path:
    package = tmp_path / "shop"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "prices.py").write_text("def total_of(items, tax):\n    return sum(items) * tax\n")
    (package / "words.py").write_text("class Basket:\n    pass\n")
    (package / "direct.py").write_text(
        f"from .prices import total_of\nfrom os import path\n{FILLER}\n"
        "def f(items):\n    path.join('a', 'b')\n    return 1 + total_of(items, 2)\n"
    )
    (package / "through.py").write_text(
        f"from shop import prices, words\n{FILLER}\ndef g(items):\n    return prices.total_of(items, 3)\n"
    )
    (package / "copied.py").write_text(
        f"from .prices import total_of\n{FILLER}\nx = total_of(items, 2)\ny = total_of(items, 2)\n"
    )
    (package / "alone.py").write_text(f"import os\n{FILLER}\nos.path.join('a', 'b')\n")
    return tmp_path


def test_calls_into_another_module_are_cut_before_the_called_name(site: Path) -> None:
    tasks = {task.path: task for task in package_tasks(10, 0, site)}
    assert set(tasks) == {"shop/direct.py", "shop/through.py"}
    direct, through = tasks["shop/direct.py"], tasks["shop/through.py"]
    assert direct.before.endswith("    return 1 + ")
    assert direct.answer == "total_of(items, 2)"
    assert through.before.endswith("    return prices.")
    assert through.answer == "total_of(items, 3)"
    assert direct.before + direct.answer + direct.after == (site / "shop/direct.py").read_text()


def test_the_module_with_the_called_function_is_the_first_open_beside(site: Path) -> None:
    through = next(task for task in package_tasks(10, 0, site) if task.path == "shop/through.py")
    assert [other.path for other in through.others] == ["shop/prices.py", "shop/words.py"]
    assert "def total_of" in through.others[0].text


def test_packages_take_turns(site: Path) -> None:
    other = site / "store"
    other.mkdir()
    for file in (site / "shop").iterdir():
        (other / file.name).write_text(file.read_text().replace("from shop", "from store"))
    tasks = package_tasks(10, 0, site)
    assert Counter(task.group for task in tasks) == {"shop": 2, "store": 2}
    assert len({task.group for task in tasks[:2]}) == 2
    assert package_tasks(2, 0, site) == tasks[:2]
