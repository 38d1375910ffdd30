"""Cutting a byte-pair vocabulary to its first tokens.

The ids of such a vocabulary are the order in which its merges were learned, so its first K tokens with the merges that
make them are themselves the vocabulary that a shorter training would have given. Two properties follow:

* a text that the whole vocabulary splits into tokens below K is split in the same way afterwards;
* the embedding and output rows of the tokens that stay are copied bit by bit, so their logits are the same.

Control tokens that stood behind the cut move up behind it. The number of rows is kept a multiple of `ROW_MULTIPLE`, as
the repacked products need it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from spark_lsp.errors import ModelFileError
from spark_lsp.models.optimize.gguf_source import TOKENS, GgufSource
from spark_lsp.models.optimize.recipes import EMBEDDING, HEAD

if TYPE_CHECKING:
    from gguf import GGUFWriter

ROW_MULTIPLE = 32
"""Eight on AVX2 and ARM, up to sixteen on RISC-V, and whole blocks of 32 for anything else."""
MERGES, TYPES, SCORES = "tokenizer.ggml.merges", "tokenizer.ggml.token_type", "tokenizer.ggml.scores"
_CONTROL, _USER_DEFINED = 3, 4
"""Token types whose tokens always stay (llama.h, `llama_token_type`)."""
_ID_ENDINGS = ("_token_id", "_token_ids", ".suppress_tokens")
_WHOLE_TOKENIZER = "tokenizer.huggingface.json"
"""Another spelling of the whole vocabulary; left out, since it would be wrong and nothing here reads it."""
_ROW_TENSORS = frozenset({EMBEDDING, HEAD, "output.bias"})
"""Tensors with one row for each token."""


@dataclass(frozen=True, slots=True)
class Selection:
    """Which tokens stay: new id i was `old[i]`; the first `prefix` of them kept their ids."""

    prefix: int
    old: tuple[int, ...]

    @property
    def new(self) -> dict[int, int]:
        """The new id of every token that stays, by its old one."""
        return {old: new for new, old in enumerate(self.old)}


def select(size: int, types: Sequence[int], referenced: Collection[int], keep: int) -> Selection:
    """Return the selection of about `keep` tokens from a vocabulary of `size`.

    Control and user-defined tokens and those `referenced` by metadata stay wherever they are; the prefix is up to
    `ROW_MULTIPLE` - 1 tokens shorter than asked, so that the total is a multiple of it.
    """
    kinds = types or [1] * size
    wanted = sorted(
        token
        for token in range(size)
        if kinds[token] in (_CONTROL, _USER_DEFINED) or (token in referenced and 0 <= token < size)
    )
    for prefix in range(min(keep, size), 0, -1):
        behind = [token for token in wanted if token >= prefix]
        if (prefix + len(behind)) % ROW_MULTIPLE == 0:
            return Selection(prefix, (*range(prefix), *behind))
    raise ValueError(f"a vocabulary of {size} tokens cannot be cut to {keep}")


def kept_merges(merges: Iterable[str], ids: Mapping[str, int], prefix: int) -> list[str]:
    """Return the merges whose result stays, in order.

    Raises ValueError when one of them needs a part that does not stay: then the ids are not in the order of learning.
    """
    kept = []
    for merge in merges:
        left, _, right = merge.partition(" ")
        if ids.get(left + right, prefix) >= prefix:
            continue
        if ids.get(left, prefix) >= prefix or ids.get(right, prefix) >= prefix:
            raise ValueError(f"the token {left + right!r} comes before its parts")
        kept.append(merge)
    return kept


def write_trimmed(source: GgufSource, keep: int, target: Path) -> Selection:
    """Write `source` with its vocabulary cut to about `keep` tokens to `target`, and return what stayed.

    Raises ModelFileError when the vocabulary does not allow it, OSError when the disk fails.
    """
    from gguf import GGUFWriter

    tokens = source.strings(TOKENS)
    try:
        selection = select(len(tokens), source.value(TYPES) or (), _referenced_ids(source), keep)
        ids = {text: token for token, text in enumerate(tokens)}
        merges = kept_merges(source.strings(MERGES), ids, selection.prefix)
        rows = {tensor.name: _rows(tensor, selection, len(tokens)) for tensor in source.reader.tensors}
    except ValueError as error:
        raise ModelFileError(f"The vocabulary of {source.path.name} cannot be cut: {error}.") from error
    replaced: dict[str, Any] = {TOKENS: [tokens[old] for old in selection.old], MERGES: merges}
    for key in (TYPES, SCORES):
        values = source.value(key)
        if values is not None:
            replaced[key] = [values[old] for old in selection.old]
    writer = GGUFWriter(target, source.traits.architecture)
    try:
        _copy_metadata(source, writer, replaced, selection)
        for tensor in source.reader.tensors:
            writer.add_tensor(tensor.name, rows[tensor.name], raw_dtype=tensor.tensor_type)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
    finally:
        writer.close()
    return selection


def _referenced_ids(source: GgufSource) -> set[int]:
    found: set[int] = set()
    for name in source.reader.fields:
        if name.endswith(_ID_ENDINGS):
            value = source.value(name)
            found.update(value if isinstance(value, list) else [value])
    return found


def _rows(tensor: Any, selection: Selection, size: int) -> Any:
    """Return the tensor's data with only the rows that stay, in their quantized form; a view where all of them do."""
    if size not in tensor.shape:
        return tensor.data
    if tensor.name not in _ROW_TENSORS or int(tensor.shape[-1]) != size:
        raise ValueError(f"the tensor {tensor.name} is as long as the vocabulary and of unknown meaning")
    behind = list(selection.old[selection.prefix :])
    return np.concatenate([tensor.data[: selection.prefix], tensor.data[behind]])


def _copy_metadata(source: GgufSource, writer: GGUFWriter, replaced: Mapping[str, Any], selection: Selection) -> None:
    """Copy every metadata pair, with the `replaced` values and with token ids as they are now."""
    from gguf import GGUFValueType, Keys

    new = selection.new
    for name, field in source.reader.fields.items():
        if name.startswith("GGUF.") or name in (Keys.General.ARCHITECTURE, _WHOLE_TOKENIZER):
            continue  # the writer makes the first two itself
        value = replaced[name] if name in replaced else field.contents()
        if name.endswith(_ID_ENDINGS):
            # A value that named no token, such as -1, stays what it is.
            value = [new[old] for old in value if old in new] if isinstance(value, list) else new.get(value, value)
        elif name == f"{source.traits.architecture}.vocab_size":
            value = len(selection.old)
        elif name == Keys.General.ALIGNMENT:
            writer.data_alignment = int(value)
        kind = field.types[0]
        if kind == GGUFValueType.ARRAY:
            if value:
                writer.add_key_value(name, value, kind, sub_type=field.types[-1])
        else:
            writer.add_key_value(name, value, kind)
