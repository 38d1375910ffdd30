"""The text of open documents: immutable snapshots, position encodings, incremental edits.

Offsets are code points everywhere; `positions` is the only place that knows UTF-8, UTF-16 and UTF-32 units.
"""

from __future__ import annotations

from spark_lsp.documents.edits import ContentChange, Range, apply_change, apply_changes
from spark_lsp.documents.positions import Encoding, offset_at, position_at, units
from spark_lsp.documents.text import TextSnapshot

__all__ = [
    "ContentChange",
    "Encoding",
    "Range",
    "TextSnapshot",
    "apply_change",
    "apply_changes",
    "offset_at",
    "position_at",
    "units",
]
