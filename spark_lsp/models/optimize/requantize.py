"""Giving the tensors of a model file other types."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from spark_lsp.models.optimize.isolated import run_job
from spark_lsp.models.optimize.recipes import ModelTraits


def full_types(changed: Mapping[str, str], traits: ModelTraits) -> dict[str, int]:
    """Return the GGUF type number of every matrix: the `changed` ones by name, the others as they are."""
    from gguf import GGMLQuantizationType

    return {
        tensor.name: int(GGMLQuantizationType[changed.get(tensor.name, tensor.type)])
        for tensor in traits.tensors
        if len(tensor.shape) > 1 and tensor.name.endswith(".weight")
    }


def write_requantized(
    source: Path,
    changed: Mapping[str, str],
    traits: ModelTraits,
    target: Path,
    *,
    importance: Path | None = None,
    threads: int = 0,
) -> None:
    """Write `source` to `target` with the types `changed`; `traits` are those of `source`.

    `importance` is a file of how much the columns of its matrices matter. Raises EngineError with llama.cpp's reason;
    `target` may then exist, incomplete.
    """
    types = full_types(changed, traits)
    job = {"kind": "quantize", "source": str(source), "target": str(target), "types": types, "threads": threads}
    run_job({**job, "importance": str(importance) if importance is not None else ""})
