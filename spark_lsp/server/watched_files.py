"""Files and folders that change under the server: rules about private files, settings, workspace folders."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

from spark_lsp.context.exclusions import IGNORE_FILES
from spark_lsp.server.registration import register_with_client
from spark_lsp.settings_files import FILE_NAME

if TYPE_CHECKING:
    from spark_lsp.server.app import SparkServer

WATCHED = (*IGNORE_FILES, FILE_NAME)


async def watch(server: SparkServer) -> None:
    """Ask the client to tell when such a file changes, where it can; a save in the editor is noticed anyway."""
    workspace = server.client_capabilities.workspace
    ability = workspace.did_change_watched_files if workspace is not None else None
    if ability is None or not ability.dynamic_registration:
        return
    watchers = [types.FileSystemWatcher(glob_pattern=f"**/{name}") for name in WATCHED]
    options = types.DidChangeWatchedFilesRegistrationOptions(watchers=watchers)
    await register_with_client(server, types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)


def changed(server: SparkServer, names: set[str]) -> None:
    """Take note that files of these names were made, changed or deleted somewhere."""
    if names & {*IGNORE_FILES}:
        server.gate.rules_changed()
    if FILE_NAME in names:
        server.configuration.reload_files()


def folders_changed(server: SparkServer) -> None:
    """Look at everything again: other rules, other settings and other modules may hold now."""
    server.gate.rules_changed()
    server.configuration.reload_files()


def register(server: SparkServer) -> None:
    """Follow what the client tells."""

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def watched_files_changed(ls: SparkServer, params: types.DidChangeWatchedFilesParams) -> None:
        changed(ls, {change.uri.rpartition("/")[2] for change in params.changes})

    @server.feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    def workspace_folders_changed(ls: SparkServer, _params: types.DidChangeWorkspaceFoldersParams) -> None:
        folders_changed(ls)
