from hypothesis import given, settings
from hypothesis import strategies as st

from spark_lsp.decoding.healing import PieceTable

PIECES = st.lists(st.binary(max_size=4), min_size=1, max_size=40)
TYPED = st.binary(min_size=1, max_size=5)


def scan(pieces: list[bytes], typed: bytes) -> set[int]:
    return {t for t, p in enumerate(pieces) if p and (p.startswith(typed) or typed.startswith(p))}


@settings(max_examples=200)
@given(PIECES, TYPED)
def test_the_table_allows_the_pieces_that_a_scan_of_the_vocabulary_allows(pieces: list[bytes], typed: bytes) -> None:
    allowed = [int(token) for token in PieceTable(pieces).allowed(typed)]
    expected = scan(pieces, typed)
    assert set(allowed) <= expected
    # Of several tokens with the same bytes inside the typed text, one is enough.
    assert {pieces[token] for token in allowed} == {pieces[token] for token in expected}


def test_control_tokens_which_have_no_bytes_are_never_allowed() -> None:
    table = PieceTable([b"", b"a", b"ab", b""])
    assert sorted(table.allowed(b"a").tolist()) == [1, 2]


def test_the_highest_byte_has_no_successor_and_is_found_all_the_same() -> None:
    table = PieceTable([b"\xff", b"\xff\xff", b"\xfe"])
    assert sorted(table.allowed(b"\xff").tolist()) == [0, 1]


def test_a_typed_text_that_nothing_spells_allows_nothing() -> None:
    assert PieceTable([b"a"]).allowed(b"b").size == 0
