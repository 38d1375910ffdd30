"""Where settings come from, and which win."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from spark_lsp.models.catalogue import CATALOGUE
from spark_lsp.settings import Settings
from spark_lsp.settings_files import FILE_VARIABLE, read_file, user_file
from spark_lsp.settings_layers import Layer, combined, file_layers, unwrapped

LINES = {"completion": {"maxLines": 3}}


def lines(*layers: Any) -> int:
    settings, warnings = combined(Settings(), [Layer(layer) for layer in layers])
    assert not warnings
    return settings.completion.max_lines


def test_a_later_layer_wins_for_the_keys_that_it_has() -> None:
    assert lines(LINES, {"completion": {"maxLines": 4}}) == 4
    assert lines(LINES, {"completion": {"maxTokens": 9}}, None, {}) == 3


def test_null_is_no_value() -> None:
    assert lines(LINES, {"completion": {"maxLines": None}}, {"completion": None}) == 3


@pytest.mark.parametrize(
    "sent",
    [
        LINES,
        {"spark": LINES},
        {"settings": {"spark": LINES}},
        {"spark-lsp": LINES},
        {"spark_lsp": LINES},
        {"settings": LINES},
        {"spark.completion.maxLines": 3},
        {"spark.completion": {"maxLines": 3}},
        {"completion.maxLines": 3},
        {"python": {"analysis": {}}, "spark": LINES},
        {"spark": {"spark": LINES}},
    ],
)
def test_clients_wrap_settings_in_several_ways(sent: Any) -> None:
    assert lines(unwrapped(sent, addressed=False)) == 3


@pytest.mark.parametrize("sent", [None, {}, {"settings": {}}, {"pylsp": {"plugins": {}}}, {"http": {}}])
def test_what_is_for_another_server_says_nothing_to_us(sent: Any) -> None:
    assert unwrapped(sent, addressed=False) is None


def test_an_empty_section_of_ours_takes_back_what_it_said() -> None:
    assert unwrapped({"spark": {}}, addressed=False) == {}


def test_in_what_is_addressed_to_us_a_wrong_key_is_named_but_not_what_every_server_is_sent() -> None:
    sent = {"editorInfo": {"name": "x"}, "editorPluginInfo": {"name": "y"}, "complation": {}}
    _, warnings = combined(Settings(), [Layer(unwrapped(sent, addressed=True))])
    assert warnings == ["The setting `complation` is unknown and was ignored."]


def test_a_warning_says_in_which_file_the_key_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own, folder = tmp_path / "own.toml", tmp_path / "project"
    folder.mkdir()
    monkeypatch.setenv(FILE_VARIABLE, str(own))
    own.write_text("[completion]\nmaxLines = 5\nmaxTokens = 50\nmax_line = 1\n")
    (folder / "spark-lsp.toml").write_text("[completion]\nmax_lines = 6\ndeadlineMs = 'soon'\n")
    settings, warnings = combined(Settings(), file_layers([folder]))
    assert (settings.completion.max_lines, settings.completion.max_tokens) == (6, 50)
    assert len(warnings) == 2
    assert warnings[0] == f"The setting `completion.max_line` is unknown and was ignored. ({own})"
    assert "completion.deadline_ms" in warnings[1]
    assert str(folder / "spark-lsp.toml") in warnings[1]


def test_of_several_workspace_folders_the_first_one_wins(tmp_path: Path) -> None:
    folders = [tmp_path / "a", tmp_path / "b"]
    for number, folder in enumerate(folders):
        folder.mkdir()
        (folder / "spark-lsp.toml").write_text(f"[completion]\nmaxLines = {number + 1}\n")
    assert combined(Settings(), file_layers(folders))[0].completion.max_lines == 1


@pytest.mark.parametrize("content", [b"[completion\n", b"\xff\xfe", b"x = 1\nx = 2\n", b"a=" + b"[" * 100_000])
def test_a_file_that_is_not_toml_is_one_sentence(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "spark-lsp.toml"
    file.write_bytes(content)
    data, trouble = read_file(file)
    assert data is None
    assert trouble.startswith(f"The settings in {file} were ignored")
    _, warnings = combined(Settings(), [Layer(data, str(file), trouble=trouble)])
    assert warnings == [trouble]


def test_a_missing_file_is_no_trouble(tmp_path: Path) -> None:
    assert read_file(tmp_path / "none.toml") == (None, "")
    assert read_file(tmp_path / "none" / "none.toml") == (None, "")
    assert not user_file().exists(), "tests have a config directory of their own"


@pytest.mark.parametrize(
    "text",
    [
        "model = './evil.gguf'",
        "[model]\nname = '/tmp/evil.gguf'",
        "[spark.model]\nname = 'evil.gguf'",
        "[spark.spark.spark.spark.model]\nname = 'evil.gguf'",
        "'model.name' = 'evil.gguf'",
        "[model]\ndraft = 'evil.gguf'",
        "[model]\ndownload = true",
        f"[model]\nname = '{CATALOGUE[0].name[:-2]}'",
    ],
)
def test_a_workspace_cannot_make_the_server_load_a_file_or_download(tmp_path: Path, text: str) -> None:
    (tmp_path / "spark-lsp.toml").write_text(text + "\n")
    settings, warnings = combined(Settings(), file_layers([tmp_path]))
    assert settings == Settings()
    assert len(warnings) == 1
    assert "a workspace may only choose" in warnings[0]


def test_a_workspace_may_choose_a_model_of_the_catalogue_and_the_user_any_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = CATALOGUE[-1].name
    (tmp_path / "spark-lsp.toml").write_text(f"model = '{name}'\n")
    assert combined(Settings(), file_layers([tmp_path]))[0].model.name == name
    own = tmp_path / "own.toml"
    own.write_text("[model]\nname = '/models/mine.gguf'\ndownload = true\n")
    monkeypatch.setenv(FILE_VARIABLE, str(own))
    settings, warnings = combined(Settings(), file_layers([]))
    assert (settings.model.name, settings.model.download, warnings) == ("/models/mine.gguf", True, [])
