"""Which files are read beside the open one, and what happens when they cannot be."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from spark_lsp.context.exclusions import looks_secret
from spark_lsp.server import neighbours
from spark_lsp.server.neighbours import (
    FILE_BYTES,
    FOLDER_ENTRIES,
    NEIGHBOUR_BYTES,
    NEIGHBOUR_FILES,
    FileEntry,
    choose_neighbours,
    is_neighbour_name,
    read_neighbours,
    read_source,
)
from spark_lsp.syntax.languages import language_for

PYTHON = language_for("python", "")


@pytest.mark.parametrize(
    ("name", "document", "language", "expected"),
    [
        ("b.py", "a.py", "python", True),
        ("b.pyi", "a.py", "python", True),
        ("B.PY", "a.py", "python", True),
        ("a.py", "a.py", "python", False),
        ("b.js", "a.py", "python", False),
        ("b", "a.py", "python", False),
        (".b.py", "a.py", "python", False),
        ("b.py~", "a.py", "python", False),
        ("b.pyc", "a.py", "python", False),
        ("b.h", "a.h", "cpp", True),
        ("b.cc", "a.h", "cpp", True),
        ("Makefile.am", "Makefile", "makefile", True),
        ("b.txt", "a.txt", "plaintext", False),
        ("aws_credentials.py", "a.py", "python", False),
        ("Client_Secret.json", "a.json", "json", False),
        ("prod.tfvars", "main.tf", "terraform", False),
        ("net.tf", "main.tf", "terraform", True),
        ("файл.py", "a.py", "python", True),
    ],
)
def test_by_its_name_a_file_is_read_or_not(name: str, document: str, language: str, expected: bool) -> None:
    assert is_neighbour_name(name, document, language_for(language, document)) is expected


@pytest.mark.parametrize(
    ("name", "secret"),
    [
        (".env", True),
        (".env.production", True),
        ("prod.env", True),
        ("server.pem", True),
        ("SERVER.KEY", True),
        ("id_rsa", True),
        ("id_ed25519.pub", True),
        (".netrc", True),
        ("db_passwords.yaml", True),
        ("environment.py", False),
        ("keyboard.py", False),
        ("token.py", False),
    ],
)
def test_names_that_look_like_secrets(name: str, secret: bool) -> None:
    assert looks_secret(name) is secret


def entry(name: str, size: int = 100, modified: float = 0.0) -> FileEntry:
    return FileEntry(name, size, modified)


@pytest.mark.parametrize(
    ("document", "entries", "expected"),
    [
        ("a.py", [], []),
        ("shop_view.py", [entry("other.py", modified=9), entry("shop_model.py")], ["shop_model.py", "other.py"]),
        ("ShopView.ts", [entry("cartModel.ts"), entry("shopModel.ts")], ["shopModel.ts", "cartModel.ts"]),
        ("test_shop.py", [entry("cart.py"), entry("shop.py"), entry("test_cart.py", modified=1)],
         ["test_cart.py", "shop.py", "cart.py"]),
        ("a.py", [entry("old.py", modified=1), entry("new.py", modified=2)], ["new.py", "old.py"]),
        ("a.py", [entry("z.py"), entry("b.py")], ["b.py", "z.py"]),
        ("a.py", [entry("empty.py", 0), entry("b.py", 1)], ["b.py"]),
        ("a.py", [entry("huge.py", FILE_BYTES + 1), entry("big.py", FILE_BYTES)], ["big.py"]),
    ],
)  # fmt: skip
def test_the_nearest_in_name_come_first_and_then_the_newest(
    document: str, entries: list[FileEntry], expected: list[str]
) -> None:
    assert [chosen.name for chosen in choose_neighbours(document, entries)] == expected


def test_number_and_size_are_bounded_and_a_small_file_still_finds_room() -> None:
    assert len(choose_neighbours("a.py", [entry(f"f{number}.py") for number in range(500)])) == NEIGHBOUR_FILES
    large = [entry(f"f{number}.py", FILE_BYTES, 2.0) for number in range(10)]
    chosen = choose_neighbours("a.py", [*large, entry("small.py", 500, 1.0)])
    assert sum(file.size for file in chosen) <= NEIGHBOUR_BYTES
    assert chosen[-1].name == "small.py"


def names(document: Path, **options: Any) -> set[str]:
    return {path.name for path, _ in read_neighbours(document, PYTHON, **options)}


def test_texts_are_read_from_the_own_folder_only(tmp_path: Path) -> None:
    (tmp_path / "package").mkdir()
    for name in ("a.py", "b.py", "package/c.py", "d.js"):
        (tmp_path / name).write_text(f"# {name}\n")
    assert list(read_neighbours(tmp_path / "a.py", PYTHON)) == [(tmp_path / "b.py", "# b.py\n")]
    assert names(tmp_path / "package" / "new.py") == {"c.py"}


def test_links_pipes_and_folders_are_not_read(tmp_path: Path) -> None:
    folder, outside = tmp_path / "folder", tmp_path / "outside.py"
    outside.write_text("x = 1\n")
    folder.mkdir()
    (folder / "link.py").symlink_to(outside)
    (folder / "folder.py").mkdir()
    os.mkfifo(folder / "pipe.py")
    assert names(folder / "a.py") == set()
    # Also when they take the place of a file after the folder was listed.
    assert [read_source(folder / name) for name in ("link.py", "folder.py", "pipe.py")] == [None] * 3


@pytest.mark.parametrize(
    ("case", "data", "expected"),
    [
        ("text", "größe = 1\r\n".encode(), "größe = 1\r\n"),
        ("a byte order mark", b"\xef\xbb\xbfx = 1\n", "x = 1\n"),
        ("Latin-1", b"gr\xf6\xdfe = 1\n", None),
        ("UTF-16", "x = 1\n".encode("utf-16"), None),
        ("a NUL far behind", b"x" * 20_000 + b"\0", None),
        ("as large as may be", b"x" * FILE_BYTES, "x" * FILE_BYTES),
        ("grown since it was listed", b"x" * (FILE_BYTES + 1), None),
    ],
    ids=lambda value: value if isinstance(value, str) and len(value) < 30 and "=" not in value else "",
)
def test_only_text_in_utf_8_is_read(tmp_path: Path, case: str, data: bytes, expected: str | None) -> None:
    (tmp_path / "a.py").write_bytes(data)
    assert read_source(tmp_path / "a.py") == expected


def test_excluded_files_are_neither_read_nor_do_they_take_the_place_of_others(tmp_path: Path) -> None:
    for number in range(NEIGHBOUR_FILES):
        (tmp_path / f"a_{number}.py").write_text("x = 1\n")
    (tmp_path / "b.py").write_text("y = 2\n")
    assert names(tmp_path / "a.py", is_excluded=lambda path: path.name.startswith("a_")) == {"b.py"}


def test_reading_stops_when_asked(tmp_path: Path) -> None:
    for name in "bcd":
        (tmp_path / f"{name}.py").write_text("x = 1\n")
    answers = iter([False, True])
    assert len(names(tmp_path / "a.py", stop=lambda: next(answers))) == 1


def test_a_file_that_vanished_or_cannot_be_read_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in "bcd":
        (tmp_path / f"{name}.py").write_text("x = 1\n")
    os_open = os.open

    def refuse(path: Path, flags: int) -> int:
        if path.name == "d.py":
            raise PermissionError(13, "Permission denied", str(path))
        return os_open(path, flags)

    monkeypatch.setattr(neighbours.os, "open", refuse)
    monkeypatch.setattr(
        neighbours, "choose_neighbours", lambda document, entries: sorted(entries, key=lambda e: e.name)
    )
    texts = read_neighbours(tmp_path / "a.py", PYTHON)
    assert next(texts)[0].name == "b.py"
    (tmp_path / "c.py").unlink()
    assert list(texts) == []


@pytest.mark.parametrize("problem", [PermissionError(13, "Permission denied"), FileNotFoundError(2, "No such file")])
def test_a_folder_that_cannot_be_listed_has_no_neighbours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, problem: OSError
) -> None:
    (tmp_path / "b.py").write_text("x = 1\n")

    def refuse(folder: Path) -> None:
        raise problem

    monkeypatch.setattr(neighbours.os, "scandir", refuse)
    assert names(tmp_path / "a.py") == set()


@pytest.mark.parametrize("document", ["/no/such/folder/a.py", "/bad\0folder/a.py"])
def test_a_document_that_is_on_no_disk_has_no_neighbours(document: str) -> None:
    assert names(Path(document)) == set()


def test_of_a_huge_folder_a_part_is_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    for number in range(60):
        (tmp_path / f"b{number}.py").write_text("x = 1\n")
    monkeypatch.setattr(neighbours, "FOLDER_ENTRIES", 10)
    names(tmp_path / "a.py", is_excluded=lambda path: asked.append(path) is not None)
    assert len(asked) == 10
    assert FOLDER_ENTRIES > 1_000
