"""Which variants are tried, and what becomes of each tensor."""

from __future__ import annotations

import pytest

from spark_lsp.models.optimize.recipes import (
    BLOCK,
    ModelTraits,
    Recipe,
    TensorTraits,
    applicable,
    estimated_bytes,
    standard_recipes,
    target_types,
    why_not,
)

BITS = {"F32": 32.0, "Q8_0": 8.5, "Q6_K": 6.5625, "Q5_0": 5.5, "Q4_K": 4.5, "Q4_0": 4.5}


def tensor(name: str, kind: str, *shape: int) -> TensorTraits:
    count = 1
    for length in shape:
        count *= length
    return TensorTraits(name, kind, shape, int(count * BITS[kind] / 8))


def model(
    body: dict[str, str], *, width: int = 896, vocabulary: int = 151_936, tied: bool = False, kind: str = "gpt2"
) -> ModelTraits:
    tensors = [tensor("token_embd.weight", "Q5_0", width, vocabulary), tensor("output_norm.weight", "F32", width)]
    if not tied:
        tensors.append(tensor("output.weight", "Q8_0", width, vocabulary))
    for name, type_ in body.items():
        tensors.append(tensor(f"blk.0.{name}.weight", type_, width, width))
    tensors.append(tensor("blk.0.attn_norm.weight", "F32", width))
    tensors.append(tensor("blk.0.attn_q.bias", "F32", width))
    return ModelTraits("qwen2", kind, vocabulary, tuple(tensors))


MIXED = {"attn_v": "Q8_0", "ffn_down": "Q6_K", "ffn_up": "Q5_0", "ffn_gate": "Q5_0", "attn_q": "Q5_0"}


@pytest.mark.parametrize(
    ("recipe", "expected"),
    [
        (Recipe("cut", vocabulary=1000), {}),
        (Recipe("body", body="Q4_0"), {f"blk.0.{name}.weight": "Q4_0" for name in MIXED}),
        (
            Recipe("mixed", body="IQ4_NL", mixed=True),
            {
                "blk.0.ffn_down.weight": "Q8_0",
                **{f"blk.0.{n}.weight": "IQ4_NL" for n in ("ffn_up", "ffn_gate", "attn_q")},
            },
        ),
        (
            Recipe("all", body="Q4_0", head="Q4_0"),
            {"output.weight": "Q4_0", **{f"blk.0.{name}.weight": "Q4_0" for name in MIXED}},
        ),
    ],
    ids=lambda value: value.name if isinstance(value, Recipe) else "",
)
def test_a_recipe_gives_each_tensor_its_type(recipe: Recipe, expected: dict[str, str]) -> None:
    assert target_types(recipe, model(MIXED)) == expected


def test_the_head_of_a_tied_model_is_its_embedding() -> None:
    assert target_types(Recipe("all", head="Q4_0"), model({}, tied=True)) == {"token_embd.weight": "Q4_0"}


def test_norms_and_biases_are_never_touched() -> None:
    for recipe in standard_recipes():
        assert not [name for name in target_types(recipe, model(MIXED)) if "norm" in name or "bias" in name]


@pytest.mark.parametrize(
    ("recipe", "traits", "words"),
    [
        (Recipe("cut", vocabulary=1000), model(MIXED, kind="llama"), "not byte-pair"),
        (Recipe("cut", vocabulary=48_000), model(MIXED, vocabulary=49_152), "only 49,152 tokens"),
        (Recipe("k", body="Q4_K"), model(MIXED), "blocks of 256"),
        (Recipe("mixed", body="Q4_0", mixed=True), model(dict.fromkeys(MIXED, "Q8_0")), "same width"),
        (Recipe("body", body="Q4_0"), model(dict.fromkeys(MIXED, "Q4_0")), "already"),
        (Recipe("body", body="Q4_0"), model({}), "'qwen2' have unknown names"),
    ],
    ids=["not byte-pair", "small vocabulary", "short rows", "one width", "already so", "unknown names"],
)
def test_a_recipe_that_does_not_apply_says_why(recipe: Recipe, traits: ModelTraits, words: str) -> None:
    assert words in (why_not(recipe, traits) or "")
    assert words in applicable([recipe], traits)[1][recipe.name]


def test_of_two_recipes_with_the_same_effect_only_the_first_is_tried() -> None:
    traits = model({"attn_q": "Q4_K", "ffn_down": "Q6_K", "ffn_up": "Q4_K"}, width=1024)
    first, second = Recipe("a", body="Q4_0", mixed=True), Recipe("b", body="IQ4_NL", mixed=True)
    chosen, skipped = applicable([first, second], traits)
    assert chosen == (first,)
    assert skipped == {"b": "the same as a for this model"}


def test_the_estimate_is_the_sum_of_the_new_tensors() -> None:
    traits = model(MIXED)
    recipe = Recipe("all", vocabulary=15_193, body="Q4_0", head="Q4_0")
    weights, block = BLOCK["Q4_0"]
    body = len(MIXED) * 896 * 896 // weights * block
    head = 896 * 15_193 // weights * block
    embedding = 896 * 15_193 * 5.5 / 8
    assert estimated_bytes(recipe, traits) == pytest.approx(body + head + embedding, rel=0.001)
