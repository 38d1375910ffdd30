"""The settings as documentation: a commented file, a table, a JSON schema.

All come from the dataclasses in `settings`: names, types, bounds and defaults from the fields, the words from the
docstrings below them.
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
import itertools
import json
import typing
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from spark_lsp import settings
from spark_lsp.settings import BOUNDS, SECTION, Settings, camel

_TYPES = {bool: "boolean", int: "integer", str: "string"}
_TITLE = "Settings of spark-lsp"


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting."""

    group: str
    name: str
    """As editors write it."""
    default: bool | int | str
    type: str
    """A type of JSON."""
    choices: tuple[str, ...]
    """Empty where any value of the type may be given."""
    bounds: tuple[int, int] | None
    """Least and greatest value."""
    text: str
    """What it means, in one or a few sentences."""

    @property
    def key(self) -> str:
        """Group and name."""
        return f"{self.group}.{self.name}"


def described() -> list[Setting]:
    """Return all settings, in the order in which they are defined."""
    return [setting for group, kind in _groups() for setting in _settings_of(group, kind)]


def json_schema() -> dict[str, Any]:
    """Return a JSON schema (2020-12) of the settings object: what `initializationOptions` or `spark` hold."""
    properties: dict[str, Any] = {}
    for group, kind in _groups():
        members = {setting.name: _property(setting) for setting in _settings_of(group, kind)}
        about = inspect.cleandoc(kind.__doc__ or "")
        properties[group] = {
            "type": "object",
            "description": about,
            "properties": members,
            "additionalProperties": False,
        }
    model = properties["model"]
    properties["model"] = {"description": model["description"], "anyOf": [model, {"type": "string"}]}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": _TITLE,
        "description": f"Editors keep them under `{SECTION}`; they may also be written in snake_case.",
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
    }


def markdown_table() -> str:
    """Return the table of the README."""
    lines = ["| setting | default | meaning |", "| --- | --- | --- |"]
    for setting in described():
        choices = f" One of {', '.join(f'`{choice}`' for choice in setting.choices)}." if setting.choices else ""
        meaning = (setting.text + choices).replace("|", "\\|")
        default = f"`{json.dumps(setting.default)}`" if setting.default != "" else "none"
        lines.append(f"| `{setting.key}` | {default} | {meaning} |")
    return "\n".join(lines) + "\n"


def commented_toml() -> str:
    """Return a `spark-lsp.toml` that sets nothing: each setting stands there with its default, commented out."""
    blocks = [f"# {_TITLE}, each with its default. Take the # off a line that you change.\n"]
    for group, kind in _groups():
        lines = [f"[{group}]"]
        for setting in _settings_of(group, kind):
            choices = f" One of {', '.join(setting.choices)}." if setting.choices else ""
            bounds = f" From {setting.bounds[0]} to {setting.bounds[1]}." if setting.bounds else ""
            lines += [f"# {setting.text}{choices}{bounds}", f"#{setting.name} = {json.dumps(setting.default)}"]
        blocks.append("\n".join(lines) + "\n")
    return "\n".join(blocks)


def _groups() -> Iterator[tuple[str, type[Any]]]:
    hints = typing.get_type_hints(Settings)
    for group in dataclasses.fields(Settings):
        yield group.name, hints[group.name]


def _settings_of(group: str, kind: type[Any]) -> Iterator[Setting]:
    hints, texts = typing.get_type_hints(kind), _field_docstrings(kind)
    for member in dataclasses.fields(kind):
        wanted = hints[member.name]
        choices = typing.get_args(wanted) if typing.get_origin(wanted) is Literal else ()
        kind_of_value = "string" if choices else _TYPES[wanted]
        default: Any = member.default
        bounds = BOUNDS.get(f"{group}.{member.name}")
        text = texts[member.name]
        yield Setting(group, camel(member.name), default, kind_of_value, choices, bounds, text)


def _property(setting: Setting) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": setting.type, "default": setting.default, "description": setting.text}
    if setting.choices:
        schema["enum"] = list(setting.choices)
    if setting.bounds is not None:
        schema["minimum"], schema["maximum"] = setting.bounds
    return schema


def _field_docstrings(kind: type[Any]) -> dict[str, str]:
    """Return the docstring below each field, on one line. Python throws them away, so they are read from the source."""
    tree = ast.parse(inspect.getsource(settings))
    body = next(node.body for node in tree.body if isinstance(node, ast.ClassDef) and node.name == kind.__name__)
    texts: dict[str, str] = {}
    for field, below in itertools.pairwise(body):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
            text = below.value if isinstance(below, ast.Expr) else None
            if isinstance(text, ast.Constant) and isinstance(text.value, str):
                texts[field.target.id] = " ".join(text.value.split())
    return texts
