"""FIM and stop ids of real model families, found by text. Ids are those of the published vocabularies."""

import pytest

from spark_lsp.decoding.engine import Vocabulary
from spark_lsp.prompt.special_tokens import find_special_tokens
from spark_lsp.prompt.templates import Template, choose_template

QWEN = {
    "<|endoftext|>": 151643, "<|im_start|>": 151644, "<|im_end|>": 151645, "<|fim_prefix|>": 151659,
    "<|fim_middle|>": 151660, "<|fim_suffix|>": 151661, "<|fim_pad|>": 151662, "<|repo_name|>": 151663,
    "<|file_sep|>": 151664,
}  # fmt: skip
STARCODER2 = {
    "<|endoftext|>": 0, "<fim_prefix>": 1, "<fim_middle>": 2, "<fim_suffix>": 3, "<fim_pad>": 4, "<repo_name>": 5,
    "<file_sep>": 6,
}  # fmt: skip
DEEPSEEK = {
    "<｜fim▁begin｜>": 32016, "<｜fim▁hole｜>": 32015, "<｜fim▁end｜>": 32017, "<｜end▁of▁sentence｜>": 32014,
    "<|EOT|>": 32021,
}  # fmt: skip
SEED = {"<[fim-suffix]>": 125, "<[fim-prefix]>": 124, "<[fim-middle]>": 126}
MELLUM = {"<fim_prefix>": 1, "<fim_middle>": 2, "<fim_suffix>": 3, "<filename>": 5, "<|endoftext|>": 0}
SMOLLM2 = {"<|endoftext|>": 0, "<|im_start|>": 1, "<|im_end|>": 2, "<repo_name>": 3, "<reponame>": 4, "<file_sep>": 5}


def vocabulary(special: dict[str, int], end: frozenset[int] = frozenset()) -> Vocabulary:
    return Vocabulary((), special, end)


@pytest.mark.parametrize(
    ("special", "ids", "template"),
    [
        (QWEN, (151659, 151661, 151660), Template.PSM),
        (STARCODER2, (1, 3, 2), Template.PSM),
        (DEEPSEEK, (32016, 32015, 32017), Template.PSM),
        (SEED, (124, 125, 126), Template.SPM),
        (MELLUM, (1, 3, 2), Template.SPM),
        (SMOLLM2, (None, None, None), Template.LEFT_TO_RIGHT),
    ],
    ids=["qwen", "starcoder2", "deepseek", "seed-coder", "mellum", "smollm2"],
)
def test_prefix_suffix_and_middle_by_text(special: dict[str, int], ids: tuple[int, ...], template: Template) -> None:
    tokens = find_special_tokens(vocabulary(special))
    assert (tokens.prefix, tokens.suffix, tokens.middle) == ids
    assert choose_template(special, tokens, "anchored") is template


def test_an_incomplete_set_counts_as_none_and_never_becomes_id_0() -> None:
    tokens = find_special_tokens(vocabulary({"<|fim_prefix|>": 5, "<|fim_suffix|>": 6}))
    assert not tokens.fills_in_the_middle
    assert tokens.middle is None


def test_generation_stops_at_every_fim_and_repository_token_and_at_the_end_tokens_of_the_model() -> None:
    tokens = find_special_tokens(vocabulary(QWEN, frozenset({128247})))
    assert tokens.stop == {*QWEN.values(), 128247}
    assert {1, 2, 3, 5, 6} <= find_special_tokens(vocabulary(STARCODER2)).stop


def test_the_plain_order_can_be_chosen_for_a_model_that_prefers_it() -> None:
    assert choose_template(QWEN, find_special_tokens(vocabulary(QWEN)), "plain") is Template.PLAIN_PSM
    assert choose_template(SMOLLM2, find_special_tokens(vocabulary(SMOLLM2)), "plain") is Template.LEFT_TO_RIGHT
