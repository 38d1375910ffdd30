"""From a recipe to a file in the work folder. A file under its final name there is complete."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from spark_lsp.models.optimize.gguf_source import open_source
from spark_lsp.models.optimize.recipes import ModelTraits, Recipe, estimated_bytes, target_types
from spark_lsp.models.optimize.requantize import write_requantized
from spark_lsp.models.optimize.vocabulary import write_trimmed

ENDING = ".gguf"
PARTIAL = ".partial"


@dataclass(frozen=True, slots=True)
class Ingredients:
    """The model that variants are made of. An open file of a large vocabulary takes much memory, so none is kept."""

    original: Path
    traits: ModelTraits
    """Of the original; they decide the types even where `better` is used."""
    better: Path | None = None
    """The same model with more bits: new types are made from it, since rounding twice costs more than once."""
    better_traits: ModelTraits | None = None
    importance: Path | None = None
    """How much the columns of the matrices matter, for the rounding of new types."""

    def source_of(self, recipe: Recipe) -> Path:
        """Return the file that `recipe` starts from."""
        return self.better if self.better is not None and recipe.body is not None else self.original


def variant_path(recipe: Recipe, folder: Path) -> Path:
    """Where the finished variant of `recipe` is, or would be."""
    return folder / f"{recipe.name}{ENDING}"


def missing_bytes(recipes: Iterable[Recipe], ingredients: Ingredients, folder: Path) -> int:
    """Return about how much room the variants that are not yet in `folder` will take, in bytes."""
    missing = [recipe for recipe in recipes if not variant_path(recipe, folder).exists()]
    cuts = {recipe.vocabulary for recipe in missing if recipe.body is not None and recipe.vocabulary is not None}
    traits = ingredients.better_traits or ingredients.traits
    trimmed = (estimated_bytes(Recipe("", vocabulary=cut), traits) for cut in cuts)
    return sum(estimated_bytes(recipe, ingredients.traits) for recipe in missing) + sum(trimmed)


def build(
    recipe: Recipe, ingredients: Ingredients, folder: Path, others: Iterable[Recipe], *, threads: int = 0
) -> Path:
    """Return the finished variant of `recipe`, making it unless it is there; `others` may already be.

    Raises ModelFileError, EngineError or OSError; what was half-written is gone then.
    """
    target = variant_path(recipe, folder)
    if target.exists():
        return target
    traits = ingredients.traits
    if recipe.body is None:
        return _finished(target, lambda draft: _cut(ingredients.original, recipe, draft))
    others = tuple(others)
    base = _base(recipe, folder, others) or _trimmed(recipe, ingredients, folder, others)
    types, weights = target_types(recipe, traits), ingredients.importance

    def write(draft: Path) -> None:
        write_requantized(base, types, traits, draft, importance=weights, threads=threads)

    return _finished(target, write)


def discard_drafts(folder: Path) -> None:
    """Remove what an interrupted build has left."""
    for file in folder.glob(f"*{PARTIAL}"):
        file.unlink(missing_ok=True)


def _base(recipe: Recipe, folder: Path, others: Iterable[Recipe]) -> Path | None:
    """Return a finished variant that differs in the head alone: then only the head is quantized."""
    if recipe.head is None:
        return None
    plan = recipe.vocabulary, recipe.body, recipe.mixed, None
    for other in others:
        file = variant_path(other, folder)
        if (other.vocabulary, other.body, other.mixed, other.head) == plan and file.exists():
            return file
    return None


def _trimmed(recipe: Recipe, ingredients: Ingredients, folder: Path, others: Iterable[Recipe]) -> Path:
    """Return the file that the types of `recipe` are given to: the source with the vocabulary of the recipe."""
    source = ingredients.source_of(recipe)
    if recipe.vocabulary is None:
        return source
    if source == ingredients.original:
        for other in others:
            if other.vocabulary == recipe.vocabulary and other.body is None and other.head is None:
                return build(other, ingredients, folder, ())
    kind = "original" if source == ingredients.original else "better"
    target = folder / f"{kind}-{recipe.vocabulary}{ENDING}"
    return target if target.exists() else _finished(target, lambda draft: _cut(source, recipe, draft))


def _cut(path: Path, recipe: Recipe, draft: Path) -> None:
    source = open_source(path)
    write_trimmed(source, recipe.vocabulary or source.traits.vocabulary_size, draft)


def _finished(target: Path, write: Callable[[Path], None]) -> Path:
    draft = target.with_name(target.name + PARTIAL)
    try:
        write(draft)
        with draft.open("rb+") as stream:
            os.fsync(stream.fileno())
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)
    return target
