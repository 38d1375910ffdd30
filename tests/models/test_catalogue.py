from __future__ import annotations

import re

import pytest

from spark_lsp.errors import UnknownModelError
from spark_lsp.models.catalogue import CATALOGUE, DEFAULT_MODEL, ModelCard, find

TEMPLATES = {"qwen", "starcoder", "deepseek", "codegemma", "mellum", "seed-coder", "granite", "none"}


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("qwen2.5-coder-0.5b-instruct-q4_k_m", "qwen2.5-coder-0.5b-instruct-q4_k_m"),
        ("Qwen2.5-Coder-0.5B-Instruct-Q4_K_M", "qwen2.5-coder-0.5b-instruct-q4_k_m"),
        ("qwen2.5-coder-0.5b-instruct-q4_k_m.gguf", "qwen2.5-coder-0.5b-instruct-q4_k_m"),
        ("starcoder2-3b_Q8_0.gguf", "starcoder2-3b-q8_0"),
        ("qwen2.5-coder-0.5b-q", "qwen2.5-coder-0.5b-q8_0"),
        ("smol", "smollm2-135m-instruct-q4_1"),
        (" Mellum ", "mellum-4b-q8_0"),
    ],
)
def test_a_name_is_found_in_any_case_by_file_name_and_by_a_start_that_only_one_has(given: str, meant: str) -> None:
    assert find(given).name == meant


def test_a_start_that_several_models_share_is_refused_with_the_list_of_them() -> None:
    with pytest.raises(UnknownModelError) as raised:
        find("qwen2.5-coder-0.5b")
    fitting = [card.name for card in CATALOGUE if card.name.startswith("qwen2.5-coder-0.5b")]
    assert len(fitting) == 3
    assert all(name in str(raised.value) for name in fitting)
    assert "1.5b" not in str(raised.value)


def test_an_unknown_name_is_answered_with_close_ones() -> None:
    with pytest.raises(UnknownModelError, match=r"Did you mean .*starcoder2-3b-q8_0") as raised:
        find("starcoder-3b")
    assert "spark-lsp models list" in raised.value.next_step


@pytest.mark.parametrize("nothing", ["", "   ", "zzzzzz"])
def test_a_name_like_no_other_is_answered_without_a_guess(nothing: str) -> None:
    with pytest.raises(UnknownModelError) as raised:
        find(nothing)
    assert "Did you mean" not in str(raised.value)


def test_every_name_and_file_means_one_model() -> None:
    for card in CATALOGUE:
        assert find(card.name) is card
        assert find(card.file) is card


def test_the_default_can_be_downloaded_from_both_sources_and_checked() -> None:
    card = find(DEFAULT_MODEL)
    assert card.mirror is not None
    assert card.sha256 is not None
    assert card.commercial_use


@pytest.mark.parametrize("card", CATALOGUE, ids=lambda card: card.name)
def test_a_card_is_well_formed(card: ModelCard) -> None:
    assert re.fullmatch(r"[a-z0-9][a-z0-9._-]*", card.name)
    assert re.fullmatch(r"[\w.-]+/[\w.-]+", card.repository)
    assert card.file.endswith(".gguf")
    assert card.sha256 is None or re.fullmatch(r"[0-9a-f]{64}", card.sha256)
    assert card.bytes is None or card.bytes > 0
    assert card.template in TEMPLATES
    assert card.context_length >= 1024
    assert card.commercial_use == ("Research" not in card.licence)


@pytest.mark.parametrize("card", [card for card in CATALOGUE if card.mirror], ids=lambda card: card.name)
def test_a_mirrored_card_has_size_and_checksum_because_packages_are_not_trusted(card: ModelCard) -> None:
    assert card.mirror is not None
    assert card.sha256 is not None
    assert card.bytes is not None
    assert all(re.fullmatch(r"[a-z0-9-]+==[0-9.]+", package) for package in card.mirror.packages)
    assert len(set(card.mirror.packages)) == len(card.mirror.packages)
