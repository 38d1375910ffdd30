from __future__ import annotations

import pytest

from benchmarks.replay.sessions import MOST_HUNKS, MOST_TYPED, ChangedFile, changed_files, sample, session_of

OLD = "".join(f"def old_{number}():\n    return {number}\n\n\n" for number in range(8))
NEW = OLD.replace("return", "return 100 * scaled(first) +").replace(
    "\n\n\ndef old_5", "\n    # the end of it\n\n\ndef old_5"
)


def file(path: str = "a.py", package: str = "p") -> ChangedFile:
    return ChangedFile("python", package, path, OLD, NEW)


def test_a_seed_gives_the_same_sessions_every_time() -> None:
    files = [file(f"{number}.py") for number in range(5)]
    assert sample(files, 7) == sample(files, 7)


def test_another_seed_gives_other_sessions() -> None:
    files = [file(f"{number}.py") for number in range(5)]
    assert [session.id for session in sample(files, 1)] != [session.id for session in sample(files, 2)]
    assert len({session_of(file(), seed) for seed in range(10)}) > 1


@pytest.mark.parametrize("seed", range(5))
def test_the_edits_of_a_session_lead_to_the_newer_version(seed: int) -> None:
    session = session_of(file(), seed)
    assert session is not None
    assert session.text != NEW
    assert session.final_text == NEW
    assert sorted(session.order) == list(range(len(session.hunks)))
    assert len(session.hunks) <= MOST_HUNKS
    assert sum(len(hunk.new) for hunk in session.hunks) <= MOST_TYPED


def test_places_are_not_always_edited_from_top_to_bottom() -> None:
    orders = {session.order for seed in range(20) if (session := session_of(file(), seed)) is not None}
    assert any(order != tuple(sorted(order)) for order in orders)
    assert any(order == tuple(sorted(order)) for order in orders)


def test_packages_take_turns_and_the_seed_says_which_is_first() -> None:
    files = [file(f"{number}.py", "large") for number in range(4)] + [file("only.py", "small")]
    orders = {tuple(session.id.partition("/")[0] for session in sample(files, seed)) for seed in range(10)}
    assert orders == {("large", "small", *["large"] * 3), ("small", *["large"] * 4)}


def test_a_file_without_an_edit_of_moderate_size_gives_no_session() -> None:
    assert session_of(ChangedFile("python", "p", "a.py", "x = 1\n", "x = 2\n"), 0) is None


def test_only_files_of_both_versions_that_differ_are_taken() -> None:
    old, new = {"a": "1", "b": "1", "gone": "1"}, {"a": "1", "b": "2", "new": "1"}
    assert changed_files("c", "p", old, new) == [ChangedFile("c", "p", "b", "1", "2")]
