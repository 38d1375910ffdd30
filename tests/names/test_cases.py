"""Which names exist, and which are not judged: the cases of `tests/cases/names`."""

from __future__ import annotations

from pathlib import Path

import pytest

from spark_lsp.documents.text import TextSnapshot
from spark_lsp.names.index import NameIndex
from spark_lsp.server.module_languages import MODULE_LANGUAGES
from spark_lsp.syntax.blocks import ScopeKind, scope_kind
from spark_lsp.syntax.parser import parse
from tests.names.cases import Case, all_cases

LINE_ENDS = ("\n", "\r\n")


@pytest.mark.parametrize("line_end", LINE_ENDS, ids=["LF", "CRLF"])
@pytest.mark.parametrize("case", all_cases(), ids=str)
def test_case(case: Case, line_end: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    for name, text in case.files.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    text = case.text.replace("\n", line_end)
    cursor = len(case.text[: case.cursor].replace("\n", line_end))
    reader = MODULE_LANGUAGES[case.language.name].reader(lambda path: "secret" in path.parts)
    index = NameIndex()
    index.use("main", reader.library(tmp_path / case.document, text, [tmp_path], stop=lambda: False))
    check = index.check("main", case.language, TextSnapshot.of(text), cursor)
    if check is None:
        assert set(case.expected) == {"open"}, "nothing is judged here"
        return
    if scope_kind(parse(text, case.language), cursor) is not ScopeKind.CODE:
        assert set(case.expected) == {"open"}, "the pipeline asks only in code"
        return
    for name in (*case.expected.get("knows", ()), *case.expected.get("open", ())):
        for written in (name[:1], name, f"{name} = 1"):
            assert check.look(written, -99).unknown is None, written
    for name in case.expected.get("refuses", ()):
        assert check.look(f"{name} + 1", -99, ended=True).unknown == 0, name
    if "open" in case.expected:
        assert check.look("nobody_knows_this = 1", -99).unknown is None
    if "open" in case.expected and case.language.name != "python":  # there, some are open to an assignment only
        assert check.look("nobody_knows_this + 1", -99).unknown is None
