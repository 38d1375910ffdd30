"""Which files an import leads to, by their paths and on a disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from spark_lsp.context.imports import candidates
from spark_lsp.context.outline import outline
from spark_lsp.server import import_reader
from spark_lsp.server.import_reader import read_imports
from spark_lsp.syntax.languages import language_for
from spark_lsp.syntax.parser import parse

PYTHON, TYPESCRIPT = language_for("python", ""), language_for("typescript", "")
TREE = {
    "pkg/__init__.py": "from .ring import Ring\n",
    "pkg/ring.py": "class Ring: ...\n",
    "pkg/sub/__init__.py": "",
    "pkg/sub/deep.py": "x = 1\n",
    "src/other/tool.py": "y = 2\n",
    "web/a.ts": "export const a = 1;\n",
    "web/b/index.tsx": "export { c } from './c';\n",
    "web/b/c.js": "export const c = 1;\n",
    "web/types.d.ts": "declare const t: number;\n",
    "private/key.py": "k = 1\n",
    "pkg/secret_ring.py": "s = 1\n",
}
CASES = [
    ("python", "pkg/use.py", "from .ring import Ring", ["pkg/ring.py"]),
    ("python", "pkg/use.py", "from . import ring", ["pkg/ring.py", "pkg/__init__.py"]),
    ("python", "pkg/sub/use.py", "from ..ring import Ring", ["pkg/ring.py"]),
    ("python", "pkg/sub/use.py", "from .. import ring", ["pkg/ring.py", "pkg/__init__.py"]),
    ("python", "use.py", "import pkg.ring", ["pkg/ring.py"]),
    ("python", "use.py", "import pkg.ring as r, pkg.sub.deep", ["pkg/ring.py", "pkg/sub/deep.py"]),
    ("python", "use.py", "from pkg import Ring", ["pkg/__init__.py", "pkg/ring.py"]),
    ("python", "pkg/sub/use.py", "from deep import x", ["pkg/sub/deep.py"]),
    ("python", "use.py", "from other.tool import y", ["src/other/tool.py"]),
    ("python", "use.py", "import os", []),
    ("python", "use.py", "from ....far import x", []),
    ("python", "use.py", "from private.key import k", []),
    ("python", "pkg/use.py", "from .secret_ring import s", []),
    ("typescript", "web/use.ts", "import { a } from './a';", ["web/a.ts"]),
    ("typescript", "web/use.ts", "import { a } from './a.js';", ["web/a.ts"]),
    ("typescript", "web/use.ts", "import { c } from './b';", ["web/b/index.tsx", "web/b/c.js"]),
    ("typescript", "web/b/use.ts", "import { a } from '../a';", ["web/a.ts"]),
    ("typescript", "web/use.ts", "import type { t } from './types';", ["web/types.d.ts"]),
    ("typescript", "web/use.ts", "import react from 'react';", []),
    ("go", "use.go", 'import "pkg/ring"', []),
]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name, text in TREE.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def private(path: Path) -> bool:
    return "private" in path.parts or "secret" in path.name


@pytest.mark.parametrize(("language", "document", "text", "files"), CASES)
def test_an_import_leads_to_files(language: str, document: str, text: str, files: list[str], project: Path) -> None:
    found = read_imports(project / document, text + "\n", language_for(language, ""), [project], is_excluded=private)
    assert [path.relative_to(project).as_posix() for path, _ in found] == files
    assert all(source == TREE[path.relative_to(project).as_posix()] for path, source in found)


def test_nothing_outside_the_workspace_is_named() -> None:
    imports = outline(parse("from ...up import x\nimport y\n", PYTHON)).imports
    scripts = outline(parse("import z from '../../z';\n", TYPESCRIPT)).imports
    folder = Path("/project")
    named = [
        path
        for language, found in ((PYTHON, imports), (TYPESCRIPT, scripts))
        for one in found
        for group in candidates(one, folder / "a" / "use", [folder], language)
        for path in group
    ]
    assert named
    assert all(folder in path.parents for path in named)


def test_a_linked_folder_does_not_lead_out_of_the_workspace(
    project: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = tmp_path_factory.mktemp("outside")
    (outside / "mod.py").write_text("z = 1\n")
    (project / "linked").symlink_to(outside)
    assert read_imports(project / "use.py", "from linked import mod\n", PYTHON, [project], is_excluded=private) == []


def test_a_document_that_imports_everything_reads_a_bounded_number_of_files(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "from pkg import ring\nfrom pkg.sub import deep\nfrom other import tool\n"
    monkeypatch.setattr(import_reader, "IMPORTED_FILES", 2)
    assert len(read_imports(project / "use.py", text, PYTHON, [project], is_excluded=private)) == 2
    monkeypatch.setattr(import_reader, "IMPORTED_BYTES", 7)
    found = read_imports(project / "use.py", text, PYTHON, [project], is_excluded=private)
    assert sum(len(source) for _, source in found) <= 7
