"""Settings: frozen, with units, defaults in one place.

One schema serves `initializationOptions`, `workspace/configuration`, `workspace/didChangeConfiguration`, the files
`spark-lsp.toml` and the command line (`settings_layers` says which wins). `load` never raises for what a user wrote: it
returns the settings it could read and a list of warnings, each naming the key. The docstrings of the fields are what
users read of them (`settings_schema`).
"""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from spark_lsp.errors import SettingsError
from spark_lsp.models.catalogue import DEFAULT_MODEL

SECTION = "spark"
"""The key under which editors keep these settings."""


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """Which model runs, and on what."""

    name: str = DEFAULT_MODEL
    """A catalogue name or the path of a GGUF file."""
    threads: int = 0
    """Compute threads; 0 means one for each core this process may use."""
    gpu_layers: int = -1
    """Layers kept on the GPU; -1 means all of them where the runtime has a GPU back end."""
    optimized: bool = True
    """Whether a variant that `spark-lsp optimize` kept for this machine is used in place of the model."""
    context_tokens: int = 8192
    """KV cache size in tokens, shared by all open documents."""
    download: bool = False
    """Whether the server downloads a model of the catalogue that is not on this machine; else it says how to."""
    draft: str = ""
    """A smaller model of the same family that drafts for this one, by name or path; empty for none. It pays for models
    of 3B and more."""


@dataclass(frozen=True, slots=True)
class CompletionSettings:
    """How much is read and how much is written."""

    enabled: bool = True
    """Whether there are suggestions at all."""
    prefix_tokens: int = 512
    """Upper bound for the text above the anchor, in tokens; a slow machine reads less."""
    suffix_tokens: int = 128
    """Upper bound for the text after the cursor, in tokens."""
    max_tokens: int = 96
    """Upper bound for one suggestion, in tokens."""
    max_lines: int = 12
    """Upper bound for one suggestion, in lines."""
    deadline_ms: int = 800
    """An automatic request is answered after this time with what is verified by then, in milliseconds."""
    candidates: int = 3
    """Most suggestions to choose from where the user asks for one; an automatic request gets one."""
    candidates_ms: int = 2000
    """Time that the suggestions after the first may take together, in milliseconds; 0 is no time for any."""
    fallback: Literal["auto", "always", "off"] = "auto"
    """Whether suggestions are also entries of the completion menu; `auto` does so where the client has no inline
    completion."""
    fallback_position: Literal["first", "last"] = "first"
    """Where such an entry stands in the menu."""
    layout: Literal["anchored", "plain"] = "anchored"
    """`anchored` keeps the KV cache append-only while typing; `plain` is the usual prefix-suffix-middle order, for
    models that prefer it."""
    drafting: bool = True
    """Whether tokens are drafted and verified several at a time; the text is the same without."""
    workspace: bool = True
    """Whether drafts are also copied from other open documents and from files beside them. Nothing leaves the machine;
    without it other files are not read. The text is the same without."""
    names: bool = True
    """Whether a suggestion that uses a name which its module or class does not have is written differently where the
    model knows a name that exists. For that the imported modules are read, never run: in Python those of the
    workspace, its environment and the standard library, in TypeScript and JavaScript those of the workspace that are
    imported by their paths. Other languages are not checked."""
    heal_tokens: int = 4
    """Most typed tokens that the model may spell anew at the cursor (token healing); 0 turns it off."""
    snapshots: bool = True
    """Whether what was computed for open documents is kept on disk for the next start. It holds their code."""
    pregenerate: bool = True
    """Whether idle time computes what would follow the suggestion on the screen, as if it were accepted."""
    gate: bool = True
    """Whether what the model is unsure of is withheld: the lines of a text from a guessed one on, and guessed texts.
    What the user asks for is withheld much less."""
    comments: bool = True
    """Whether suggestions come by themselves in comments. A docstring is a comment."""
    strings: bool = True
    """Whether they come by themselves in strings."""


@dataclass(frozen=True, slots=True)
class ContextSettings:
    """What else the model gets to see, and what it never does. A part is off until its gain was measured."""

    definitions: bool = False
    """Whether imports and signatures of names used near the cursor are shown to the model."""
    recent: bool = False
    """Whether the places that were edited or visited last are."""
    snippets: bool = False
    """Whether code that resembles the code around the cursor is, from open documents and files beside them."""
    diagnostics: bool = False
    """Whether errors and warnings near the cursor are, if the editor sends them."""
    exclusions: bool = True
    """Whether files that `.gitignore` or `.sparkignore` name, or that look like secrets, are neither completed nor
    read."""

    @property
    def shows_anything(self) -> bool:
        """Whether any part is on."""
        return self.definitions or self.recent or self.snippets or self.diagnostics


@dataclass(frozen=True, slots=True)
class BackgroundSettings:
    """What may be done while nobody waits: preparing places, computing in advance, measuring, reading files."""

    on_battery: bool = False
    """Whether it is done on battery too. Requests are answered either way; they may have more to compute then."""
    cpu_share: int = 100
    """Most of the processor time of all cores that it takes, in percent; it pauses to keep to that."""


@dataclass(frozen=True, slots=True)
class StatisticsSettings:
    """What is counted of suggestions: shown, accepted, kept. It is never sent anywhere."""

    keep: bool = True
    """Whether the counts are kept on disk for `spark-lsp stats`; they hold no text."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything a user can set."""

    model: ModelSettings = field(default_factory=ModelSettings)
    completion: CompletionSettings = field(default_factory=CompletionSettings)
    context: ContextSettings = field(default_factory=ContextSettings)
    background: BackgroundSettings = field(default_factory=BackgroundSettings)
    statistics: StatisticsSettings = field(default_factory=StatisticsSettings)


def given_flags(model: str | None, *, optimized: bool, draft: str | None = None) -> dict[str, Any]:
    """Return what the command line says about the model, as `load` takes it; nothing that was not given."""
    flags: dict[str, Any] = {"name": model, "draft": draft, "optimized": None if optimized else False}
    return {"model": {key: value for key, value in flags.items() if value is not None}}


def from_flags(model: str | None, *, optimized: bool, draft: str | None = None) -> Settings:
    """Return the defaults with what the command line says about the model."""
    return load(given_flags(model, optimized=optimized, draft=draft))[0]


BOUNDS: Mapping[str, tuple[int, int]] = {
    "model.threads": (0, 512),
    "model.gpu_layers": (-1, 10_000),
    "model.context_tokens": (1024, 1_048_576),
    "completion.prefix_tokens": (0, 131_072),
    "completion.suffix_tokens": (0, 131_072),
    "completion.max_tokens": (1, 4096),
    "completion.max_lines": (1, 1000),
    "completion.deadline_ms": (1, 600_000),
    "completion.candidates": (1, 10),
    "completion.candidates_ms": (0, 60_000),
    "completion.heal_tokens": (0, 16),
    "background.cpu_share": (1, 100),
}


def _convert(key: str, value: Any, wanted: Any) -> Any:
    """Return `value` if it has the type `wanted`; raise SettingsError naming the key otherwise."""
    if typing.get_origin(wanted) is Literal:
        choices = typing.get_args(wanted)
        if value in choices:
            return value
        raise SettingsError(f"The setting `{key}` is {value!r}; it must be one of {', '.join(map(repr, choices))}.")
    if wanted is int and isinstance(value, float) and value.is_integer():
        value = int(value)  # editors written in JavaScript have only one kind of number
    if not isinstance(value, wanted) or (wanted is int and isinstance(value, bool)):
        raise SettingsError(f"The setting `{key}` is {value!r}; it must be of type {wanted.__name__}.")
    low, high = BOUNDS.get(key, (None, None))
    if low is not None and high is not None and not low <= value <= high:
        raise SettingsError(f"The setting `{key}` is {value!r}; it must lie between {low} and {high}.")
    return value


def camel(name: str) -> str:
    """Return the spelling of a setting's name that editors use."""
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)


def _merge(base: Any, data: Mapping[str, Any], path: str, warnings: list[str]) -> Any:
    hints = typing.get_type_hints(type(base))
    names = {spelling: f.name for f in dataclasses.fields(base) for spelling in (f.name, camel(f.name))}
    changes: dict[str, Any] = {}
    for given, value in data.items():
        key = f"{path}{given}"
        name = names.get(given)
        if name is None:
            warnings.append(f"The setting `{key}` is unknown and was ignored.")
            continue
        if value is None:
            continue  # an editor that has no value for a setting sends null
        current = getattr(base, name)
        if dataclasses.is_dataclass(current):
            if isinstance(value, Mapping):
                changes[name] = _merge(current, value, f"{key}.", warnings)
            elif isinstance(current, ModelSettings) and isinstance(value, str):
                changes[name] = dataclasses.replace(current, name=value)
            else:
                warnings.append(f"The setting `{key}` is {value!r}; it must be an object.")
            continue
        try:
            changes[name] = _convert(f"{path}{name}", value, hints[name])
        except SettingsError as error:
            warnings.append(f"{error.sentence} The value {current!r} stays.")
    return dataclasses.replace(base, **changes)


def load(data: Any, base: Settings | None = None) -> tuple[Settings, list[str]]:
    """Return `base` overridden by `data`, and one warning for each key that could not be used.

    `data` may be the settings object itself or an object holding it under `spark`; keys may be written in
    snake_case or camelCase; `"model": "NAME"` is short for `"model": {"name": "NAME"}`. None changes nothing, nor does
    a setting that is None.
    """
    base = base or Settings()
    warnings: list[str] = []
    if data is None:
        return base, warnings
    if not isinstance(data, Mapping):
        return base, [f"The settings are {data!r}; they must be an object."]
    inner = data.get(SECTION, data)
    if inner is None:
        return base, warnings
    if not isinstance(inner, Mapping):
        return base, [f"The setting `{SECTION}` is {inner!r}; it must be an object."]
    merged: Settings = _merge(base, inner, "", warnings)
    return merged, warnings
