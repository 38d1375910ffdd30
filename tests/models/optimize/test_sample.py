"""The sample: the same tasks on every run, from code and not from comments."""

from __future__ import annotations

from pathlib import Path

import pytest

from spark_lsp.errors import ModelError
from spark_lsp.models.optimize.sample import CUTS, LONGEST_LINE, SHORTEST_LINE, Sample, SourceFile, find_sample

CODE = '''"""Documentation that is no code at all and must never become a task of ours."""

# a comment of some length that must not be a task either
def area(width, height):
    """More documentation."""
    return width * height


TABLE = [
    "first entry of the table",
    "second entry of the table",
]
'''


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for number in range(60):
        (tmp_path / f"module_{number}.py").write_text(CODE + f"\nVALUE_{number} = area({number}, {'2' * 80})\n" * 10)
    return tmp_path


def sample_of(folder: Path) -> Sample:
    return Sample(tuple(SourceFile(path, path.name) for path in sorted(folder.glob("*.py"))), ())


def test_a_larger_sample_begins_with_the_smaller_one_and_any_part_can_be_made_alone(folder: Path) -> None:
    sample = sample_of(folder)
    tasks = list(sample.tasks(120))
    assert list(sample.tasks(30)) == tasks[:30]
    assert list(sample.tasks(50, start=20)) == tasks[20:50]
    assert len({(task.file, task.line) for task in tasks}) > 60  # a second turn takes other lines


def test_cuts_lie_inside_the_code_of_the_line(folder: Path) -> None:
    for task in sample_of(folder).tasks(100):
        indent = len(task.line) - len(task.line.lstrip())
        assert 1 <= len(task.cuts) <= CUTS
        assert sorted(set(task.cuts)) == list(task.cuts)
        assert all(indent <= cut < len(task.line) for cut in task.cuts)
        assert SHORTEST_LINE <= len(task.line.strip()) <= LONGEST_LINE
        assert (task.above + task.line + task.below) in (folder / task.file).read_text()


def test_comments_and_documentation_are_no_tasks(folder: Path) -> None:
    lines = {task.line.strip() for task in sample_of(folder).tasks(150)}
    assert "return width * height" in lines
    assert not [line for line in lines if "ocumentation" in line or line.startswith("#")]


def test_held_out_texts_come_from_files_without_tasks(folder: Path) -> None:
    sample = sample_of(folder)
    held_out = {name for name, _ in sample.held_out(20)}
    assert held_out
    assert not held_out & {task.file for task in sample.tasks(120)}


def test_given_files_of_any_language_are_half_of_the_sample(
    folder: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sysconfig.get_path", lambda name: str(folder))
    own = tmp_path_factory.mktemp("own")
    (own / "server.js").write_text("function handle(request) {\n  return request.body;\n}\n" * 40)
    (own / "notes.unknown").write_text("no language\n" * 200)
    found = find_sample([own])
    assert [file.name for file in found.given] == ["server.js"]
    assert len(found.installed) == 60
    files = [task.file for task in found.tasks(10)]
    assert files.count("server.js") == 5


def test_the_digest_changes_with_the_files(folder: Path) -> None:
    before = sample_of(folder).digest
    assert sample_of(folder).digest == before
    with (folder / "module_3.py").open("a") as file:
        file.write("more = 1\n")
    assert sample_of(folder).digest != before


def test_a_folder_without_code_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="no source code"):
        find_sample([tmp_path])
