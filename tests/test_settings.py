"""What users write into settings, and what they are told about it."""

from __future__ import annotations

from typing import Any

import pytest

from spark_lsp.models.catalogue import DEFAULT_MODEL
from spark_lsp.settings import ContextSettings, Settings, from_flags, load


def test_nothing_given_means_the_defaults() -> None:
    assert load(None) == (Settings(), [])
    assert Settings().model.name == DEFAULT_MODEL


@pytest.mark.parametrize(
    "given",
    [
        {"completion": {"maxTokens": 7}},
        {"completion": {"max_tokens": 7}},
        {"spark": {"completion": {"maxTokens": 7}}},
        {"completion": {"maxTokens": 7.0}},
    ],
    ids=["camelCase", "snake_case", "under the section", "a whole number from JavaScript"],
)
def test_a_setting_can_be_written_in_several_ways(given: dict[str, Any]) -> None:
    settings, warnings = load(given)
    assert settings.completion.max_tokens == 7
    assert not warnings


def test_every_part_of_the_context_is_a_switch_and_what_was_not_measured_is_off() -> None:
    assert Settings().context == ContextSettings(
        definitions=False, recent=False, snippets=False, diagnostics=False, exclusions=True
    )
    assert not Settings().context.shows_anything
    settings, warnings = load({"context": {"recent": True, "exclusions": False, "snippets": 1}})
    assert settings.context == ContextSettings(recent=True, exclusions=False)
    assert len(warnings) == 1
    assert "context.snippets" in warnings[0]


def test_a_model_may_be_given_by_name_alone() -> None:
    assert load({"model": "mine.gguf"})[0].model.name == "mine.gguf"


def test_a_draft_model_is_optional_and_named_like_any_setting() -> None:
    assert Settings().model.draft == ""
    settings, warnings = load({"model": {"name": "large.gguf", "draft": "small.gguf"}})
    assert (settings.model.name, settings.model.draft, warnings) == ("large.gguf", "small.gguf", [])
    settings, warnings = load({"model": "other.gguf"}, settings)
    assert (settings.model.name, settings.model.draft) == ("other.gguf", "small.gguf")
    assert from_flags("large.gguf", optimized=True, draft="small.gguf").model.draft == "small.gguf"


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"complete": {}}, "`complete` is unknown"),
        ({"completion": {"maxToken": 3}}, "`completion.maxToken` is unknown"),
        ({"completion": {"maxTokens": "many"}}, "`completion.max_tokens` is 'many'; it must be of type int"),
        ({"completion": {"maxTokens": True}}, "must be of type int"),
        ({"completion": {"maxTokens": 0}}, "must lie between 1 and 4096"),
        ({"completion": {"layout": "fancy"}}, "must be one of 'anchored', 'plain'"),
        ({"model": {"draft": 3}}, "`model.draft` is 3; it must be of type str"),
        ({"completion": 3}, "must be an object"),
        ({"spark": 3}, "must be an object"),
        ([1], "must be an object"),
    ],
)
def test_what_cannot_be_used_is_named_once_and_the_rest_holds(given: Any, words: str) -> None:
    settings, warnings = load(given)
    assert settings == Settings()
    assert len(warnings) == 1
    assert words in warnings[0]


def test_good_settings_beside_a_bad_one_are_used() -> None:
    settings, warnings = load({"completion": {"maxTokens": 5, "maxLines": -1}})
    assert settings.completion.max_tokens == 5
    assert len(warnings) == 1
