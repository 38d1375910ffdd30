"""Whatever the rules and the files: what is excluded never gets into a prompt's extras."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from spark_lsp.context.exclusions import Exclusions
from spark_lsp.context.sources import ContextSources, SourceText
from spark_lsp.context.window import WindowLimits, choose_window
from spark_lsp.documents.text import TextSnapshot
from spark_lsp.server.import_reader import read_imports
from spark_lsp.server.neighbours import read_neighbours
from spark_lsp.settings import ContextSettings
from spark_lsp.syntax.languages import language_for
from spark_lsp.syntax.parser import parse

PYTHON = language_for("python", "")
FILES = ("near.py", "other.py", "secret_b.py", "pkg/__init__.py", "pkg/a.py", "pkg/deep/b.py")
RULES = ("near.py", "pkg/", "*.py", "!near.py", "/pkg/a.py", "deep", "!pkg/", "a.py", "**/b.py", "# note")
MAIN = "import near, other, secret_b\nfrom pkg import a\nfrom pkg.deep import b\nmark(shared_one, shared_two, "
ignore_files = st.dictionaries(
    st.sampled_from([".gitignore", ".sparkignore", "pkg/.gitignore", "pkg/deep/.sparkignore"]),
    st.lists(st.sampled_from(RULES), max_size=3),
    max_size=3,
)


def marker(name: str) -> str:
    return "mark_" + "".join(character if character.isalnum() else "_" for character in name)


@settings(max_examples=40, deadline=None)
@given(ignore_files)
def test_extras_never_hold_the_text_of_an_excluded_file(rules: dict[str, list[str]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for name in FILES:
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            # Each has a word of its own, and enough in common with the cursor's surroundings to be chosen.
            (root / name).write_text(f"def {marker(name)}(shared_one, shared_two): ...\n")
        for name, lines in rules.items():
            (root / name).write_text("\n".join(lines))
        exclusions, sources = Exclusions(), ContextSources(ContextSettings(definitions=True, snippets=True))
        exclusions.use_roots([root])
        text = MAIN + ", ".join(map(marker, FILES))
        document = root / "main.py"
        sources.put(SourceText(str(document), "main.py", "", PYTHON, TextSnapshot.of(text)), "doc")
        imported = read_imports(document, text, PYTHON, [root], is_excluded=exclusions.is_excluded)
        near = read_neighbours(document, PYTHON, is_excluded=exclusions.is_excluded)
        for path, read in [*imported, *near]:
            sources.put(SourceText(str(path), path.name, "", PYTHON, TextSnapshot.of(read)))
        sources.link("doc", [str(path) for path, _ in imported])
        while sources.work("doc"):
            pass
        tree = parse(text, PYTHON)
        limits = WindowLimits(prefix_tokens=100, suffix_tokens=10)
        window = choose_window(None, TextSnapshot.of(text), tree, len(text), limits)
        shown = "".join(chunk.text for chunk in sources.choose("doc", tree, window, 5000).chunks)
        allowed = {name for name in FILES if not exclusions.is_excluded(root / name)}
        assert {name for name in FILES if marker(name) in shown} == allowed
