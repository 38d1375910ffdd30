"""Where settings come from, and which win.

From the weakest to the strongest: the defaults, the user's `spark-lsp.toml`, that of the workspace (of several folders
the first one wins), the command line, `initializationOptions`, what the editor configured since, and a model chosen by
command. A file in a workspace comes with the code, which may be a stranger's: it may name a model of the catalogue, but
no file that the server would load, and it does not start a download.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from spark_lsp.models.catalogue import CATALOGUE
from spark_lsp.settings import SECTION, Settings, load
from spark_lsp.settings_files import FILE_NAME, read_file, user_file

WRAPPERS = (SECTION, "spark-lsp", "spark_lsp", "sparkLsp", "settings")
"""Keys under which clients are known to send the settings of a server: its section, its name, or a habit."""
FOREIGN = frozenset(
    {"editorInfo", "editorPluginInfo", "copilotIntegrationId", "copilotCapabilities", "github", "github-enterprise"}
    | {"http", "networkProxy", "telemetry", "clientInfo", "workspaceFolders"}
)
"""Keys that clients send to every server, or to those whose methods we also speak; nobody wrote them for us."""
_GROUPS = frozenset(field.name for field in fields(Settings))


@dataclass(frozen=True, slots=True)
class Layer:
    """Settings from one source."""

    data: Any
    source: str = ""
    """Where a user finds them; empty for the editor."""
    trusted: bool = True
    """Whether it is the user who wrote them."""
    trouble: str = ""
    """What is wrong with the source as a whole, as a sentence."""


def combined(base: Settings, layers: Iterable[Layer]) -> tuple[Settings, list[str]]:
    """Return `base` overridden by one layer after the other, and a warning for each key that could not be used."""
    settings, warnings = base, []
    for layer in layers:
        data, refused = (layer.data, []) if layer.trusted else _without_files(layer.data)
        settings, found = load(data, settings)
        where = f" ({layer.source})" if layer.source else ""
        warnings += [layer.trouble] * bool(layer.trouble) + [f"{sentence}{where}" for sentence in [*refused, *found]]
    return settings, warnings


def file_layers(folders: Iterable[Path]) -> list[Layer]:
    """Return what the user's file and those of the workspace folders say, the weakest first. Reads the disk."""
    layers = []
    own = user_file()
    for path in [own, *(folder / FILE_NAME for folder in reversed([*folders]))]:
        data, trouble = read_file(path)
        if data is not None or trouble:
            layers.append(Layer(unwrapped(data, addressed=True), str(path), trusted=path == own, trouble=trouble))
    return layers


def unwrapped(data: Any, *, addressed: bool) -> Any:
    """Return the settings in what a client sent.

    They may lie under a section, and keys may be dotted. `addressed` tells that the client means us with everything;
    else an object without any of our groups is somebody else's, and None is returned.
    """
    while isinstance(data, Mapping):
        data = _undotted(data)
        wrapper = next((key for key in WRAPPERS if key in data), None)
        if wrapper is None:
            break
        addressed = addressed or wrapper != "settings"
        data = data[wrapper]
    if not isinstance(data, Mapping):
        return data
    own = {key: value for key, value in data.items() if key not in FOREIGN}
    return own if addressed or _GROUPS & own.keys() else None


def _undotted(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return `data` with `{"a.b": 1}` as `{"a": {"b": 1}}`."""
    nested: dict[str, Any] = {}
    for key, value in data.items():
        *path, last = str(key).split(".")
        target = nested
        for part in path:
            inner = target.get(part)
            target[part] = inner = dict(inner) if isinstance(inner, Mapping) else {}
            target = inner
        known = target.get(last)
        both = isinstance(known, Mapping) and isinstance(value, Mapping)
        target[last] = {**known, **value} if both and isinstance(known, Mapping) else value
    return nested


def _without_files(data: Any) -> tuple[Any, list[str]]:
    """Return the settings without models that are files and without downloads, and a sentence for each."""
    model = data.get("model") if isinstance(data, Mapping) else None
    model = {"name": model} if isinstance(model, str) else model
    if not isinstance(model, Mapping):
        return data, []
    refused = [key for key in ("name", "draft") if isinstance(model.get(key), str) and not _in_catalogue(model[key])]
    refused += ["download"] * bool(model.get("download"))
    kept = {key: value for key, value in model.items() if key not in refused}
    sentence = "The setting `model.{}` was ignored: a workspace may only choose among the models on this machine."
    return {**data, "model": kept}, [sentence.format(key) for key in refused]


def _in_catalogue(name: str) -> bool:
    """Whether it is a full name: the start of one may also be a file in the folder in which the server runs."""
    return not name or any(card.name == name for card in CATALOGUE)
