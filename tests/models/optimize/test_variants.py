"""The kept variant: used only for the very model file it was made from."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from spark_lsp.models.optimize.variants import (
    Manifest,
    keep,
    kept_variant,
    manifest_file,
    remove_variant,
    source_facts,
    variant_file,
)


def manifest(model: Path, variant: Path) -> Manifest:
    from spark_lsp.models.checksum import sha256_of

    return Manifest(
        **source_facts(model),
        variant_size=variant.stat().st_size,
        variant_sha256=sha256_of(variant),
        recipe="vocab-48k",
        gains={"prompt": 1.5, "1": 1.3, "4": 1.4, "16": 1.6},
        loss=0.4,
        loss_low=-0.3,
        loss_high=1.1,
        tasks=1800,
        max_loss=1.5,
        agreement=95.0,
        resident=None,
        cpu="a processor",
        llama_cpp="0.3.36",
        made="2025-01-31",
    )


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A model file with a kept variant."""
    model, made = tmp_path / "tiny.gguf", tmp_path / "made.gguf"
    model.write_bytes(b"GGUF original")
    made.write_bytes(b"GGUF variant")
    keep(made, model, manifest(model, made))
    return model


def test_the_variant_lies_beside_the_model_and_tells_what_it_is(model: Path) -> None:
    variant = kept_variant(model)
    assert variant is not None
    assert variant.path == model.with_name("tiny.optimized.gguf")
    assert variant.path.read_bytes() == b"GGUF variant"
    assert variant.manifest.recipe == "vocab-48k"
    for part in ("vocab-48k", "1.50x", "1.30x", "0.4", "-0.3 to 1.1", "1800"):
        assert part in variant.summary()


def test_a_touched_or_copied_model_still_has_its_variant(model: Path) -> None:
    os.utime(model, (1, 1))
    assert kept_variant(model) is not None


@pytest.mark.parametrize(
    "spoil",
    [
        lambda model: model.write_bytes(b"GGUF other!!!"),
        lambda model: model.write_bytes(b"GGUF longer than before"),
        lambda model: variant_file(model).write_bytes(b"GGUF damaged"),
        lambda model: variant_file(model).write_bytes(b"GGUF"),
        lambda model: variant_file(model).unlink(),
        lambda model: manifest_file(model).unlink(),
        lambda model: manifest_file(model).write_text("{"),
        lambda model: manifest_file(model).write_text("[]"),
        lambda model: manifest_file(model).write_text("[" * 99_999),
        lambda model: manifest_file(model).write_text(
            json.dumps({**json.loads(manifest_file(model).read_text()), "loss": "x"})
        ),
        lambda model: manifest_file(model).write_text(
            json.dumps({**json.loads(manifest_file(model).read_text()), "format": 99})
        ),
        lambda model: model.unlink(),
    ],
    ids=[
        "another model of the same size",
        "another model",
        "a variant altered in place",
        "a variant cut off",
        "no variant",
        "no manifest",
        "a manifest cut off",
        "a manifest of another kind",
        "a manifest nested too deeply",
        "a manifest with a word for a number",
        "a manifest of a later version",
        "no model",
    ],
)
def test_what_does_not_belong_together_is_not_used(model: Path, spoil: object) -> None:
    os.utime(model, (1, 1))
    os.utime(variant_file(model), (1, 1))
    assert kept_variant(model) is not None
    spoil(model)  # type: ignore[operator]
    assert kept_variant(model) is None


def test_neither_file_is_read_while_both_are_unchanged(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("checksum", "optimize.variants"):
        monkeypatch.setattr(f"spark_lsp.models.{module}.sha256_of", lambda file: pytest.fail(f"{file} was read"))
    assert kept_variant(model) is not None


def test_remove_leaves_nothing_but_the_model(model: Path) -> None:
    assert remove_variant(model)
    assert [path.name for path in model.parent.iterdir()] == ["tiny.gguf"]
    assert not remove_variant(model)
