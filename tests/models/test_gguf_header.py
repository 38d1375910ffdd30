from __future__ import annotations

import struct
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spark_lsp.errors import ModelFileError, ModelNotFoundError
from spark_lsp.models.gguf_header import BLOCKS, check_gguf

from .stand_ins import gguf_string, make_gguf

WHOLE = make_gguf()


def written(tmp_path: Path, content: bytes) -> Path:
    file = tmp_path / "model.gguf"
    file.write_bytes(content)
    return file


@pytest.mark.parametrize("version", [2, 3, 4])
def test_a_whole_file_passes(tmp_path: Path, version: int) -> None:
    check_gguf(written(tmp_path, make_gguf(version=version)))


def test_bytes_after_the_last_tensor_do_no_harm(tmp_path: Path) -> None:
    check_gguf(written(tmp_path, WHOLE + bytes(100)))


def test_of_an_unknown_tensor_type_only_the_place_is_checked(tmp_path: Path) -> None:
    unknown = max(BLOCKS) + 100
    check_gguf(written(tmp_path, make_gguf(tensor_type=unknown)[:-4]))


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(kept=st.integers(4, len(WHOLE) - 1))
def test_a_file_cut_anywhere_is_refused_as_cut_off(tmp_path: Path, kept: int) -> None:
    with pytest.raises(ModelFileError, match="cut off") as raised:
        check_gguf(written(tmp_path, WHOLE[:kept]))
    assert "complete GGUF" in raised.value.next_step


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(at=st.integers(0, 300), value=st.binary(min_size=1, max_size=8))
def test_a_damaged_header_passes_or_is_refused_but_nothing_else_happens(tmp_path: Path, at: int, value: bytes) -> None:
    damaged = WHOLE[:at] + value + WHOLE[at + len(value) :]
    try:
        check_gguf(written(tmp_path, damaged))
    except ModelFileError as error:
        assert str(tmp_path) in str(error)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "is not a GGUF model"),
        (b"GGU", "is not a GGUF model"),
        (b"<html>Please log in</html>", "is not a GGUF model"),
        (b"GGUF", "is cut off inside its header"),
        (struct.pack("<4sIQQ", b"GGUF", 1, 0, 0), "version 1, too old"),
        (struct.pack(">4sIQQ", b"GGUF", 3, 1, 1), "big-endian"),
        (struct.pack("<4sIQQ", b"GGUF", 3, 0, 1) + gguf_string("k") + struct.pack("<I", 99), "damaged header"),
        (struct.pack("<4sIQQ", b"GGUF", 3, 0, 1) + gguf_string("k") + struct.pack("<IIQ", 9, 9, 1), "damaged header"),
        (struct.pack("<4sIQQ", b"GGUF", 3, 1, 0) + gguf_string("t") + struct.pack("<I", 1000), "damaged header"),
        (struct.pack("<4sIQQ", b"GGUF", 3, 1 << 60, 1 << 60), "cut off inside its header"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, content: bytes, sentence: str) -> None:
    with pytest.raises(ModelFileError, match=sentence):
        check_gguf(written(tmp_path, content))


def test_a_missing_file_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(ModelNotFoundError, match="There is no file"):
        check_gguf(tmp_path / "absent.gguf")


def test_a_directory_cannot_be_read_as_a_model(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match="cannot be read"):
        check_gguf(tmp_path)
