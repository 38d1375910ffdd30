"""What a prefill gives: logits, and what they cost."""

from __future__ import annotations

from dataclasses import dataclass

from spark_lsp.decoding.engine import Logits, Row
from spark_lsp.errors import DecodeError


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The logits after a prompt, and what they cost."""

    logits: Logits
    """Row 0 follows the prompt; row i follows the i-th draft token, if the draft was decoded."""
    drafted: bool
    """Whether the draft was decoded; it is not when the prompt's last logits were still known."""
    width: int
    """Tokens of the decode that row 0 comes from."""
    computed: int
    """Prompt tokens that had to be decoded; the draft is not counted."""
    reused: int
    """Prompt tokens that were in the cache."""


@dataclass(frozen=True, slots=True)
class KnownRow:
    """Logits kept from an earlier decode."""

    length: int
    """Tokens before them."""
    kept: Row
    width: int

    def row(self, index: int) -> Row:
        """Return them for index 0, the only one there is; DecodeError for another."""
        if index:
            raise DecodeError("Only the logits after the prompt were kept.")
        return self.kept
