"""The configuration files that are shipped for editors: each is read, its command is ours, its settings exist."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from spark_lsp import settings_schema
from spark_lsp.settings import SECTION, load
from spark_lsp.syntax.languages import LANGUAGES

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

EDITORS = Path(__file__).parents[2] / "editors"
WRITTEN_HERE = ("helix", "sublime", "kate", "jetbrains", "zed", "compat")
COMMAND = ["spark-lsp", "--stdio"]
_BLOCK = re.compile(r"^```(json|toml)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def parsed(relative: str) -> Any:
    return json.loads((EDITORS / relative).read_text(encoding="utf-8"))


HELIX = tomllib.loads((EDITORS / "helix" / "languages.toml").read_text(encoding="utf-8"))["language-server"]["spark"]
SUBLIME = parsed("sublime/LSP.sublime-settings")["clients"]["spark-lsp"]
KATE = parsed("kate/settings.json")["servers"]["python"]
JETBRAINS = parsed("jetbrains/spark-lsp/template.json")


def nested(dotted: dict[str, Any]) -> dict[str, Any]:
    """What Sublime Text's LSP package makes of keys with dots."""
    result: dict[str, Any] = {}
    for key, value in dotted.items():
        *groups, name = key.split(".")
        inner = result
        for group in groups:
            inner = inner.setdefault(group, {})
        inner[name] = value
    return result


@pytest.mark.parametrize(
    "command",
    [
        pytest.param([HELIX["command"], *HELIX["args"]], id="helix"),
        pytest.param(SUBLIME["command"], id="sublime"),
        pytest.param(parsed("sublime/LSP-copilot.sublime-settings")["command"], id="lsp-copilot"),
        pytest.param(KATE["command"], id="kate"),
        pytest.param(JETBRAINS["programArgs"]["default"].split(), id="jetbrains"),
    ],
)
def test_the_command_is_the_one_that_starts_the_server(command: list[str]) -> None:
    assert command == COMMAND


@pytest.mark.parametrize(
    "settings",
    [
        pytest.param(HELIX["config"], id="helix"),
        pytest.param(nested(SUBLIME["settings"]), id="sublime"),
        pytest.param(KATE["initializationOptions"], id="kate"),
        pytest.param(parsed("jetbrains/spark-lsp/initializationOptions.json"), id="jetbrains-options"),
        pytest.param(parsed("jetbrains/spark-lsp/settings.json"), id="jetbrains-settings"),
    ],
)
def test_each_setting_is_in_the_schema_and_its_value_is_taken(settings: dict[str, Any]) -> None:
    assert load(settings)[1] == []
    inner = settings.get(SECTION, settings)
    known = {setting.key for setting in settings_schema.described()}
    assert {f"{group}.{name}" for group, members in inner.items() for name in members} <= known


def test_file_patterns_of_jetbrains_are_those_of_the_language() -> None:
    mappings = JETBRAINS["fileTypeMappings"]
    assert mappings
    for mapping in mappings:
        language = next(one for one in LANGUAGES if mapping["languageId"] in one.language_ids)
        endings = {pattern.removeprefix("*") for pattern in mapping["fileType"]["patterns"]}
        assert endings <= set(language.extensions), mapping


def blocks() -> Iterator[Any]:
    for folder in WRITTEN_HERE:
        for file in sorted((EDITORS / folder).rglob("*.md")):
            for number, (kind, text) in enumerate(_BLOCK.findall(file.read_text(encoding="utf-8")), 1):
                yield pytest.param(kind, text, id=f"{file.relative_to(EDITORS)}-{number}")


@pytest.mark.parametrize(("kind", "text"), list(blocks()))
def test_what_a_readme_tells_to_copy_can_be_read(kind: str, text: str) -> None:
    assert tomllib.loads(text) if kind == "toml" else json.loads(text)


@pytest.mark.parametrize("folder", WRITTEN_HERE)
def test_each_folder_says_how_it_was_tested(folder: str) -> None:
    assert "## How it is tested" in (EDITORS / folder / "README.md").read_text(encoding="utf-8")
