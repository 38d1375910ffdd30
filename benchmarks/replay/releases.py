"""The pairs of published versions whose differences are typed: one table, names and versions pinned.

All newer versions came out after the training data of the default model ends, so it has seldom seen what is typed.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Registry(Enum):
    """Where a package is published."""

    PYTHON = "python"
    NPM = "npm"


@dataclass(frozen=True, slots=True)
class Pair:
    """Two versions of a package, and the language of the files that are taken from them."""

    language: str
    registry: Registry
    package: str
    old: str
    new: str


ENDINGS = {"python": (".py",), "rust": (".rs",), "c": (".c", ".h"), "typescript": (".ts",)}
"""Of the files of a language. The names are those that editors use as `languageId`."""

PAIRS = (
    Pair("python", Registry.PYTHON, "click", "8.3.3", "8.5.1"),
    Pair("python", Registry.PYTHON, "rich", "14.1.0", "15.0.0"),
    Pair("python", Registry.PYTHON, "starlette", "0.49.3", "1.9.0"),
    Pair("python", Registry.PYTHON, "trio", "0.30.0", "0.35.0"),
    Pair("rust", Registry.PYTHON, "cryptography", "47.0.0", "50.0.2"),
    Pair("rust", Registry.PYTHON, "pydantic-core", "2.46.1", "2.49.0"),
    Pair("rust", Registry.PYTHON, "tokenizers", "0.22.2", "1.0.0rc3"),
    Pair("c", Registry.PYTHON, "hiredis", "3.3.0", "3.5.0"),
    Pair("c", Registry.PYTHON, "multidict", "6.6.4", "7.2.1"),
    Pair("c", Registry.PYTHON, "psutil", "7.0.0", "7.2.2"),
    Pair("typescript", Registry.NPM, "immer", "10.1.1", "11.2.13"),
    Pair("typescript", Registry.NPM, "@reduxjs/toolkit", "2.8.2", "2.15.0"),
    Pair("typescript", Registry.NPM, "@tanstack/query-core", "5.100.10", "5.108.4"),
)


def languages() -> tuple[str, ...]:
    """Return the languages of the table, in its order."""
    return tuple(dict.fromkeys(pair.language for pair in PAIRS))
