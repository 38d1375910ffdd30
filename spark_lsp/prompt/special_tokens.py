"""FIM tokens of the loaded model, found by their text.

Token ids differ between models with the same names, and llama.cpp's own list of end tokens misses some (the FIM tokens
of Qwen, `<file_sep>` of StarCoder2), so nothing here is a constant id: every id is looked up in the vocabulary, and a
model without a complete set of three is completed left to right.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from spark_lsp.decoding.engine import Vocabulary

_FIM_SPELLINGS: tuple[tuple[str, str, str], ...] = (
    ("<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>"),  # Qwen2.5-Coder, CodeGemma, Granite
    ("<fim_prefix>", "<fim_suffix>", "<fim_middle>"),  # StarCoder, Refact, Mellum, Granite
    (
        "<｜fim▁begin｜>",
        "<｜fim▁hole｜>",
        "<｜fim▁end｜>",
    ),  # DeepSeek-Coder v1: the hole stands where the suffix begins
    ("<[fim-prefix]>", "<[fim-suffix]>", "<[fim-middle]>"),  # Seed-Coder
    ("▁<PRE>", "▁<SUF>", "▁<MID>"),  # CodeLlama
    ("<|prefix|>", "<|suffix|>", "<|middle|>"),  # Falcon-H1-Coder
    ("[PREFIX]", "[SUFFIX]", "[MIDDLE]"),  # Codestral
    ("<|code_prefix|>", "<|code_suffix|>", "<|code_middle|>"),  # CodeGeeX4, GLM
)
"""Prefix, suffix and middle tokens as the model families spell them."""

_REPOSITORY_SPELLINGS: tuple[tuple[str, str], ...] = (
    ("<|repo_name|>", "<|file_sep|>"),  # Qwen2.5-Coder
    ("<repo_name>", "<file_sep>"),  # StarCoder2
    ("<reponame>", "<filename>"),  # StarCoder, Refact
    ("", "<|file_separator|>"),  # CodeGemma
    ("", "<filename>"),  # Mellum
)
"""The token before a repository's name, and the one before each file, as the model families spell them."""

_STOPS: frozenset[str] = frozenset(
    {
        "<|endoftext|>", "<|im_end|>", "<|im_start|>", "<|fim_pad|>", "<fim_pad>", "<|repo_name|>", "<repo_name>",
        "<reponame>", "<|file_sep|>", "<file_sep>", "<filename>", "<|file_separator|>", "<end_of_turn>", "<eos>",
        "<|EOT|>", "<｜end▁of▁sentence｜>", "▁<EOT>", "<EOT>", "</s>", "<gh_stars>", "<issue_start>",
        "<issue_comment>", "<issue_closed>", "<jupyter_start>", "<jupyter_text>", "<jupyter_code>",
        "<jupyter_output>", "<jupyter_script>", "<empty_output>", "<commit_before>", "<commit_msg>", "<commit_after>",
    }
)  # fmt: skip
"""Control tokens that no completed file contains: where one comes, the middle is over."""


@dataclass(frozen=True, slots=True)
class SpecialTokens:
    """The ids that a prompt is built of."""

    prefix: int | None
    suffix: int | None
    middle: int | None
    bos: int | None
    stop: frozenset[int]
    """Every id that ends a generation: the model's own end tokens, all FIM tokens and repository tokens."""
    repository: int | None = None
    """Comes before the name of a repository."""
    file: int | None = None
    """Comes before the path of a file."""

    @property
    def fills_in_the_middle(self) -> bool:
        """Whether the model has all three FIM tokens."""
        return None not in (self.prefix, self.suffix, self.middle)


def _fim_ids(special: Mapping[str, int]) -> tuple[int, int, int] | None:
    for names in _FIM_SPELLINGS:
        if all(name in special for name in names):
            prefix, suffix, middle = (special[name] for name in names)
            return prefix, suffix, middle
    return None


def _repository_ids(special: Mapping[str, int]) -> tuple[int | None, int | None]:
    for repository, file in _REPOSITORY_SPELLINGS:
        if file in special and (not repository or repository in special):
            return special.get(repository), special[file]
    return None, None


def find_special_tokens(vocabulary: Vocabulary) -> SpecialTokens:
    """Return the FIM, repository and stop ids of `vocabulary`; the three FIM ids are None unless all of them exist."""
    special = vocabulary.special
    fim = _fim_ids(special)
    every_fim = {name for names in _FIM_SPELLINGS for name in names}
    stop = vocabulary.end_of_generation | {i for text, i in special.items() if text in _STOPS or text in every_fim}
    prefix, suffix, middle = fim if fim is not None else (None, None, None)
    repository, file = _repository_ids(special)
    return SpecialTokens(prefix, suffix, middle, vocabulary.bos, frozenset(stop), repository, file)
