"""The files beside a task are its workspace: their names are known, and no file of an installed copy is read."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from benchmarks.infilling.modules import index_modules
from benchmarks.infilling.tasks import Cut, OtherFile, Task
from spark_lsp.documents.text import TextSnapshot
from spark_lsp.names.index import NameIndex
from spark_lsp.pipeline import Pipeline
from spark_lsp.syntax.languages import language_for

PRICES = OtherFile("shop/prices.py", "def total_of(items): ...\n")


def refuses(task: Task, name: str) -> bool:
    index = NameIndex()
    index_modules(cast(Pipeline, SimpleNamespace(names=index)), task)
    check = index.check(
        task.path, language_for("python", ""), TextSnapshot.of(task.before + task.after), len(task.before)
    )
    assert check is not None
    return check.look(f"{name}(1)", -99).unknown == 0


def task_of(statement: str, **changes: Any) -> Task:
    before = f"{statement}\nx = 1 + prices."
    return Task("packages", "1", "shop", "python", "shop/main.py", before, "\n", "total_of(x)", Cut.LINE_END, **changes)


@pytest.mark.parametrize(
    "statement", ["from . import prices", "from shop import prices", "import shop.prices as prices"]
)
def test_names_of_a_file_beside_are_known(statement: str) -> None:
    task = task_of(statement, others=(PRICES,))
    assert not refuses(task, "total_of")
    assert refuses(task, "invented")


def test_an_installed_copy_of_the_package_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site = tmp_path / "lib/python3/site-packages"
    (site / "shop").mkdir(parents=True)
    (tmp_path / "pyvenv.cfg").write_text("version = {}.{}\n".format(*sys.version_info[:2]))
    (site / "shop/__init__.py").write_text("")
    (site / "shop/prices.py").write_text("def installed(): ...\n")
    (site / "tools.py").write_text("def wrench(): ...\n")
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    assert refuses(task_of("from shop import prices", others=(PRICES,)), "installed")
    other = task_of("import tools as prices", others=(PRICES,))
    assert not refuses(other, "wrench") and refuses(other, "invented"), "other packages are"


def test_a_task_without_files_beside_knows_the_standard_library() -> None:
    assert refuses(task_of("import json as prices"), "invented")
    assert not refuses(task_of("import json as prices"), "dumps")
