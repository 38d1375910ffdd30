"""Frames and JSON out of bytes: cut anywhere, headers of every kind, and the way back after a wrong length."""

from __future__ import annotations

import json
from typing import Any

import pytest

from spark_lsp.server.framing import INVALID_REQUEST, MOST_BODY_BYTES, PARSE_ERROR, BadFrame, FrameDecoder

ONE, TWO = {"id": 1, "text": "é😀\n"}, {"id": 2}


def frame(value: Any, header: str = "Content-Length: {}\r\n\r\n") -> bytes:
    body = json.dumps(value, ensure_ascii=False).encode()
    return header.format(len(body)).encode() + body


def decoded(data: bytes) -> list[Any]:
    return list(FrameDecoder().feed(data))


@pytest.mark.parametrize("size", [1, 2, 3, 7, 64])
def test_a_stream_cut_into_pieces_gives_the_same_messages(size: int) -> None:
    stream, decoder = frame(ONE) + frame(TWO) + frame(ONE), FrameDecoder()
    found = [value for at in range(0, len(stream), size) for value in decoder.feed(stream[at : at + size])]
    assert found == [ONE, TWO, ONE]


@pytest.mark.parametrize(
    "header",
    [
        "content-length:{}\r\n\r\n",
        "CONTENT-LENGTH : {} \r\n\r\n",
        "Content-Length: {}\n\n",
        "Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: {}\r\n\r\n",
        "Content-Length: {}\r\nContent-Type: application/vscode-jsonrpc; charset=utf8\r\n\r\n",
        "X-Anything: 1\r\nContent-Length: {}\r\nX-More: Content\r\n\r\n",
        "Content-Length: {0}\r\nContent-Length: {0}\r\n\r\n",
        "\r\n\r\nContent-Length: {}\r\n\r\n",
        "\ufeffContent-Length: {}\r\n\r\n",
        "Content-Length: 000{}\r\n\r\n",
    ],
)
def test_headers_are_read_as_generously_as_clients_write_them(header: str) -> None:
    assert decoded(frame(ONE, header) + frame(TWO)) == [ONE, TWO]


@pytest.mark.parametrize(
    "header",
    [
        "Content-Length: -5",
        "Content-Length: many",
        "Content-Length:",
        "Content-Length: 1e3",
        "Content-Length: 5.0",
        f"Content-Length: {MOST_BODY_BYTES + 1}",
        "Content-Length: 99999999999999999999999999",
        "Content-Type: application/json",
        "Content-Length: 5\r\nContent-Length: 6",
        "no header at all",
    ],
)
@pytest.mark.parametrize("body", [b'{"id": 9}', b"", b'{\n\n"id": 9\n}\n'], ids=["a body", "none", "of many lines"])
def test_after_a_header_without_a_usable_length_the_next_frame_is_found(header: str, body: bytes) -> None:
    first, *others = decoded(header.encode() + b"\r\n\r\n" + body + frame(ONE) + frame(TWO))
    assert (type(first), first.code) == (BadFrame, PARSE_ERROR)
    assert others[-2:] == [ONE, TWO]


def test_a_length_that_is_too_small_loses_one_message_only() -> None:
    bad, *others = decoded(b"Content-Length: 3\r\n\r\n" + json.dumps(ONE).encode() + frame(TWO) + frame(ONE))
    assert bad.code == PARSE_ERROR
    assert others == [TWO, ONE]


@pytest.mark.parametrize("more", [1, 10, 25, 35])
def test_a_length_that_is_too_large_loses_no_message(more: int) -> None:
    body = json.dumps(TWO).encode()
    stream = b"Content-Length: %d\r\n\r\n%s" % (len(body) + more, body) + frame(ONE) + frame(ONE)
    assert decoded(stream)[-2:] == [ONE, ONE]


@pytest.mark.parametrize("body", [b"", b"{", b"nothing", b"{'id': 1}", b"\xff\xfe", b'{"a": "\n"}'])
def test_a_body_that_is_no_json_is_a_parse_error(body: bytes) -> None:
    bad, after = decoded(b"Content-Length: %d\r\n\r\n%s" % (len(body), body) + frame(ONE))
    assert (bad.code, after) == (PARSE_ERROR, ONE)


def test_a_byte_order_mark_before_the_json_is_skipped() -> None:
    body = b"\xef\xbb\xbf" + json.dumps(ONE).encode()
    assert decoded(b"Content-Length: %d\r\n\r\n%s" % (len(body), body)) == [ONE]


def test_what_is_not_utf_8_becomes_one_character_for_each_byte() -> None:
    body = b'{"text": "caf\xe9 \xf0\x9f ok"}'
    assert decoded(b"Content-Length: %d\r\n\r\n%s" % (len(body), body)) == [{"text": "caf\ufffd \ufffd\ufffd ok"}]


@pytest.mark.parametrize("levels", [5_000, 100_000])
def test_a_message_that_is_nested_too_deeply_is_refused_by_its_id(levels: int) -> None:
    body = b'{"jsonrpc": "2.0", "id": 7, "method": "x", "params": %s%s}' % (b"[" * levels, b"]" * levels)
    bad, after = decoded(b"Content-Length: %d\r\n\r\n%s" % (len(body), body) + frame(ONE))
    assert (bad.code, bad.id, after) == (INVALID_REQUEST, 7, ONE)


@pytest.mark.parametrize(
    ("body", "identifier"),
    [
        ('{"jsonrpc":"2.0","id":7,"method":"x","params":', 7),
        ('{"method":"x","id":"a\\"b", "params": {', 'a"b'),
        ('{"jsonrpc":"2.0","id":7,"result":{', None),
        ('{"params": {"id": 7}, "method": ', None),
        ('{"jsonrpc":"2.0","id":7.5,"method":"x","params":', None),
        ('{"jsonrpc":"2.0","id":7', None),
    ],
)
def test_the_id_of_a_broken_request_is_told_where_it_stands_in_front(body: str, identifier: object) -> None:
    (bad,) = decoded(b"Content-Length: %d\r\n\r\n%s" % (len(body), body.encode()))
    assert bad.id == identifier


def test_garbage_without_a_line_end_is_not_kept() -> None:
    decoder = FrameDecoder()
    for _ in range(100):
        assert list(decoder.feed(b"x" * 10_000)) == []
    assert len(decoder._buffer) < 20_000
    assert list(decoder.feed(frame(ONE))) == [ONE]


def test_a_message_of_twenty_megabytes_is_read() -> None:
    value, decoder = {"text": "x" * 20_000_000}, FrameDecoder()
    stream = frame(value)
    pieces = [value for at in range(0, len(stream), 65_536) for value in decoder.feed(stream[at : at + 65_536])]
    assert pieces == [value]
