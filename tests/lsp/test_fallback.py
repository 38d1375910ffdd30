"""`textDocument/completion`: one entry with the whole suggestion, for clients that cannot show it inline."""

from __future__ import annotations

from typing import Any, Literal

import pytest
from lsprotocol import converters, types

from spark_lsp.server import fallback
from spark_lsp.server.editor import Editor
from spark_lsp.settings import CompletionSettings, Settings
from tests.lsp.conftest import StartScripted, profile

URI = "file:///project/a.py"
METHOD = "textDocument/completion"
BODY = "\n        return self.width * self.height"
LONG = " + ".join(f"{name}()" for name in ("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta"))
SCRIPT = ["value = compute(1, 2)", "    def area(self):" + BODY, 'text = """```\nmore\n"""', "long = " + LONG]
HELIX = profile("helix-master")
SUBLIME = profile("sublime-lsp")


async def entries(editor: Editor, text: str, **context: Any) -> list[dict[str, Any]]:
    """Return the entries at the end of `text`; the list is always incomplete."""
    editor.open(URI, "python", text)
    params = editor.completion_params(URI)
    params["context"] = {"triggerKind": 1, **context}
    result = await editor.request(METHOD, params)
    assert result["isIncomplete"] is True
    items: list[dict[str, Any]] = result["items"]
    editor.close(URI)
    return items


def without_inline(client: dict[str, Any], **item: Any) -> dict[str, Any]:
    """Return a client that says so much of its menu."""
    known = client["capabilities"]["textDocument"]["completion"]
    completion = {**known, "completionItem": {**known["completionItem"], **item}}
    return {"capabilities": {"textDocument": {"completion": completion}}}


@pytest.mark.parametrize(
    ("client", "mode", "served"),
    [
        ("helix-master", "auto", True),
        ("sublime-lsp", "auto", True),
        ("neovim-0.11.4", "auto", True),
        ("vscode-1.139", "auto", False),
        ("neovim-0.12", "auto", False),
        ("helix-pr14876", "auto", False),
        ("emacs-lsp-mode", "auto", False),
        ("vscode-1.139", "always", True),
        ("helix-master", "off", False),
    ],
)
async def test_it_is_offered_to_clients_that_have_no_other_way(
    scripted: StartScripted, client: str, mode: str, served: bool
) -> None:
    options = {"completion": {"fallback": mode}}
    editor = await scripted(script=SCRIPT, client=profile(client), options=options)
    assert ("completionProvider" in editor.capabilities) is served
    assert len(await entries(editor, "value = com")) == served, "asked all the same"


async def test_a_plugin_made_for_copilot_is_not_offered_it(scripted: StartScripted) -> None:
    options = {"editorPluginInfo": {"name": "copilot.lua", "version": "1"}}
    editor = await scripted(script=SCRIPT, client=profile("neovim-0.11.4"), options=options)
    assert "completionProvider" not in editor.capabilities


async def test_an_entry_replaces_the_typed_word_with_it_and_the_suggestion(scripted: StartScripted) -> None:
    editor = await scripted(script=SCRIPT, client=HELIX)
    (entry,) = await entries(editor, "value = com")
    where = {"start": {"line": 0, "character": 8}, "end": {"line": 0, "character": 11}}
    assert entry["textEdit"] == {"range": where, "newText": "compute(1, 2)"}
    assert entry["label"] == "compute(1, 2)"
    assert entry["filterText"] == "compute"
    assert entry["documentation"] == {"kind": "markdown", "value": "```python\ncompute(1, 2)\n```"}
    assert (entry["kind"], entry["sortText"], entry["insertTextFormat"]) == (1, "!", 1)
    assert "preselect" not in entry
    assert "insertTextMode" not in entry


async def test_accepting_it_is_counted(scripted: StartScripted) -> None:
    editor = await scripted(script=SCRIPT, client=HELIX)
    (entry,) = await entries(editor, "value = com")
    accept = {"command": entry["command"]["command"], "arguments": entry["command"]["arguments"]}
    assert await editor.request("workspace/executeCommand", accept) is None
    assert (await editor.status())["acceptedCompletions"] == 1


async def test_one_of_several_lines_is_named_by_its_first_one_with_text(scripted: StartScripted) -> None:
    editor = await scripted(script=SCRIPT, client=HELIX)
    (entry,) = await entries(editor, "class Box:\n    def area(self):")
    assert entry["label"] == "return self.width * self.height"
    assert entry["textEdit"]["newText"] == BODY
    assert entry["textEdit"]["range"]["start"] == entry["textEdit"]["range"]["end"] == {"line": 1, "character": 19}
    assert "filterText" not in entry, "there is no word, and the label would not begin with one"
    assert entry["documentation"]["value"] == f"```python{BODY}\n```"


async def test_a_long_line_is_cut_in_the_menu_only(scripted: StartScripted) -> None:
    editor = await scripted(script=SCRIPT, client=HELIX)
    (entry,) = await entries(editor, "long = ")
    assert entry["label"] == LONG[:59] + "…"
    assert entry["textEdit"]["newText"] == LONG


async def test_fences_in_the_text_do_not_end_the_preview(scripted: StartScripted) -> None:
    editor = await scripted(script=["a = f('```')"], client=HELIX)
    (entry,) = await entries(editor, "a = ")
    assert entry["documentation"]["value"] == "````python\nf('```')\n````"


async def test_a_client_of_plain_text_gets_a_plain_preview(scripted: StartScripted) -> None:
    client = without_inline(HELIX, documentationFormat=["plaintext"])
    editor = await scripted(script=SCRIPT, client=client)
    (entry,) = await entries(editor, "value = com")
    assert entry["documentation"] == {"kind": "plaintext", "value": "compute(1, 2)"}


@pytest.mark.parametrize(
    ("modes", "text", "mode"),
    [([2], "\n    return self.width * self.height", None), ([1, 2], BODY, 1)],
    ids=["it indents every line", "it can leave the text alone"],
)
async def test_a_client_that_indents_lines_itself_gets_what_comes_out_right(
    scripted: StartScripted, modes: list[int], text: str, mode: int | None
) -> None:
    client = without_inline(SUBLIME, insertTextModeSupport={"valueSet": modes})
    editor = await scripted(script=SCRIPT, client=client)
    (entry,) = await entries(editor, "class Box:\n    def area(self):")
    assert entry["textEdit"]["newText"] == text
    assert entry.get("insertTextMode") == mode


async def test_a_setting_puts_it_last(scripted: StartScripted) -> None:
    editor = await scripted(script=SCRIPT, client=HELIX, options={"completion": {"fallbackPosition": "last"}})
    (entry,) = await entries(editor, "value = com")
    assert entry["sortText"] == "~"


async def test_where_there_is_nothing_there_is_no_entry_and_no_error(scripted: StartScripted) -> None:
    editor = await scripted(script=SCRIPT, client=HELIX)
    assert await entries(editor, "other") == []
    assert (await editor.status())["lastReason"] == "nothing-to-add"
    params = {"textDocument": {"uri": URI}, "position": {"line": 5, "character": 5}}
    assert await editor.request(METHOD, params) == {"isIncomplete": True, "items": []}
    assert (await editor.status())["lastReason"] == "unknown-document"


async def test_the_deadline_and_the_cache_are_those_of_inline_completion(scripted: StartScripted) -> None:
    options = {"completion": {"deadlineMs": 100, "pregenerate": False}}
    text = "# above\n" * 50 + "value = "
    editor = await scripted(script=SCRIPT, client=HELIX, options=options, seconds_per_token=0.001)
    editor.open(URI, "python", text)
    params = editor.completion_params(URI)
    assert (await editor.request(METHOD, params))["items"] == []
    assert (await editor.status())["lastReason"] == "cold"
    while not (found := (await editor.request(METHOD, params))["items"]):
        pass
    while found[0]["textEdit"]["newText"] != "compute(1, 2)":
        found = (await editor.request(METHOD, params))["items"]
    editor.type(URI, "com")
    (entry,) = (await editor.request(METHOD, editor.completion_params(URI)))["items"]
    assert entry["textEdit"]["newText"] == "compute(1, 2)"
    assert (await editor.status())["lastReason"] == "cached"


class Client:
    """A server's view of a client, with what it was asked to register."""

    def __init__(self, name: str, mode: Literal["auto", "always", "off"]) -> None:
        capabilities = profile(name)["capabilities"]
        self.client_capabilities = converters.get_converter().structure(capabilities, types.ClientCapabilities)
        self.server_capabilities = types.ServerCapabilities()
        self.settings = Settings(completion=CompletionSettings(fallback=mode))
        self.shows_inline = "inlineCompletion" in capabilities["textDocument"]
        self.registered: list[types.Registration] = []

    async def client_register_capability_async(self, params: types.RegistrationParams) -> None:
        self.registered += params.registrations


@pytest.mark.parametrize(
    ("name", "mode", "registered"),
    [("vscode-1.139", "always", True), ("vscode-1.139", "auto", False), ("helix-pr14876", "always", False)],
    ids=["turned on", "not for this client", "the client cannot take it"],
)
async def test_turned_on_later_it_is_registered_once_where_the_client_offers_that(
    name: str, mode: Literal["auto", "always", "off"], registered: bool
) -> None:
    client: Any = Client(name, mode)
    for _ in range(2):
        await fallback.follow_settings(client)
    assert [one.method for one in client.registered] == [METHOD] * registered
    assert (client.server_capabilities.completion_provider is not None) is registered
