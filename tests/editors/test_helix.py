"""Helix: the shipped `languages.toml`, the command in it, and a client that behaves as Helix does.

Helix itself could not be had on the machines where this was written; `tests.editors.helix` stands for it.
"""

from __future__ import annotations

import asyncio
import json
import shlex
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from spark_lsp.syntax.languages import LANGUAGES
from tests.editors.helix import INCOMPLETE, INVOKED, Configuration, Helix, path_with
from tests.lsp.conftest import shown

pytestmark = pytest.mark.editors

REPOSITORY = Path(__file__).parents[2]
SHIPPED = Configuration.read(REPOSITORY / "editors" / "helix" / "languages.toml")
READY_SECONDS = 60.0
LOAD_SECONDS = 120.0
"""For loading the model on a busy machine."""
ANSWER_SECONDS = 120.0
"""For its first prompt."""
TEXT = "s = 'ä漢😀'\n"
LINE = "t = '😀é'; "
"""Multi-byte text before the cursor, on the line of the cursor too."""
BODY = "\n        return self.width * self.height"

Start = Callable[..., Awaitable[Helix]]


@pytest_asyncio.fixture
async def helix(tmp_path: Path) -> AsyncIterator[Start]:
    """Start what `languages.toml` names, with a program `spark-lsp` on the path that runs the scripted engine."""
    if sys.platform == "win32":
        pytest.skip("Helix: the stand-in for the spark-lsp program is a shell script")
    started: list[Helix] = []

    async def start(
        text: str = "", *, client: str = "helix-master", config: dict[str, Any] | None = None, **plan: Any
    ) -> Helix:
        programs = tmp_path / "bin"
        programs.mkdir(exist_ok=True)
        plan_file, program = tmp_path / "plan.json", programs / "spark-lsp"
        plan_file.write_text(json.dumps(plan))
        server = [sys.executable, "-m", "tests.lsp.scripted_server", str(plan_file)]
        program.write_text(f'#!/bin/sh\n[ "$*" = "--stdio" ] || exit 64\nexec {shlex.join(server)}\n')
        program.chmod(0o755)
        table = SHIPPED.server("spark")
        table = table if config is None else {**table, "config": config}
        found = await Helix.start(table, client, path_with(programs), tmp_path / "work.py", "python", text)
        started.append(found)
        await found.editor.ready(READY_SECONDS)
        return found

    yield start
    for one in started:
        assert await one.editor.stop() == 0


def test_the_shipped_file_starts_spark_for_each_of_its_languages() -> None:
    server = SHIPPED.server("spark")
    assert [server["command"], *server["args"]] == ["spark-lsp", "--stdio"]
    names = [entry["name"] for entry in SHIPPED.data["language"]]
    known = {identifier for language in LANGUAGES for identifier in language.language_ids}
    assert names
    assert set(names) <= known
    for name in names:
        servers = SHIPPED.servers_of(name)
        assert servers.count("spark") == 1
        assert len(servers) > 1, "the list replaces Helix's own, so it has to repeat that"


async def test_two_characters_of_a_word_bring_the_entry_and_each_further_one_keeps_it(helix: Start) -> None:
    editor = await helix(TEXT + LINE, script=[TEXT + LINE + "compute(1)"])
    await editor.type("c")
    assert editor.asked == []
    await editor.type("omp")
    assert editor.asked == [INVOKED, INCOMPLETE, INCOMPLETE]
    (entry,) = editor.menu
    assert entry["label"] == "compute(1)"
    assert (await editor.editor.status())["reasons"]["cached"] == 2


async def test_an_entry_takes_the_place_of_the_typed_word_behind_multi_byte_text(helix: Start) -> None:
    editor = await helix(TEXT + LINE, script=[TEXT + LINE + "compute('é')"])
    await editor.type("com")
    (entry,) = editor.menu
    editor.accept(entry)
    assert editor.text == TEXT + LINE + "compute('é')"
    assert editor.editor.cursor(editor.uri) == len(editor.text)


async def test_an_entry_of_several_lines_is_inserted_as_it_is(helix: Start) -> None:
    line = "    def area(self):"
    editor = await helix("class Box:\n    def ar", script=[line + BODY])
    await editor.ask_by_hand()
    (entry,) = editor.menu
    editor.accept(entry)
    assert editor.text == "class Box:\n" + line + BODY
    assert "\n" not in entry["label"]


async def test_no_character_triggers_by_itself_but_the_key_does(helix: Start) -> None:
    """The server announces no trigger characters: a menu at each bracket and space would be in the way."""
    editor = await helix("", script=["value = compute(1, 2)"])
    await editor.type("value = compute(")
    asked = len(editor.asked)
    await editor.type("1, ")
    assert len(editor.asked) == asked
    assert editor.menu == []
    await editor.ask_by_hand()
    (entry,) = editor.menu
    editor.accept(entry)
    assert editor.text == "value = compute(1, 2)"


async def test_a_word_that_is_something_else_has_no_entry(helix: Start) -> None:
    editor = await helix("", script=["value = compute(1)"])
    await editor.type("val")
    assert len(editor.menu) == 1
    await editor.type("x")
    assert editor.menu == []


@pytest.mark.parametrize(
    "config", [{"completion": {"fallback": "off"}}, {"spark": {"completion": {"fallback": "off"}}}]
)
async def test_config_holds_the_settings_bare_or_under_spark(helix: Start, config: dict[str, Any]) -> None:
    editor = await helix("", config=config, script=[])
    assert "completionProvider" not in editor.editor.capabilities
    assert shown(editor.editor) == []


async def test_the_shipped_settings_are_taken_without_a_word(helix: Start) -> None:
    editor = await helix("", script=[])
    assert editor.editor.capabilities["completionProvider"] == {}
    assert shown(editor.editor) == []


async def test_a_wrong_setting_is_told(helix: Start) -> None:
    editor = await helix("", config={"completion": {"maxLine": 1}}, script=[])
    assert any("completion.maxLine" in message for message in shown(editor.editor))


async def test_with_the_pull_request_the_same_file_gives_ghost_text_and_no_menu(helix: Start) -> None:
    editor = await helix(TEXT + LINE, client="helix-pr14876", script=[TEXT + LINE + "compute('é')"])
    assert "completionProvider" not in editor.editor.capabilities
    editor.editor.type(editor.uri, "co")
    (item,) = await editor.inline()
    assert item["ghost"] == "mpute('é')"
    editor.accept_inline(item)
    assert editor.text == TEXT + LINE + "compute('é')"


async def test_with_the_pull_request_nothing_is_shown_where_there_is_nothing(helix: Start) -> None:
    editor = await helix("other", client="helix-pr14876", script=["value = 1"])
    assert await editor.inline() == []


@pytest.mark.model
@pytest.mark.timeout(600)
async def test_the_real_program_and_model_complete_behind_multi_byte_text(model_path: Path, tmp_path: Path) -> None:
    programs = Path(sys.executable).parent
    if not (programs / "spark-lsp").exists():
        pytest.skip("Helix: no spark-lsp program beside this Python; install the project first")
    assert model_path.exists()
    text = "# 📐 漢字\nclass Rectangle:\n    def __init__(self, width, height):\n        self.width = width\n"
    text += "        self.height = height\n\n    def area(self):\n        return self.wi"
    table = SHIPPED.server("spark")
    editor = await Helix.start(table, "helix-master", path_with(programs), tmp_path / "rectangle.py", "python", text)
    try:
        status = await editor.editor.ready(LOAD_SECONDS)
        assert status["engine"] == "idle", status["message"]
        await editor.type("d")
        deadline = asyncio.get_running_loop().time() + ANSWER_SECONDS
        while not any(entry["textEdit"]["newText"].startswith("width * self.height") for entry in editor.menu):
            assert asyncio.get_running_loop().time() < deadline, (editor.menu, await editor.editor.status())
            await editor.ask_by_hand()
        entry = editor.menu[0]
        editor.accept(entry)
        assert editor.text == text.removesuffix("wi") + entry["textEdit"]["newText"]
    finally:
        await editor.editor.stop()
