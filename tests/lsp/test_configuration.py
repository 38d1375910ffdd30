"""Settings while the server runs: pulled, pushed, from files; a change holds at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from spark_lsp.server.editor import Editor
from spark_lsp.settings_files import FILE_VARIABLE
from tests.lsp.conftest import CAPABILITIES, StartScripted, sent, shown, until
from tests.lsp.test_workspace import save

URI = "file:///a.py"
SCRIPT = ["def f():\n    a = 1\n    b = 2\n"]
METHOD = "workspace/didChangeConfiguration"
FEW = {"completion": {"maxLines": 1}}


async def lines(editor: Editor, uri: str = URI) -> int:
    """Return how many lines a suggestion has."""
    text = await editor.complete(uri, invoked=True)
    return len(text.splitlines())


def configure(editor: Editor, settings: Any) -> None:
    editor.notify(METHOD, {"settings": settings})


@pytest.mark.parametrize("pushed", [FEW, {"spark": FEW}, {"spark.completion.maxLines": 1}], ids=str)
async def test_pushed_settings_hold_for_the_next_request(scripted: StartScripted, pushed: Any) -> None:
    editor = await scripted(script=SCRIPT)
    editor.open(URI, "python", "def f():\n")
    assert await lines(editor) == 2
    configure(editor, pushed)
    assert await lines(editor) == 1
    configure(editor, {"spark": {}})
    assert await lines(editor) == 2
    assert shown(editor) == []


async def test_the_client_is_asked_if_it_can_be(scripted: StartScripted) -> None:
    answers: dict[str, Any] = {"workspace/configuration": [FEW]}
    editor = await scripted(script=SCRIPT, client={"capabilities": CAPABILITIES}, answers=answers)
    assert sent(editor, "workspace/configuration") == [{"items": [{"section": "spark"}]}]
    editor.open(URI, "python", "def f():\n")
    assert await lines(editor) == 1
    answers["workspace/configuration"] = [{"completion": {"maxLines": 2}}]
    configure(editor, None)

    async def longer() -> bool:
        return await lines(editor) == 2

    await until(longer)


@pytest.mark.parametrize("answer", [None, [], [None], [5], "no", {"a": 1}], ids=str)
async def test_an_answer_of_no_use_leaves_the_settings(scripted: StartScripted, answer: Any) -> None:
    answers = {"workspace/configuration": answer}
    initialize = {"capabilities": CAPABILITIES}
    editor = await scripted(script=SCRIPT, options=FEW, client=initialize, answers=answers)
    editor.open(URI, "python", "def f():\n")
    assert await lines(editor) == 1


async def test_changes_are_registered_where_the_client_wants_that(scripted: StartScripted) -> None:
    dynamic = {"didChangeConfiguration": {"dynamicRegistration": True}}
    editor = await scripted(client={"capabilities": {**CAPABILITIES, "workspace": dynamic}})

    async def registrations() -> list[Any]:
        return sent(editor, "client/registerCapability")

    (registration,) = (await until(registrations))[0]["registrations"]
    assert (registration["method"], registration["registerOptions"]) == (METHOD, {"section": "spark"})


async def test_a_wrong_key_is_named_once_however_often_it_is_sent(scripted: StartScripted) -> None:
    editor = await scripted(script=SCRIPT, options={"completion": {"maxLine": 1}})
    editor.open(URI, "python", "def f():\n")
    for _ in range(3):
        configure(editor, {"spark": {"completion": {"maxLine": 1, "maxLines": "many"}}})
    assert await lines(editor) == 2
    warnings = shown(editor)
    assert len(warnings) == 2
    assert "`completion.maxLine` is unknown" in warnings[0]
    assert "`completion.max_lines` is 'many'; it must be of type int" in warnings[1]


@pytest.mark.parametrize("settings", [5, "x", [1], {"spark": 5}, {"spark": [{}]}, {"completion": None}], ids=str)
async def test_settings_of_any_shape_do_no_harm(scripted: StartScripted, settings: Any) -> None:
    editor = await scripted(script=SCRIPT)
    editor.open(URI, "python", "def f():\n")
    configure(editor, settings)
    editor.notify(METHOD, {})
    assert await lines(editor) == 2


async def test_files_say_what_the_editor_does_not(
    scripted: StartScripted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own, folder = tmp_path / "own.toml", tmp_path / "project"
    folder.mkdir()
    own.write_text("[completion]\nmaxLines = 1\n")
    monkeypatch.setenv(FILE_VARIABLE, str(own))
    uri, file = (folder / "a.py").as_uri(), folder / "spark-lsp.toml"
    editor = await scripted(script=SCRIPT, folder=folder)
    editor.open(uri, "python", "def f():\n")
    assert await lines(editor, uri) == 1
    file.write_text("[completion]\nmaxLines = 2\n")
    editor.open(file.as_uri(), "toml", file.read_text())
    save(editor, file.as_uri())
    assert await lines(editor, uri) == 2
    configure(editor, {"spark": FEW})
    assert await lines(editor, uri) == 1


async def test_the_command_line_beats_files_and_the_editor_beats_the_command_line(
    scripted: StartScripted, tmp_path: Path
) -> None:
    (tmp_path / "spark-lsp.toml").write_text("[completion]\nmaxLines = 1\nmaxTokens = 50\n")
    flags = {"completion": {"maxLines": 2}}
    editor = await scripted(script=SCRIPT, folder=tmp_path, flags=flags)
    editor.open(URI, "python", "def f():\n")
    assert await lines(editor) == 2
    editor = await scripted(script=SCRIPT, folder=tmp_path, flags=flags, options=FEW)
    editor.open(URI, "python", "def f():\n")
    assert await lines(editor) == 1


async def test_turning_completions_off_and_on(scripted: StartScripted) -> None:
    editor = await scripted(script=SCRIPT)
    editor.open(URI, "python", "def f():\n")
    configure(editor, {"spark": {"completion": {"enabled": False}}})
    assert await lines(editor) == 0
    assert (await editor.status())["lastReason"] == "disabled"
    configure(editor, {"spark": {"completion": {"enabled": True}}})
    assert await lines(editor) == 2


async def test_exclusions_can_be_turned_off_and_on(scripted: StartScripted, tmp_path: Path) -> None:
    editor = await scripted(script=SCRIPT, folder=tmp_path)
    uri = (tmp_path / "secret.py").as_uri()
    editor.open(uri, "python", "def f():\n")
    for enabled, count in [(True, 0), (False, 2), (True, 0)]:
        configure(editor, {"spark": {"context": {"exclusions": enabled}}})

        async def follows(count: int = count) -> bool:
            return await lines(editor, uri) == count

        await until(follows)


async def test_parts_of_the_context_that_are_turned_on_get_what_is_open(scripted: StartScripted) -> None:
    editor = await scripted(script=SCRIPT)
    editor.open(URI, "python", "def f():\n")
    assert await lines(editor) == 2
    configure(editor, {"spark": {"context": {"recent": True, "snippets": True}}})
    assert await lines(editor) == 2
    editor.type(URI, "    a")
    assert await editor.complete(URI) == " = 1\n    b = 2"


MODELS = {
    "big": {"script": ["x = 99\n"]},
    "broken": {"fail": "The model broken is not on this machine."},
    "other": {"script": ["x = 77\n"]},
}


async def answered(editor: Editor, text: str) -> None:
    async def found() -> bool:
        return await editor.complete(URI, invoked=True) == text

    await until(found)


async def test_another_model_is_used_without_a_restart(scripted: StartScripted) -> None:
    editor = await scripted(script=["x = 42\n"], models=MODELS)
    editor.open(URI, "python", "x = ")
    assert await editor.complete(URI, invoked=True) == "42"
    configure(editor, {"spark": {"model": "big"}})
    await answered(editor, "99")
    assert (await editor.status())["model"] == "big"
    configure(editor, {"spark": {"model": {"name": "other"}}})
    await answered(editor, "77")
    assert shown(editor) == []
    begun = [p["value"] for p in sent(editor, "$/progress") if p["value"]["kind"] == "begin"]
    assert len(begun) == 3


async def test_while_another_model_is_loaded_the_server_says_loading(scripted: StartScripted, tmp_path: Path) -> None:
    go = tmp_path / "go"
    models = {"slow": {"script": ["x = 77\n"], "load_until": str(go)}}
    editor = await scripted(script=["x = 42\n"], models=models)
    editor.open(URI, "python", "x = ")
    configure(editor, {"spark": {"model": "slow"}})

    async def loading() -> bool:
        status = await editor.status()
        return (status["engine"], status["model"]) == ("loading", "slow")

    await until(loading)
    assert await editor.complete(URI, invoked=True) == ""
    assert (await editor.status())["lastReason"] == "loading"
    go.touch()
    await answered(editor, "77")


async def test_a_model_that_cannot_be_loaded_is_one_sentence_and_the_old_one_stays(scripted: StartScripted) -> None:
    editor = await scripted(script=["x = 42\n"], models=MODELS)
    editor.open(URI, "python", "x = ")
    configure(editor, {"spark": {"model": "broken"}})

    async def told() -> list[str]:
        return shown(editor)

    (sentence,) = await until(told)
    assert sentence.startswith("The model broken is not on this machine.")
    assert sentence.endswith("scripted stays in use.")
    assert await editor.complete(URI, invoked=True) == "42"
    configure(editor, {"spark": {"model": "broken", "completion": {"maxLines": 1}}})  # not tried again for that
    configure(editor, {"spark": {"model": "big"}})
    await answered(editor, "99")
    assert len(shown(editor)) == 1


async def test_the_first_model_is_the_one_that_the_client_names_when_it_is_asked(scripted: StartScripted) -> None:
    answers = {"workspace/configuration": [{"model": "big"}]}
    editor = await scripted(models=MODELS, client={"capabilities": CAPABILITIES}, answers=answers)
    editor.open(URI, "python", "x = ")
    assert await editor.complete(URI, invoked=True) == "99"
    begun = [p["value"] for p in sent(editor, "$/progress") if p["value"]["kind"] == "begin"]
    assert len(begun) == 1
