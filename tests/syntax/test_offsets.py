from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from spark_lsp.syntax.offsets import EncodedText

pieces = st.sampled_from(
    ["a", "\n", "é", "中", "😀", "e\u0301", "ascii text " * 40, "中文" * 300, "😀" * 257, "\ud800"]
)
texts = st.lists(pieces, max_size=12).map("".join)


@settings(max_examples=150, deadline=None)
@given(texts, st.data())
def test_offsets_and_bytes_agree_with_encoding_the_prefix(text: str, data: st.DataObject) -> None:
    encoded = EncodedText(text)
    offset = data.draw(st.integers(0, len(text)))
    byte = len(text[:offset].encode("utf-8", "replace"))
    assert encoded.byte_of(offset) == byte
    assert encoded.offset_of(byte) == offset


@settings(max_examples=50, deadline=None)
@given(texts)
def test_offsets_out_of_the_text_are_clamped(text: str) -> None:
    encoded = EncodedText(text)
    assert (encoded.byte_of(-1), encoded.offset_of(-1)) == (0, 0)
    assert encoded.byte_of(len(text) + 5) == len(encoded.data)
    assert encoded.offset_of(len(encoded.data) + 5) == len(text)


def test_every_offset_around_the_borders_of_the_table_is_right() -> None:
    text = ("é" * 511 + "x") * 6
    encoded = EncodedText(text)
    assert [encoded.offset_of(encoded.byte_of(offset)) for offset in range(len(text) + 1)] == list(range(len(text) + 1))
