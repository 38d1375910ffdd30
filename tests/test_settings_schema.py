"""The settings as documentation."""

from __future__ import annotations

import json
import re

import pytest

from spark_lsp import explanations, settings_schema
from spark_lsp.completion import Reason
from spark_lsp.settings import Settings, load
from spark_lsp.settings_files import tomllib
from tests.readme_sections import README, SECTIONS, replaced


def test_every_setting_has_a_meaning_and_its_own_key() -> None:
    settings = settings_schema.described()
    keys = [setting.key for setting in settings]
    assert len(set(keys)) == len(keys) > 25
    for setting in settings:
        assert setting.text.endswith("."), setting.key


def test_the_commented_file_holds_every_setting_with_its_default() -> None:
    text = settings_schema.commented_toml()
    assert tomllib.loads(text) == {group: {} for group in Settings.__dataclass_fields__}
    data = tomllib.loads(re.sub(r"^#(\w+ = )", r"\1", text, flags=re.MULTILINE))
    assert load(data) == (Settings(), [])
    assert sum(map(len, data.values())) == len(settings_schema.described())


def test_the_schema_says_types_bounds_and_choices() -> None:
    schema = json.loads(json.dumps(settings_schema.json_schema()))
    completion = schema["properties"]["completion"]["properties"]
    assert completion["maxTokens"]["type"] == "integer"
    assert (completion["maxTokens"]["minimum"], completion["maxTokens"]["maximum"]) == (1, 4096)
    assert completion["layout"]["enum"] == ["anchored", "plain"]
    assert completion["gate"] == {"type": "boolean", "default": True, "description": completion["gate"]["description"]}
    model = schema["properties"]["model"]["anyOf"]
    assert [choice["type"] for choice in model] == ["object", "string"]
    assert not schema["additionalProperties"]


@pytest.mark.parametrize("setting", settings_schema.described(), ids=lambda setting: setting.key)
def test_what_the_schema_says_is_what_is_accepted(setting: settings_schema.Setting) -> None:
    wrong = {"boolean": "yes", "integer": "1", "string": 1}[setting.type]
    assert load({setting.group: {setting.name: setting.default}}) == (Settings(), [])
    warnings = load({setting.group: {setting.name: wrong}})[1]
    assert len(warnings) == 1
    if setting.bounds is not None:
        assert not load({setting.group: {setting.name: setting.bounds[1]}})[1]
        assert load({setting.group: {setting.name: setting.bounds[1] + 1}})[1]


@pytest.mark.parametrize("name", sorted(SECTIONS))
def test_the_readme_says_what_the_program_says(name: str) -> None:
    text = README.read_text("utf-8")
    assert replaced(text, name, SECTIONS[name]()) == text, "run `python -m tests.readme_sections`"


def test_every_reason_is_explained_in_one_or_two_sentences() -> None:
    unseen = {Reason.OTHERS, Reason.DONE}  # no request is answered with them
    assert set(explanations.EXPLANATIONS) == set(Reason) - unseen
    assert len(set(explanations.EXPLANATIONS.values())) == len(explanations.EXPLANATIONS)
    for reason, text in explanations.EXPLANATIONS.items():
        assert 1 <= len(re.findall(r"[.](?= |$)", text)) <= 2, reason
        assert explanations.explain(reason.value) == text
    assert explanations.explain("") == "Nothing was asked yet."
