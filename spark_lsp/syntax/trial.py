"""Texts tried at one place of a document, one after the other: what a suggestion does to the syntax."""

from __future__ import annotations

from spark_lsp.syntax.errors import can_judge, error_count
from spark_lsp.syntax.parser import SyntaxTree, reparse


class Trial:
    """The document of a tree with a text put in at a place.

    Each tree grows out of the last, since the next text is mostly like it. The document itself may be far from it: a
    function without its body makes all that follows in its class another tree, which takes as long as parsing anew.
    """

    def __init__(self, tree: SyntaxTree, offset: int) -> None:
        """Try texts at `offset` of the document of `tree`, which may have no root."""
        self._tree = self._last = tree
        self._before, self._after = tree.text[:offset], tree.text[offset:]
        self.judges = can_judge(tree, offset)
        """Whether errors tell anything here (`errors.can_judge`)."""
        self._errors: int | None = None

    def tree_with(self, text: str, separator: str = "") -> SyntaxTree:
        """Return the tree with `text`, and `separator` behind it."""
        changed = self._last = reparse(self._last, self._before + text + separator + self._after)
        return changed  # another thread, which judges an early answer, may have set the last one by now

    def tree_with_line(self, text: str) -> SyntaxTree:
        """Return the tree with `text` as the end of its line."""
        return self.tree_with(text.rstrip(), "" if self._after.startswith(("\n", "\r")) else "\n")

    def breaks(self, changed: SyntaxTree) -> bool:
        """Whether the tree of a tried text has more errors than the document; those that were there do not count."""
        if changed.root is None or not changed.root.has_error:
            return False
        if self._errors is None:
            self._errors = error_count(self._tree)
        return error_count(changed) > self._errors
