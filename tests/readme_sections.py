"""`python -m tests.readme_sections`: writes the tables of the README that the program itself knows.

Each stands between `<!-- spark_lsp.NAME -->` and the next `<!-- end -->`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from spark_lsp import explanations, settings_schema

README = Path(__file__).resolve().parent.parent / "README.md"
SECTIONS: dict[str, Callable[[], str]] = {
    "settings": settings_schema.markdown_table,
    "reasons": explanations.markdown_table,
}


def replaced(readme: str, name: str, table: str) -> str:
    """Return `readme` with `table` in the section `name`; ValueError if it has no such section."""
    section = re.compile(rf"(<!-- spark_lsp\.{re.escape(name)} -->\n)(?:(?!<!-- ).)*(<!-- end -->)", re.DOTALL)
    text, count = section.subn(lambda match: f"{match[1]}\n{table}\n{match[2]}", readme)
    if count != 1:
        raise ValueError(f"README.md has {count} sections `<!-- spark_lsp.{name} -->` ... `<!-- end -->`, not one.")
    return text


if __name__ == "__main__":
    text = README.read_text("utf-8")
    for name, table in SECTIONS.items():
        text = replaced(text, name, table())
    README.write_text(text, "utf-8")
