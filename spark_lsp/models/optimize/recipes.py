"""Recipes: which variants of a model are worth trying, and what each does to every tensor. Pure.

A recipe may cut the vocabulary to its first tokens and give the weights other types. What matters on a CPU
(llama.cpp's `repack.cpp` and `sgemm.cpp`):

* weights of a type in `REPACKED` are interleaved at load time and multiplied eight rows at a time;
* Q8_0 and Q5_0 have a fast product for two and more columns, so they serve prompts and drafts well;
* the other types (Q6_K, Q5_K, Q4_1 on x86) cost the same for every further column: prompts and drafts are slow.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

REPACKED = frozenset({"Q4_0", "Q4_K", "IQ4_NL"})
"""Types with a repacked product on AVX2 and on ARM, for tensors whose number of rows is a multiple of `REPACK_ROWS`."""
REPACK_ROWS = 8
BLOCK = {"Q4_0": (32, 18), "IQ4_NL": (32, 18), "Q4_K": (256, 144), "Q8_0": (32, 34)}
"""Weights and bytes of one block of each target type (ggml's type table)."""
WIDE = "Q8_0"
"""What weights become in a mixed recipe that the publisher gave more bits than the rest: no loss, a fast product."""
WIDE_BITS = 6.0
"""Bits of a weight from which a tensor counts as given more; the 5-bit types end at 6.0 and Q6_K has 6.56."""
MIXED_SHARE = 0.6
"""A file in which more than this share of the weights is wide is not a mixture: Q8_0 or F16 throughout."""
SMALLEST_CUT = 0.9
"""A cut that keeps more than this share of the vocabulary is not worth a variant."""
BYTE_PAIR = "gpt2"
"""GGUF's name for byte-pair vocabularies (`tokenizer.ggml.model`)."""
EMBEDDING, HEAD = "token_embd.weight", "output.weight"
_BODY = re.compile(r"blk\.\d+\.(?!.*(?:_norm|ffn_gate_inp|conv1d)\b).*\.weight$")
"""Matrices of the layers; what llama.cpp never quantizes is left out."""


@dataclass(frozen=True, slots=True)
class TensorTraits:
    """One tensor of a file. `shape` begins with the length of a row, as GGUF writes it."""

    name: str
    type: str
    shape: tuple[int, ...]
    bytes: int

    @property
    def weights(self) -> int:
        """The number of weights."""
        count = 1
        for length in self.shape:
            count *= length
        return count

    @property
    def bits(self) -> float:
        """Bits of one weight, block scales included."""
        return 8.0 * self.bytes / max(1, self.weights)


@dataclass(frozen=True, slots=True)
class ModelTraits:
    """What a recipe has to know of a model file."""

    architecture: str
    vocabulary_model: str
    vocabulary_size: int
    tensors: tuple[TensorTraits, ...]

    @property
    def tied(self) -> bool:
        """Whether the embedding serves as output head too."""
        return all(tensor.name != HEAD for tensor in self.tensors)


@dataclass(frozen=True, slots=True)
class Recipe:
    """One variant: how many tokens stay, and the types of layers and head (None leaves them as they are)."""

    name: str
    vocabulary: int | None = None
    body: str | None = None
    head: str | None = None
    mixed: bool = False
    """Change only the types without a fast product: wide weights to `WIDE`, the rest to `body`."""


def standard_recipes() -> tuple[Recipe, ...]:
    """Return every recipe that is tried, mild ones first."""
    # Of Qwen's 151,936 tokens the first 96k hold all but 1,300 of those that are ASCII text. Behind 64k stand names of
    # every program: `.partial`, ` OSError`, `_declaration`.
    mild, cut = 96 * 1024, 48 * 1024
    return (
        Recipe("vocab-96k", vocabulary=mild),
        Recipe("vocab-64k", vocabulary=64 * 1024),
        Recipe("vocab-48k", vocabulary=cut),
        Recipe("body-q4_0", body="Q4_0"),
        Recipe("vocab-96k+mixed-iq4_nl", vocabulary=mild, body="IQ4_NL", mixed=True),
        Recipe("vocab-96k+all-iq4_nl", vocabulary=mild, body="IQ4_NL", head="IQ4_NL"),
        Recipe("vocab-48k+mixed-q4_k", vocabulary=cut, body="Q4_K", mixed=True),
        Recipe("vocab-48k+mixed-iq4_nl", vocabulary=cut, body="IQ4_NL", mixed=True),
        Recipe("vocab-48k+mixed-q4_0", vocabulary=cut, body="Q4_0", mixed=True),
        Recipe("vocab-48k+body-q4_k", vocabulary=cut, body="Q4_K"),
        Recipe("vocab-48k+body-iq4_nl", vocabulary=cut, body="IQ4_NL"),
        Recipe("vocab-48k+body-q4_0", vocabulary=cut, body="Q4_0"),
        Recipe("vocab-48k+all-iq4_nl", vocabulary=cut, body="IQ4_NL", head="IQ4_NL"),
        Recipe("vocab-48k+all-q4_0", vocabulary=cut, body="Q4_0", head="Q4_0"),
    )


def applicable(recipes: Iterable[Recipe], traits: ModelTraits) -> tuple[tuple[Recipe, ...], Mapping[str, str]]:
    """Return the recipes that make a different file of this model, and for each other one why not, by name."""
    chosen: list[Recipe] = []
    skipped: dict[str, str] = {}
    seen: dict[tuple[int | None, frozenset[tuple[str, str]]], str] = {}
    for recipe in recipes:
        reason = why_not(recipe, traits)
        if reason is None:
            effect = recipe.vocabulary, frozenset(target_types(recipe, traits).items())
            if effect in seen:
                reason = f"the same as {seen[effect]} for this model"
            seen.setdefault(effect, recipe.name)
        if reason is None:
            chosen.append(recipe)
        else:
            skipped[recipe.name] = reason
    return tuple(chosen), skipped


def why_not(recipe: Recipe, traits: ModelTraits) -> str | None:
    """Return why `recipe` does not apply to a model of these traits, or None when it does."""
    if recipe.vocabulary is not None:
        if traits.vocabulary_model != BYTE_PAIR:
            return f"the vocabulary is of kind '{traits.vocabulary_model}', not byte-pair"
        if recipe.vocabulary > SMALLEST_CUT * traits.vocabulary_size:
            return f"the vocabulary has only {traits.vocabulary_size:,} tokens"
    if recipe.body is None:
        return None
    body = [tensor for tensor in traits.tensors if _BODY.match(tensor.name)]
    if not body:
        return f"the weights of the architecture '{traits.architecture}' have unknown names"
    weights = sum(tensor.weights for tensor in body)
    fitting = sum(tensor.weights for tensor in body if tensor.shape[0] % BLOCK[recipe.body][0] == 0)
    if fitting < weights / 2:
        return f"most rows do not divide into blocks of {BLOCK[recipe.body][0]}, which {recipe.body} needs"
    if recipe.mixed:
        wide = sum(tensor.weights for tensor in body if tensor.bits > WIDE_BITS)
        if wide > MIXED_SHARE * weights:
            return "all weights have about the same width"
    if not target_types(recipe, traits):
        return "the weights have these types already"
    return None


def target_types(recipe: Recipe, traits: ModelTraits) -> dict[str, str]:
    """Return the new type of every tensor that changes, by name."""
    changed = {}
    for tensor in traits.tensors:
        target = _target(recipe, tensor, traits)
        if target is not None and target != tensor.type and tensor.shape[0] % BLOCK[target][0] == 0:
            changed[tensor.name] = target
    return changed


def _target(recipe: Recipe, tensor: TensorTraits, traits: ModelTraits) -> str | None:
    if tensor.name == (EMBEDDING if traits.tied else HEAD):
        return recipe.head
    if recipe.body is None or len(tensor.shape) < 2 or not _BODY.match(tensor.name):
        return None
    if not recipe.mixed:
        return recipe.body
    if tensor.type in REPACKED:
        return None
    return WIDE if tensor.bits > WIDE_BITS else recipe.body


def estimated_bytes(recipe: Recipe, traits: ModelTraits) -> int:
    """Return about how large the variant will be, in bytes; the vocabulary's texts are not counted."""
    types = target_types(recipe, traits)
    total = 0
    for tensor in traits.tensors:
        size = tensor.bytes
        if tensor.name in types:
            weights, block = BLOCK[types[tensor.name]]
            size = tensor.weights // weights * block
        if recipe.vocabulary is not None and tensor.name in (EMBEDDING, HEAD):
            size = size * recipe.vocabulary // traits.vocabulary_size
        total += size
    return total
