"""The bytes that a generation has written so far, split into what heals typed text and what is shown."""

from __future__ import annotations

from collections.abc import Sequence

from spark_lsp.decoding.sampling import Choice


class Output:
    """Tokens and their text."""

    def __init__(self, pieces: Sequence[bytes], heal: bytes) -> None:
        self._pieces = pieces
        self._heal = heal
        self._bytes = bytearray()
        self.untyped = heal
        self.text = ""
        self.broken = False
        self.tokens: list[int] = []
        self.probabilities: list[float] = []
        self.ends: list[int] = []

    def add(self, choice: Choice) -> None:
        """Append a token."""
        piece = self._pieces[choice.token]
        self._bytes += piece
        self.untyped = self.untyped[len(piece) :]
        self.text, self.broken = _decoded(bytes(self._bytes[len(self._heal) :]))
        self.tokens.append(choice.token)
        self.probabilities.append(choice.probability)
        self.ends.append(len(self.text))

    def cut(self, count: int) -> None:
        """Keep the first `count` tokens."""
        del self.tokens[count:], self.probabilities[count:], self.ends[count:]
        self._bytes = bytearray(b"".join(self._pieces[token] for token in self.tokens))
        self.untyped = self._heal[len(self._bytes) :]
        self.text, self.broken = _decoded(bytes(self._bytes[len(self._heal) :]))

    def upto(self, count: int, then: int | None = None) -> tuple[str, bytes]:
        """Return the text of the first `count` tokens and of the token `then`, and what of the typed text is left."""
        tokens = self.tokens[:count] if then is None else [*self.tokens[:count], then]
        written = b"".join(self._pieces[token] for token in tokens)
        return written[len(self._heal) :].decode("utf-8", "replace"), self._heal[len(written) :]

    def token_at(self, begin: int) -> int:
        """Return the index of the token that writes the character at `begin`, which is negative in typed text."""
        if begin >= 0:
            at = len(self._heal) + len(self.text[:begin].encode())
        else:
            at = max(0, len(self._heal) + begin)  # names are ASCII
        size = 0
        for index, token in enumerate(self.tokens):
            size += len(self._pieces[token])
            if size > at:
                return index
        return max(0, len(self.tokens) - 1)


def _decoded(shown: bytes) -> tuple[str, bool]:
    try:
        return shown.decode("utf-8"), False
    except UnicodeDecodeError as error:
        # A character may be spread over several tokens; anything else is not text.
        broken = error.reason != "unexpected end of data" or len(shown) - error.start >= 4
        return shown[: error.start].decode("utf-8"), broken
