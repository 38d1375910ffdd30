"""Which names exist, and which are not judged: the cases of `tests/cases/names`."""

from __future__ import annotations

from pathlib import Path

import pytest

from spark_lsp.documents.text import TextSnapshot
from spark_lsp.names.index import NameIndex
from spark_lsp.server.interpreters import interpreter_of
from spark_lsp.server.module_reader import ModuleReader
from spark_lsp.syntax.blocks import ScopeKind, scope_kind
from spark_lsp.syntax.languages import language_for
from spark_lsp.syntax.parser import parse
from tests.names.cases import Case, all_cases

PYTHON = language_for("python", "")
LINE_ENDS = ("\n", "\r\n")


@pytest.mark.parametrize("line_end", LINE_ENDS, ids=["LF", "CRLF"])
@pytest.mark.parametrize("case", all_cases(), ids=str)
def test_case(case: Case, line_end: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    for name, text in case.files.items():
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
    text = case.text.replace("\n", line_end)
    cursor = len(case.text[: case.cursor].replace("\n", line_end))
    reader = ModuleReader(is_excluded=lambda path: "secret" in path.parts)
    index = NameIndex()
    index.use("main", reader.library(tmp_path / "main.py", text, [tmp_path], interpreter_of([tmp_path])))
    check = index.check("main", PYTHON, TextSnapshot.of(text), cursor)
    assert check is not None
    if scope_kind(parse(text, PYTHON), cursor) is not ScopeKind.CODE:
        assert set(case.expected) == {"open"}, "the pipeline asks only in code"
        return
    for name in (*case.expected.get("knows", ()), *case.expected.get("open", ())):
        for written in (name[:1], name, f"{name} = 1"):
            assert check.look(written, -99).unknown is None, written
    for name in case.expected.get("refuses", ()):
        assert check.look(f"{name} + 1", -99).unknown == 0, name
    if "open" in case.expected:
        assert check.look("nobody_knows_this = 1", -99).unknown is None
