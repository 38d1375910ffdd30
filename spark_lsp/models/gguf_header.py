"""Is this file a complete GGUF: decided from its header alone, without reading the weights.

Layout (GGUF specification, versions 2 and 3, little-endian): magic, version, number of tensors, number of metadata
pairs; the pairs; one record per tensor with its shape, type and offset; padding; the tensor data. The end of the last
tensor is therefore known from the header, which is how a truncated download is told from a whole one.
"""

from __future__ import annotations

import mmap
import struct
from dataclasses import dataclass
from pathlib import Path

from spark_lsp.errors import ModelFileError, ModelNotFoundError

MAGIC = b"GGUF"
FIXED_HEADER = struct.Struct("<4sIQQ")  # magic, version, tensors, metadata pairs
OLDEST_VERSION = 2  # version 1 used 32-bit lengths and llama.cpp dropped it
NEWEST_VERSION = 3
DEFAULT_ALIGNMENT = 32  # bytes; the specification's value when general.alignment is absent
MAX_DIMENSIONS = 8  # llama.cpp allows 4; more than this is damage, not a tensor

STRING = 8
ARRAY = 9
UINT32 = 4
SCALAR_BYTES = {0: 1, 1: 1, 2: 2, 3: 2, UINT32: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}  # metadata type -> bytes

# tensor type -> (elements per block, bytes per block), from ggml's type table
BLOCKS = {
    0: (1, 4),  # F32
    1: (1, 2),  # F16
    2: (32, 18),  # Q4_0
    3: (32, 20),  # Q4_1
    6: (32, 22),  # Q5_0
    7: (32, 24),  # Q5_1
    8: (32, 34),  # Q8_0
    10: (256, 84),  # Q2_K
    11: (256, 110),  # Q3_K
    12: (256, 144),  # Q4_K
    13: (256, 176),  # Q5_K
    14: (256, 210),  # Q6_K
    16: (256, 66),  # IQ2_XXS
    17: (256, 74),  # IQ2_XS
    18: (256, 98),  # IQ3_XXS
    19: (256, 50),  # IQ1_S
    20: (32, 18),  # IQ4_NL
    21: (256, 110),  # IQ3_S
    22: (256, 82),  # IQ2_S
    23: (256, 136),  # IQ4_XS
    24: (1, 1),  # I8
    25: (1, 2),  # I16
    26: (1, 4),  # I32
    27: (1, 8),  # I64
    28: (1, 8),  # F64
    29: (256, 56),  # IQ1_M
    30: (1, 2),  # BF16
    34: (256, 54),  # TQ1_0
    35: (256, 66),  # TQ2_0
    39: (32, 17),  # MXFP4
    40: (64, 36),  # NVFP4
}

ANOTHER_FILE = "Give the path of a complete GGUF file, or a name from `spark-lsp models list`."


class _BeyondEndError(Exception):
    """The header goes on where the file has ended."""


class _DamagedError(Exception):
    """The header holds something that no GGUF holds."""


@dataclass(slots=True)
class _Cursor:
    data: mmap.mmap
    size: int
    at: int

    def skip(self, count: int) -> int:
        start = self.at
        if count > self.size - start:
            raise _BeyondEndError
        self.at = start + count
        return start

    def uint32(self) -> int:
        return int.from_bytes(self.data[(start := self.skip(4)) : start + 4], "little")

    def uint64(self) -> int:
        return int.from_bytes(self.data[(start := self.skip(8)) : start + 8], "little")

    def string(self) -> bytes:
        length = self.uint64()
        start = self.skip(length)
        return self.data[start : start + length]

    def skip_strings(self, count: int) -> None:
        # Vocabularies hold hundreds of thousands of strings, so this loop is written out for speed.
        unpack, data, at, last = struct.Struct("<Q").unpack_from, self.data, self.at, self.size - 8
        for _ in range(count):
            if at > last:
                raise _BeyondEndError
            at += 8 + unpack(data, at)[0]
        self.at = at
        self.skip(0)

    def skip_value(self, kind: int) -> None:
        if kind == STRING:
            self.skip_strings(1)
        elif kind == ARRAY:
            element, count = self.uint32(), self.uint64()
            if element == STRING:
                self.skip_strings(count)
            elif element in SCALAR_BYTES:
                self.skip(SCALAR_BYTES[element] * count)
            else:
                raise _DamagedError
        elif kind in SCALAR_BYTES:
            self.skip(SCALAR_BYTES[kind])
        else:
            raise _DamagedError


def check_gguf(file: Path) -> None:
    """Return when `file` is a GGUF that reaches to the end of its last tensor.

    Raises ModelNotFoundError when there is no such file, and ModelFileError when it cannot be read, is no GGUF, is cut
    off, or is of a version that llama.cpp does not load.
    """
    try:
        size = file.stat().st_size
        with file.open("rb") as stream:
            start = stream.read(FIXED_HEADER.size)
            if not start.startswith(MAGIC):
                raise ModelFileError(f"{file} is not a GGUF model.", next_step=ANOTHER_FILE)
            if len(start) < FIXED_HEADER.size:
                raise _BeyondEndError
            _, version, tensors, pairs = FIXED_HEADER.unpack(start)
            _check_version(file, version)
            if version > NEWEST_VERSION:
                return
            with mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data:
                end = _end_of_tensors(_Cursor(data, size, FIXED_HEADER.size), tensors, pairs)
        if end > size:
            missing = f" ({size:,} of at least {end:,} bytes)"
            raise ModelFileError(f"{file} is cut off{missing}.", next_step=ANOTHER_FILE)
    except _BeyondEndError:
        raise ModelFileError(f"{file} is cut off inside its header.", next_step=ANOTHER_FILE) from None
    except _DamagedError:
        raise ModelFileError(f"{file} has a damaged header.", next_step=ANOTHER_FILE) from None
    except FileNotFoundError as error:
        raise ModelNotFoundError(f"There is no file {file}.", next_step=ANOTHER_FILE) from error
    except OSError as error:
        raise ModelFileError(f"{file} cannot be read: {error.strerror or error}.", next_step=ANOTHER_FILE) from error


def _check_version(file: Path, version: int) -> None:
    if version & 0xFFFF == 0:  # a small number seen from the wrong end
        raise ModelFileError(f"{file} is a big-endian GGUF, which this machine cannot use.", next_step=ANOTHER_FILE)
    if version < OLDEST_VERSION:
        raise ModelFileError(f"{file} is GGUF version {version}, too old for llama.cpp.", next_step=ANOTHER_FILE)


def _end_of_tensors(cursor: _Cursor, tensors: int, pairs: int) -> int:
    """Return the offset in the file where the tensor data ends, as far as the types are known."""
    alignment = DEFAULT_ALIGNMENT
    for _ in range(pairs):
        key, kind = cursor.string(), cursor.uint32()
        if key == b"general.alignment" and kind == UINT32:
            alignment = cursor.uint32()
        else:
            cursor.skip_value(kind)
    end = 0
    for _ in range(tensors):
        cursor.string()
        dimensions = cursor.uint32()
        if dimensions > MAX_DIMENSIONS:
            raise _DamagedError
        elements = 1
        for _ in range(dimensions):
            elements *= cursor.uint64()
        per_block, block_bytes = BLOCKS.get(cursor.uint32(), (1, 0))  # of an unknown type only the offset is checked
        end = max(end, cursor.uint64() + elements // per_block * block_bytes)
    if alignment == 0:
        raise _DamagedError
    return -(-cursor.at // alignment) * alignment + end
