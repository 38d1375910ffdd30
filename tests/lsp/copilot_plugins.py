"""What Copilot's editor plugins send, as their sources of 2025 and 2026 have it."""

from __future__ import annotations

from typing import Any

from spark_lsp.server.editor import Editor

SCRIPT = ["value = compute(1, 2)", "def area(self):\n        return self.width * self.height"]
NEOVIM_ENCODINGS = ("utf-8", "utf-16", "utf-32")

NVIM_LSPCONFIG = {
    "editorInfo": {"name": "Neovim", "version": "0.12.0"},
    "editorPluginInfo": {"name": "Neovim", "version": "0.12.0"},
}
COPILOT_EL = {
    "editorInfo": {"name": "Emacs", "version": "30.1"},
    "editorPluginInfo": {"name": "copilot.el", "version": "0.3.0"},
    "networkProxy": {"host": "127.0.0.1", "port": 80},
}
LSP_COPILOT = {
    "editorInfo": {"name": "vscode", "version": "4200"},
    "editorPluginInfo": {"name": "LSP-copilot", "version": "3.0.0"},
}
"""Sent with `setEditorInfo`; its initialize says nothing."""


def version(editor: Editor, uri: str) -> int:
    return editor._buffers[uri].version


def doc(editor: Editor, uri: str, **changes: Any) -> dict[str, Any]:
    """The `doc` of older requests. Positions are in UTF-16: those of the editor, if that is what was agreed on."""
    position = editor.completion_params(uri)["position"]
    fields = {"uri": uri, "position": position, "version": version(editor, uri), "relativePath": "a.py"}
    return {**fields, "insertSpaces": True, "tabSize": 4, "indentSize": 4, **changes}


def copilot_lua_params(editor: Editor, uri: str, **changes: Any) -> dict[str, Any]:
    document = doc(editor, uri, **changes)
    identifier = {key: document[key] for key in ("uri", "version", "relativePath")}
    return {"doc": document, "textDocument": identifier, "position": document["position"], "_": True}


def lsp_copilot_params(editor: Editor, uri: str) -> dict[str, Any]:
    extra = {"source": editor.text(uri), "path": "/project/a.py", "languageId": "python", "indentSize": 1}
    return {"doc": doc(editor, uri, **extra)}


async def heard(editor: Editor, method: str) -> list[Any]:
    """The parameters of all such notifications so far; what was sent before the answer to a request is among them."""
    await editor.status()
    return [message["params"] for message in editor.messages if message.get("method") == method]
