"""The same model with more bits: what new types are best made from."""

from __future__ import annotations

from pathlib import Path

from spark_lsp.errors import ModelError
from spark_lsp.models.catalogue import CATALOGUE, ModelCard
from spark_lsp.models.optimize.recipes import ModelTraits
from spark_lsp.models.store import model_path, resolve

ENDINGS = ("-q4_k_m", "-q4_1")
BETTER_ENDING = "-q8_0"


def better_card(model: Path, directory: Path | None = None) -> ModelCard | None:
    """Return the catalogue's entry of the same model in Q8_0.

    None where there is none, and for a file that is not in the models directory under a catalogue name.
    """
    name = next((card.name for card in CATALOGUE if model_path(card, directory) == model.absolute()), "")
    for ending in ENDINGS:
        if name.endswith(ending):
            wanted = name.removesuffix(ending) + BETTER_ENDING
            return next((card for card in CATALOGUE if card.name == wanted), None)
    return None


def installed_better(model: Path, directory: Path | None = None) -> Path | None:
    """Return the intact file of that entry if it is installed, else None."""
    card = better_card(model, directory)
    if card is None:
        return None
    try:
        return resolve(card.name, directory)
    except ModelError:
        return None


def is_same_model(better: ModelTraits, original: ModelTraits) -> bool:
    """Return whether both files hold the same tensors and vocabulary in number and shape."""
    return (
        better.architecture == original.architecture
        and better.vocabulary_size == original.vocabulary_size
        and {(t.name, t.shape) for t in better.tensors} == {(t.name, t.shape) for t in original.tensors}
    )
