"""Grammars out of the bundle, loaded when a document first needs them.

Loading the bundle's package takes tens of milliseconds and a grammar one more, so nothing here is imported at the
start of the server. Everything is read from the installed wheel; nothing is downloaded.
"""

from __future__ import annotations

import logging
import threading
import warnings
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import tree_sitter

SLICE_S = 0.002
"""Seconds a parser runs before it pauses.

py-tree-sitter holds the interpreter lock while it parses, so other threads (the event loop) stand still that long.
"""

_log = logging.getLogger(__name__)
_filters = threading.Lock()


@cache
def grammar(name: str | None) -> tree_sitter.Language | None:
    """The grammar called `name`; None when the bundle does not have it or does not load here."""
    if name is None:
        return None
    try:
        from tree_sitter_language_pack import get_language

        return get_language(name)  # type: ignore[arg-type]
    except (LookupError, ImportError, OSError, ValueError) as error:  # ValueError: the grammar is of another ABI
        _log.warning("The grammar for %s does not load; blocks are found by indentation instead. (%s)", name, error)
        return None


def pausing_parser(language: tree_sitter.Language) -> tree_sitter.Parser:
    """A parser that raises ValueError after `SLICE_S`; called again with the same arguments, it goes on.

    tree-sitter 0.25 calls `timeout_micros` deprecated in favour of a progress callback, but py-tree-sitter 0.25.2
    crashes in that callback (it builds the arguments with a format that only Python 3.14 knows).
    """
    import tree_sitter

    with _filters, warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return tree_sitter.Parser(language, timeout_micros=int(SLICE_S * 1e6))
