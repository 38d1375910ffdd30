from __future__ import annotations

import subprocess
import sys
from collections import Counter

import pytest

from spark_lsp.syntax import LANGUAGES, PLAIN, Language, language_for, parse
from spark_lsp.syntax.grammars import grammar


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda language: language.name)
def test_every_grammar_is_in_the_bundle(language: Language) -> None:
    assert grammar(language.grammar) is not None
    assert parse("x\n", language).root is not None


@pytest.mark.parametrize(
    ("language_id", "name"),
    [
        ("python", "python"),
        ("typescriptreact", "typescriptreact"),
        ("javascriptreact", "javascript"),
        ("shellscript", "shellscript"),
        ("sh", "shellscript"),
        ("objective-c", "objective-c"),
        ("csharp", "csharp"),
        ("cpp", "cpp"),
        ("cuda-cpp", "cuda"),
        ("dockerfile", "dockerfile"),
        ("makefile", "makefile"),
        ("PYTHON ", "python"),
    ],
)
def test_the_ids_of_editors_are_known(language_id: str, name: str) -> None:
    assert language_for(language_id, "").name == name


@pytest.mark.parametrize(
    ("uri_or_path", "name"),
    [
        ("file:///home/me/a.py", "python"),
        ("file:///c%3A/dir%20x/A.TSX", "typescriptreact"),
        ("C:\\work\\main.rs", "rust"),
        ("relative/path/x.d.ts", "typescript"),
        ("/src/CMakeLists.txt", "cmake"),
        ("/src/Dockerfile", "dockerfile"),
        ("/src/Dockerfile.dev", "dockerfile"),
        ("/src/Makefile.am", "makefile"),
        ("file:///src/Gemfile", "ruby"),
        ("file:///a.go?version=1#L3", "go"),
        ("/home/me/.bashrc", "shellscript"),
        ("/x/build.gradle.kts", "kotlin"),
        ("/x/notes.txt", "plaintext"),
        ("/x/build.unknown", "plaintext"),
        ("untitled:Untitled-1", "plaintext"),
        ("", "plaintext"),
    ],
)
def test_the_file_name_decides_when_the_id_does_not(uri_or_path: str, name: str) -> None:
    assert language_for("", uri_or_path).name == name
    assert language_for("plaintext", uri_or_path).name == name
    assert language_for("no-such-language", uri_or_path).name == name


def test_a_known_id_wins_over_the_file_name() -> None:
    assert language_for("python", "file:///a.rs").name == "python"


def test_an_unknown_language_is_plain() -> None:
    assert language_for("klingon", "file:///a.klingon") is PLAIN
    assert PLAIN.grammar is None


@pytest.mark.parametrize("part", ["extensions", "filenames", "language_ids"])
def test_no_two_languages_claim_the_same(part: str) -> None:
    claims = Counter(claim for language in LANGUAGES for claim in getattr(language, part))
    assert [claim for claim, times in claims.items() if times > 1] == []


def test_extensions_and_names_are_lower_case_as_they_are_looked_up() -> None:
    for language in LANGUAGES:
        for claim in (*language.extensions, *language.filenames, *language.language_ids):
            assert claim == claim.lower()
        assert all(extension.startswith(".") for extension in language.extensions)


def test_importing_the_package_loads_no_parser() -> None:
    code = "import sys, spark_lsp.syntax; print(sorted(name for name in sys.modules if name.startswith('tree_sitter')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
