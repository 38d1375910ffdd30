"""Reading a model file with the `gguf` package (extra `optimize`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spark_lsp.errors import ModelError, ModelFileError
from spark_lsp.models.optimize.recipes import ModelTraits, TensorTraits

if TYPE_CHECKING:
    from gguf import GGUFReader

PACKAGES = ("gguf", "psutil")
"""The extra `optimize`: model files taken apart and put together, and the memory of a process."""
TOKENS = "tokenizer.ggml.tokens"
_SPLIT = "split.count"


@dataclass(frozen=True, slots=True)
class GgufSource:
    """An open model file; its tensors are mapped, not read."""

    path: Path
    reader: GGUFReader
    traits: ModelTraits

    def value(self, key: str) -> Any:
        """Return the metadata value of `key` as Python data, None where there is none."""
        field = self.reader.get_field(key)
        return None if field is None else field.contents()

    def strings(self, key: str) -> Sequence[str]:
        """Return a metadata array of strings, empty where there is none."""
        return self.value(key) or ()


def require_packages() -> None:
    """Return when the packages of the extra are there. Raises ModelError otherwise."""
    missing = [name for name in PACKAGES if find_spec(name) is None]
    if missing:
        raise ModelError(
            f"Optimizing needs the Python package {' and '.join(missing)}.",
            next_step="Install it with `pip install 'spark-lsp[optimize]'`.",
        )


def open_source(path: Path) -> GgufSource:
    """Return the model file at `path`, which has passed `gguf_header.check_gguf`.

    A vocabulary of 150,000 tokens takes some seconds. Raises ModelFileError for what the package cannot read, and for
    a model that is split over several files.
    """
    from gguf import GGUFReader

    try:
        reader = GGUFReader(path)
    except (ValueError, KeyError, IndexError, UnicodeDecodeError) as error:
        raise ModelFileError(
            f"{path.name} cannot be taken apart: {error}.", next_step="Check it with `spark-lsp models verify`."
        ) from error
    count = reader.get_field(_SPLIT)
    if count is not None and int(count.contents()) > 1:
        raise ModelFileError(
            f"{path.name} is one of several parts of a model.", next_step="Merge them with `llama-gguf-split --merge`."
        )
    return GgufSource(path, reader, _traits(reader))


def _traits(reader: GGUFReader) -> ModelTraits:
    tokens = reader.get_field(TOKENS)
    return ModelTraits(
        architecture=_text(reader, "general.architecture"),
        vocabulary_model=_text(reader, "tokenizer.ggml.model"),
        vocabulary_size=len(tokens.data) if tokens is not None else 0,
        tensors=tuple(
            TensorTraits(
                name=tensor.name,
                type=tensor.tensor_type.name,
                shape=tuple(int(length) for length in tensor.shape),
                bytes=int(tensor.n_bytes),
            )
            for tensor in reader.tensors
        ),
    )


def _text(reader: GGUFReader, key: str) -> str:
    field = reader.get_field(key)
    return str(field.contents()) if field is not None else ""
