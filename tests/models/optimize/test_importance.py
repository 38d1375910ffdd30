"""How much the columns of weights matter, and what rounding makes of it."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

import gguf
import numpy as np
import pytest
from numpy.typing import NDArray

from spark_lsp.decoding.llama import LlamaEngine, importance
from spark_lsp.decoding.llama.importance import collect_importance
from spark_lsp.decoding.llama.quantize import quantize
from spark_lsp.errors import ModelLoadError
from spark_lsp.models.optimize.gguf_source import open_source
from spark_lsp.models.optimize.importance_file import read_importance, write_importance
from spark_lsp.models.optimize.requantize import full_types

from .tiny_model import FEED_FORWARD, LAYERS, TEXT, WIDTH, write_tiny_model

TYPE = "Q4_0"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_model(tmp_path_factory.mktemp("model") / "tiny.gguf", weights="F32")


def weights(path: Path, name: str) -> NDArray[np.float32]:
    tensor = next(tensor for tensor in open_source(path).reader.tensors if tensor.name == name)
    return np.asarray(gguf.quants.dequantize(tensor.data, tensor.tensor_type), np.float32)


def tokens_of(path: Path, text: str) -> Sequence[int]:
    engine = LlamaEngine.load(path, context_tokens=512, sequences=1, threads=1)
    try:
        return engine.tokenize(text)
    finally:
        engine.close()


def test_every_matrix_has_a_value_for_each_of_its_columns(model: Path) -> None:
    found = collect_importance(model, [TEXT], threads=1)
    names = ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down")
    assert set(found) == {"output.weight", *(f"blk.{n}.{name}.weight" for n in range(LAYERS) for name in names)}
    for name, values in found.items():
        assert values.shape == (FEED_FORWARD if "ffn_down" in name else WIDTH,)
        assert np.isfinite(values).all() and (values > 0).all()


def test_the_values_are_the_mean_squares_of_what_the_matrix_is_multiplied_with(model: Path) -> None:
    # The first layer's input is known without running the model: embeddings, each divided by its root mean square.
    found = collect_importance(model, [TEXT], threads=1)
    rows = weights(model, "token_embd.weight")[list(tokens_of(model, TEXT))]
    rows = rows / np.sqrt((rows**2).mean(axis=1, keepdims=True) + 1e-6)
    assert np.allclose(found["blk.0.attn_q.weight"], (rows**2).mean(axis=0), rtol=1e-3)


def test_several_texts_count_by_their_tokens(model: Path) -> None:
    short, long = "value = 1\n", TEXT
    one, other, both = (
        collect_importance(model, texts, threads=1)["blk.0.attn_q.weight"] for texts in ([short], [long], [short, long])
    )
    first, second = len(tokens_of(model, short)), len(tokens_of(model, long))
    assert np.allclose(both, (first * one + second * other) / (first + second), rtol=1e-3)


def test_important_columns_are_rounded_with_a_smaller_error(model: Path, tmp_path: Path) -> None:
    name = "blk.0.attn_q.weight"
    matter = np.ones(WIDTH, np.float32)
    matter[::8] = 1000.0
    write_importance({name: matter}, tmp_path / "importance.npz")
    types = full_types({name: TYPE}, open_source(model).traits)
    quantize(model, tmp_path / "plain.gguf", types, threads=1)
    known = read_importance(tmp_path / "importance.npz")
    quantize(model, tmp_path / "weighted.gguf", types, importance=known, threads=1)
    exact = weights(model, name)
    plain, weighted = (
        float((((weights(tmp_path / f"{kind}.gguf", name) - exact) ** 2)[:, ::8]).sum())
        for kind in ("plain", "weighted")
    )
    assert weighted < 0.9 * plain


def test_an_unknown_layout_of_tensors_is_one_sentence(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Shifted(ctypes.Structure):
        _fields_: ClassVar = [("more", ctypes.c_int64), *importance._Tensor._fields_]

    monkeypatch.setattr(importance, "_Tensor", Shifted)
    with pytest.raises(ModelLoadError, match="lays out its tensors in an unknown way"):
        collect_importance(model, [TEXT], threads=1)
