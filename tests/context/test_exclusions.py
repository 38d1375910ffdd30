"""Which files are private, in trees of ignore files."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from spark_lsp.context.exclusions import FRESH_SECONDS, Exclusions

CASES = [
    ("nothing said", {}, "a.py", False),
    ("a pattern", {".gitignore": "*.log"}, "deep/a.log", True),
    ("a pattern that does not match", {".gitignore": "*.log"}, "a.py", False),
    ("a folder", {".gitignore": "build/"}, "build/deep/a.py", True),
    ("a folder's pattern does not match a file", {".gitignore": "build/"}, "build", False),
    ("from the root only", {".gitignore": "/dist"}, "src/dist/a.py", False),
    ("a comment", {".gitignore": "#a.py"}, "a.py", False),
    ("negation", {".gitignore": "*.py\n!keep.py"}, "keep.py", False),
    ("a later rule wins", {".gitignore": "!a.py\n*.py"}, "a.py", True),
    ("nested rules", {"src/.gitignore": "a.py"}, "src/deep/a.py", True),
    ("nested rules hold below their folder only", {"src/.gitignore": "a.py"}, "a.py", False),
    ("a deeper rule wins", {".gitignore": "*.py", "src/.gitignore": "!a.py"}, "src/a.py", False),
    ("no way back into a folder", {".gitignore": "build/", "build/.gitignore": "!a.py"}, "build/a.py", True),
    ("no way back in the same file", {".gitignore": "build/\n!build/a.py"}, "build/a.py", True),
    ("the contents, but one", {".gitignore": "build/*\n!build/a.py"}, "build/a.py", False),
    (".sparkignore", {".sparkignore": "private/"}, "private/a.py", True),
    (".sparkignore nested", {"src/.sparkignore": "a.*"}, "src/a.py", True),
    (".sparkignore lets in", {".gitignore": "gen/", ".sparkignore": "!gen/"}, "gen/a.py", False),
    (".sparkignore beats deeper git rules", {"src/.gitignore": "!a.py", ".sparkignore": "a.py"}, "src/a.py", True),
    ("a pattern nobody can read", {".gitignore": "!\n*.py"}, "a.py", True),
    ("CR LF", {".gitignore": "a.py\r\nb.py\r\n"}, "a.py", True),
    ("a secret", {}, ".env", True),
    ("a secret cannot be let in", {".sparkignore": "!id_rsa"}, "id_rsa", True),
    ("a folder of keys", {}, ".ssh/config", True),
]


@pytest.mark.parametrize(("name", "rules", "path", "excluded"), CASES, ids=[case[0] for case in CASES])
def test_a_file_is_excluded(name: str, rules: dict[str, str], path: str, excluded: bool, tmp_path: Path) -> None:
    for file, text in rules.items():
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_bytes(text.encode())
    exclusions = Exclusions()
    exclusions.use_roots([tmp_path])
    assert exclusions.is_excluded(tmp_path / path) is excluded


GIT_CASES = [case for case in CASES if not any("spark" in file for file in case[1]) and "secret" not in case[0]]


@pytest.mark.parametrize(
    ("name", "rules", "path", "excluded"), GIT_CASES[:-1], ids=[case[0] for case in GIT_CASES[:-1]]
)
def test_git_says_the_same(name: str, rules: dict[str, str], path: str, excluded: bool, tmp_path: Path) -> None:
    for file, text in {**rules, path: ""}.items():
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_bytes(text.encode())
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    answer = subprocess.run(["git", "-C", str(tmp_path), "check-ignore", "-q", path], check=False)
    assert (answer.returncode == 0) is excluded


def test_a_workspace_folder_inside_a_repository_has_the_rules_of_the_whole_repository(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".gitignore").write_text("*.log")
    exclusions = Exclusions()
    exclusions.use_roots([tmp_path / "src"])
    assert exclusions.is_excluded(tmp_path / "src" / "a.log")


def test_rules_above_the_workspace_are_nobodys_business(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("*")
    exclusions = Exclusions()
    exclusions.use_roots([tmp_path / "src"])
    assert not exclusions.is_excluded(tmp_path / "src" / "a.py")


def test_turned_off_nothing_is_excluded(tmp_path: Path) -> None:
    exclusions = Exclusions()
    exclusions.enabled = False
    assert not exclusions.is_excluded(tmp_path / ".env")


def test_changed_rules_hold_after_a_moment_or_at_once_after_a_refresh(tmp_path: Path) -> None:
    now = 0.0
    exclusions = Exclusions(clock=lambda: now)
    exclusions.use_roots([tmp_path])
    path = tmp_path / "a.py"
    assert not exclusions.is_excluded(path)
    (tmp_path / ".gitignore").write_text("a.py")
    assert not exclusions.is_excluded(path)
    now = FRESH_SECONDS + 0.1
    assert exclusions.is_excluded(path)
    (tmp_path / ".gitignore").write_text("")
    exclusions.refresh()
    assert not exclusions.is_excluded(path)


def test_a_path_with_dots_is_the_file_it_leads_to(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("private/")
    exclusions = Exclusions()
    exclusions.use_roots([tmp_path])
    assert exclusions.is_excluded(tmp_path / "src" / ".." / "private" / "a.py")
    assert not exclusions.is_excluded(tmp_path / "with\0nul")
