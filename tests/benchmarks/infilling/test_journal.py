from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.infilling.journal import Journal, JournalError, code_digest, journal_path

ABOUT = {"model": "m 1", "seed": 0}


def record(task: str, way: str = "raw") -> dict[str, object]:
    return {"set": "single", "id": task, "way": way, "text": "x\ny"}


def test_a_run_goes_on_where_it_was_interrupted(tmp_path: Path) -> None:
    file = journal_path(tmp_path / "result.json")
    with pytest.raises(KeyboardInterrupt), Journal(file, ABOUT, resume=False) as journal:
        journal.add(record("a"))
        journal.add(record("a", "pipeline"))
        raise KeyboardInterrupt
    with Journal(file, ABOUT, resume=True) as journal:
        assert list(journal.records) == [("single", "a", "raw"), ("single", "a", "pipeline")]
        journal.add(record("b"))
    with Journal(file, ABOUT, resume=True) as journal:
        assert len(journal.records) == 3
        assert journal.records["single", "a", "raw"] == record("a")


def test_a_line_that_was_being_written_is_dropped(tmp_path: Path) -> None:
    file = tmp_path / "journal"
    with Journal(file, ABOUT, resume=False) as journal:
        journal.add(record("a"))
    with file.open("a") as stream:
        stream.write('{"set": "single", "id"')
    with Journal(file, ABOUT, resume=True) as journal:
        assert list(journal.records) == [("single", "a", "raw")]
        journal.add(record("b"))
    with Journal(file, ABOUT, resume=True) as journal:
        assert len(journal.records) == 2


def test_an_earlier_run_is_not_overwritten(tmp_path: Path) -> None:
    file = tmp_path / "journal"
    Journal(file, ABOUT, resume=False).__exit__(None, None, None)
    with pytest.raises(JournalError, match="--resume"):
        Journal(file, ABOUT, resume=False)


def test_answers_of_another_model_or_seed_are_not_mixed_in(tmp_path: Path) -> None:
    file = tmp_path / "journal"
    Journal(file, ABOUT, resume=False).__exit__(None, None, None)
    with pytest.raises(JournalError, match="another model and seed"):
        Journal(file, {"model": "m 2", "seed": 1}, resume=True)


@pytest.mark.parametrize("text", ["notes\n", "[]\n", "{}\n", '{"about": 1}\n'])
def test_another_file_is_refused_and_left_alone(tmp_path: Path, text: str) -> None:
    file = tmp_path / "journal"
    file.write_text(text)
    with pytest.raises(JournalError):
        Journal(file, ABOUT, resume=True)
    assert file.read_text() == text


def test_there_is_a_run_without_a_file_too() -> None:
    with Journal(None, ABOUT, resume=False) as journal:
        journal.add(record("a"))
        assert list(journal.records) == [("single", "a", "raw")]


def test_the_digest_tells_a_changed_program(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1")
    before = code_digest(tmp_path)
    assert code_digest(tmp_path) == before
    (tmp_path / "a.py").write_text("x = 2")
    assert code_digest(tmp_path) != before
