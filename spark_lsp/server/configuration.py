"""The settings of a running server: where they come from, and what happens when they change.

`initializationOptions` and the files are read before `initialize` is answered. Later the client is asked with
`workspace/configuration`, if it can be, and may push with `workspace/didChangeConfiguration`. A change takes effect at
once; another model is loaded while the old one waits, which comes back if the new one cannot be loaded.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from spark_lsp.decoding.llama import usable_cores
from spark_lsp.governor import Governor
from spark_lsp.scheduler import Loader
from spark_lsp.server import fallback
from spark_lsp.server.registration import register_with_client
from spark_lsp.settings import SECTION, Settings
from spark_lsp.settings_layers import Layer, combined, file_layers, unwrapped

if TYPE_CHECKING:
    from spark_lsp.server.app import SparkServer

log = logging.getLogger(__name__)

PULL_SECONDS = 2.0
"""So long the first load waits for the client's configuration, which may name another model; a later answer still
counts."""


class Configuration:
    """Belongs to the event loop."""

    def __init__(self, server: SparkServer, base: Settings, flags: Mapping[str, Any]) -> None:
        self._server = server
        self._base = base
        self._files: list[Layer] = []
        self._flags = Layer(flags, "the command line")
        self._initial = self._pushed = self._pulled = Layer(None)
        self._chosen: str | None = None
        """A model that the user chose by command, until the configuration names another one."""
        self._configured_model = ""
        self._asking = 0

    def begin(self, options: Any) -> Settings:
        """Return the settings that hold at `initialize`."""
        self._files = file_layers(self._server.folders)
        self._initial = Layer(unwrapped(options, addressed=True))
        settings = self._combine()
        self._configured_model = settings.model.name
        return settings

    def loader(self, settings: Settings) -> Loader:
        """Return what loads the model of `settings`, and shows how far it is."""
        server = self._server

        def on_fraction(fraction: float, stage: str = "") -> None:
            server.post(server.status_feed.on_fraction, fraction, stage)

        return server.make_loader(settings, on_fraction)

    def governor(self, settings: Settings) -> Governor:
        """Return what bounds background work by `settings`."""
        return Governor(settings.background, usable_cores())

    async def ask(self) -> None:
        """Let the client say what it has configured, at most for `PULL_SECONDS`; later it is still heard."""
        task = asyncio.ensure_future(self._pull())
        self._server.keep_task(task)
        await asyncio.wait({task}, timeout=PULL_SECONDS)

    def pushed(self, data: Any) -> None:
        """Take over what the client sent of its own accord, and ask it where it wants to be asked."""
        found = unwrapped(data, addressed=False)
        if found is not None:
            self._pushed = Layer(found)
        self._files = file_layers(self._server.folders)
        self._apply()
        self._server.start_task(self._pull())

    def reload_files(self) -> None:
        """Read the files again: one was changed, or there is another workspace folder."""
        self._files = file_layers(self._server.folders)
        self._apply()

    async def choose_model(self, name: str) -> str:
        """Use the model of that name until the configuration names another; return what went wrong as a sentence."""
        before, self._chosen = self._chosen, name
        settings = self._combine()
        self._use(settings, switch=False)
        sentence = await self._switch(settings)
        if sentence and self._chosen == name:
            self._chosen = before
            self._server.settings = settings = self._combine()
            self._server.scheduler.use(self.loader(settings), self.governor(settings))
        return sentence

    async def register(self) -> None:
        """Ask to be told of changes, where the client wants to be asked for that."""
        workspace = self._server.client_capabilities.workspace
        ability = workspace.did_change_configuration if workspace is not None else None
        if ability is None or not ability.dynamic_registration:
            return
        method = types.WORKSPACE_DID_CHANGE_CONFIGURATION
        options = types.DidChangeConfigurationRegistrationOptions(section=SECTION)
        await register_with_client(self._server, method, options)

    async def _pull(self) -> None:
        workspace = self._server.client_capabilities.workspace
        if workspace is None or not workspace.configuration:
            return
        self._asking = number = self._asking + 1
        params = types.ConfigurationParams(items=[types.ConfigurationItem(section=SECTION)])
        try:
            answer = await self._server.workspace_configuration_async(params)
        except Exception as error:
            log.info("The client did not say what is configured: %s", error)
            return
        if number != self._asking or not answer:
            return  # a later question will be answered with something newer
        found = unwrapped(self._server.protocol.plain(answer[0]), addressed=True)
        if found is not None:
            self._pulled = Layer(found)
            self._apply()

    def _combine(self) -> Settings:
        layers = [*self._files, self._flags, self._initial, self._pushed, self._pulled]
        if self._chosen is not None:
            layers.append(Layer({"model": {"name": self._chosen}}))
        settings, warnings = combined(self._base, layers)
        for warning in warnings:
            self._server.tell(warning)
        return settings

    def _apply(self) -> None:
        """Use what the layers say now."""
        chosen, self._chosen = self._chosen, None
        settings = self._combine()
        if settings.model.name != self._configured_model:
            self._configured_model = settings.model.name
        else:
            self._chosen = chosen
        self._use(self._combine())

    def _use(self, settings: Settings, *, switch: bool = True) -> None:
        server, old = self._server, self._server.settings
        if settings == old:
            return
        server.settings = settings
        log.info("The settings changed")
        server.status_feed.changed()
        server.start_task(fallback.follow_settings(server))
        server.scheduler.use(self.loader(settings), self.governor(settings))
        if (settings.completion, settings.context) != (old.completion, old.context):
            server.scheduler.configure(settings)
            server.completions.clear()
            server.gate.configure(settings.context.exclusions)
            server.events.new_rules()
        if switch and settings.model != old.model:
            server.start_task(self._switch(settings))

    async def _switch(self, settings: Settings) -> str:
        """Load another model; return what went wrong, which the user is told too."""
        server = self._server
        if not server.loading_begun:
            return ""  # the first load takes what is configured by then
        await server.status_feed.begin_load()
        sentence = await asyncio.wrap_future(server.scheduler.switch(self.loader(settings)))
        if sentence:
            message = f"spark-lsp: {sentence}"
            server.window_show_message(types.ShowMessageParams(type=types.MessageType.Warning, message=message))
        return sentence


def register(server: SparkServer) -> None:
    """Follow what the client pushes."""

    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    def configuration_changed(ls: SparkServer, _params: Any) -> None:
        ls.configuration.pushed(ls.protocol.raw_params.get("settings"))
