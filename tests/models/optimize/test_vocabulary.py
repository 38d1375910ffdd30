"""Cutting a vocabulary: the tokens that stay mean what they meant, bit for bit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from spark_lsp.decoding.llama import LlamaEngine
from spark_lsp.errors import ModelFileError
from spark_lsp.models.gguf_header import check_gguf
from spark_lsp.models.optimize.gguf_source import GgufSource, open_source
from spark_lsp.models.optimize.vocabulary import ROW_MULTIPLE, kept_merges, select, write_trimmed
from spark_lsp.prompt.special_tokens import find_special_tokens

from .tiny_model import SPECIALS, TEXT, write_tiny_model

KEEP = 300


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> GgufSource:
    return open_source(write_tiny_model(tmp_path_factory.mktemp("source") / "tiny.gguf"))


@pytest.fixture(scope="module")
def trimmed(source: GgufSource) -> Path:
    target = source.path.with_name("trimmed.gguf")
    write_trimmed(source, KEEP, target)
    return target


@pytest.fixture(scope="module")
def engines(source: GgufSource, trimmed: Path) -> tuple[LlamaEngine, LlamaEngine]:
    return tuple(LlamaEngine.load(path, context_tokens=512, sequences=1, threads=1) for path in (source.path, trimmed))  # type: ignore[return-value]


def bytes_of(engine: LlamaEngine, text: str) -> list[bytes]:
    return [engine.vocabulary.pieces[token] for token in engine.tokenize(text)]


class TestSelection:
    def test_the_prefix_and_every_control_token_stay_and_the_count_suits_repacked_products(self) -> None:
        types = [1] * 300 + [3, 3, 4, 5, 5]
        selection = select(len(types), types, (), 200)
        assert selection.old[: selection.prefix] == tuple(range(selection.prefix))
        assert selection.old[selection.prefix :] == (300, 301, 302)
        assert len(selection.old) % ROW_MULTIPLE == 0
        assert 200 - ROW_MULTIPLE < selection.prefix <= 200

    def test_control_tokens_inside_the_prefix_keep_their_place(self) -> None:
        selection = select(320, [3] * 10 + [1] * 310, (), 100)
        assert selection.old == tuple(range(96))

    def test_a_token_that_metadata_names_stays_even_if_it_is_unused(self) -> None:
        types = [1] * 300 + [5, 5]
        assert 301 in select(302, types, {301, -1}, 128).old

    @pytest.mark.parametrize(
        ("merges", "kept"),
        [
            (["a b", "ab c"], ["a b", "ab c"]),
            (["a b", "ab d"], ["a b"]),
            (["c d"], []),
        ],
        ids=["both results stay", "one result lies behind the cut", "none stays"],
    )
    def test_a_merge_stays_when_its_result_stays(self, merges: list[str], kept: list[str]) -> None:
        ids = {"a": 0, "b": 1, "c": 2, "ab": 3, "abc": 4, "d": 5, "abd": 6, "cd": 7}
        assert kept_merges(merges, ids, prefix=5) == kept

    def test_ids_that_are_not_in_the_order_of_learning_are_refused(self) -> None:
        with pytest.raises(ValueError, match="before its parts"):
            kept_merges(["a b"], {"a": 0, "ab": 1, "b": 9}, prefix=5)


class TestTrimmedFile:
    def test_it_is_a_complete_gguf_and_all_other_metadata_and_tensors_are_the_same(
        self, source: GgufSource, trimmed: Path
    ) -> None:
        check_gguf(trimmed)
        cut = open_source(trimmed)
        assert cut.traits.vocabulary_size < source.traits.vocabulary_size
        changed = {name for name in source.reader.fields if cut.value(name) != source.value(name)}
        assert changed == {
            "qwen2.vocab_size",
            "tokenizer.ggml.tokens",
            "tokenizer.ggml.token_type",
            "tokenizer.ggml.merges",
            "tokenizer.ggml.bos_token_id",
            "tokenizer.ggml.eos_token_id",
            "tokenizer.ggml.padding_token_id",
        }
        before = {tensor.name: tensor for tensor in source.reader.tensors}
        for tensor in cut.reader.tensors:
            assert tensor.tensor_type == before[tensor.name].tensor_type
            if tensor.name not in ("token_embd.weight", "output.weight"):
                assert np.array_equal(tensor.data, before[tensor.name].data)

    def test_text_within_the_kept_tokens_is_split_in_the_same_way(
        self, engines: tuple[LlamaEngine, LlamaEngine]
    ) -> None:
        original, cut = engines
        lines = [line for line in TEXT.splitlines() if all(token < 280 for token in original.tokenize(line))]
        assert len(lines) > 3
        assert any(len(piece) > 2 for line in lines for piece in bytes_of(original, line))
        for line in lines:
            assert bytes_of(cut, line) == bytes_of(original, line)

    def test_any_other_text_is_still_spelled_exactly(self, engines: tuple[LlamaEngine, LlamaEngine]) -> None:
        original, cut = engines
        assert max(original.tokenize(TEXT)) >= KEEP
        for text in (TEXT, "é 世界 😀\0\r\n"):
            assert b"".join(bytes_of(cut, text)) == text.encode()

    def test_control_tokens_are_found_by_their_text_and_end_a_generation_as_before(
        self, engines: tuple[LlamaEngine, LlamaEngine]
    ) -> None:
        original, cut = engines
        assert list(cut.vocabulary.special) == list(SPECIALS)
        ids = {token: text for text, token in cut.vocabulary.special.items()}
        before = {token: text for text, token in original.vocabulary.special.items()}
        assert {ids[t] for t in cut.vocabulary.end_of_generation} == {
            before[t] for t in original.vocabulary.end_of_generation
        }
        assert find_special_tokens(cut.vocabulary).fills_in_the_middle

    def test_the_logits_of_every_kept_token_are_those_of_the_original(
        self, engines: tuple[LlamaEngine, LlamaEngine], source: GgufSource
    ) -> None:
        original, cut = engines
        types = source.value("tokenizer.ggml.token_type")
        selection = select(len(types), types, {len(types) - 1, 322, 323}, KEEP)
        new = selection.new
        tokens = [*[t for t in original.tokenize(TEXT) if t < 280][:20], original.vocabulary.special["<|fim_middle|>"]]
        rows = []
        for engine, ids in ((original, tokens), (cut, [new[t] for t in tokens])):
            engine.truncate(0, 0)
            logits = engine.decode(0, 0, ids, len(ids))
            rows.append([logits.row(i).copy() for i in range(len(ids))])
        for before, now in zip(*rows, strict=True):
            assert now.shape == (len(selection.old),)
            np.testing.assert_allclose(now, before[list(selection.old)], rtol=1e-4, atol=1e-4)


def test_a_tensor_as_long_as_the_vocabulary_and_of_unknown_meaning_is_refused(
    source: GgufSource, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("spark_lsp.models.optimize.vocabulary._ROW_TENSORS", frozenset({"token_embd.weight"}))
    with pytest.raises(ModelFileError, match=r"output\.weight"):
        write_trimmed(source, KEEP, tmp_path / "out.gguf")


@pytest.mark.model
def test_the_real_vocabulary_is_cut_where_code_does_not_need_it(model_path: Path, tmp_path: Path) -> None:
    source = open_source(model_path)
    selection = write_trimmed(source, 48 * 1024, tmp_path / "cut.gguf")
    assert selection.prefix > 49_000
    engine = LlamaEngine.load(tmp_path / "cut.gguf", context_tokens=512)
    try:
        special = find_special_tokens(engine.vocabulary)
        new = selection.new
        assert (special.prefix, special.middle, special.suffix) == tuple(new[old] for old in (151659, 151660, 151661))
        assert special.stop >= {new[old] for old in (151643, 151645, 151662, 151664)}
        tokens = engine.tokenize("def area(width, height):\n    return width")
        assert max(tokens) < selection.prefix
        text = b""
        for position in range(6):
            batch = [tokens[-1]] if position else tokens
            row = engine.decode(0, engine.length(0), batch, 1).row(0)
            tokens.append(int(row.argmax()))
            text += engine.vocabulary.pieces[tokens[-1]]
        assert text.startswith(b" * height")
    finally:
        engine.close()
