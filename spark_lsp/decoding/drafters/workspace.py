"""Texts of the workspace as a source of drafts: queued when they come, tokenised and learned in idle time.

No text is learned twice. One that changed is learned again when it changed substantially, since a second copy of what
stayed would only push other texts out of the index.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from spark_lsp.decoding.drafters.ngrams import WORKSPACE_TOKENS, NgramDrafter, NgramIndex, TextBacklog

TEXT_CHARACTERS = 100_000
"""Most characters of one text, a quarter of what the index holds: no text pushes out all others."""
HELD_CHARACTERS = 3 * WORKSPACE_TOKENS
"""About what the index holds, at three characters to a token of code. What was queued before that much other text is
gone from the index, or from the backlog, and may be learned again."""
HELD_TEXTS = 512
"""Most texts that are remembered, which bounds the memory where all of them are tiny."""
NEW_SHARE = 0.25
"""Share of its different lines that must be new for a text to be learned again."""
_UNUSED_TOKENS = 16
"""Size of the index that stands in until there is a text."""


@dataclass(frozen=True, slots=True)
class _Known:
    """What is remembered of a text."""

    digest: int
    lines: frozenset[int]
    """Hashes of its lines."""
    characters: int


class WorkspaceTexts:
    """The texts and the drafter that copies from them. The index, 5 MB, is made with the first text."""

    def __init__(self, tokenize: Callable[[str], Sequence[int]]) -> None:
        self.drafter = NgramDrafter("workspace", NgramIndex(_UNUSED_TOKENS))
        self.texts = 0
        """Texts taken in since start."""
        self._tokenize = tokenize
        self._enabled = True
        self._backlog: TextBacklog | None = None
        self._known: OrderedDict[str, _Known] = OrderedDict()

    @property
    def pending(self) -> int:
        """Characters that wait to be learned."""
        return len(self._backlog) if self._backlog is not None else 0

    def read(self, name: str, text: str) -> bool:
        """Queue a text, with any line ends, under the name of its file; False if it is not wanted or well known."""
        if not self._enabled:
            return False
        text = text[:TEXT_CHARACTERS].replace("\r\n", "\n").replace("\r", "\n")
        digest = hash(text)
        if not text.strip() or any(known.digest == digest for known in self._known.values()):
            return False
        lines = frozenset(map(hash, text.split("\n")))
        before = self._known.get(name)
        if before is not None and len(lines - before.lines) < NEW_SHARE * len(lines):
            return False
        self._remember(name, _Known(digest, lines, len(text)))
        if self._backlog is None:
            self.drafter.index = NgramIndex(WORKSPACE_TOKENS)
            self._backlog = TextBacklog(self.drafter.index, self._tokenize)
        self._backlog.add(text)
        self.texts += 1
        return True

    def work(self) -> bool:
        """Learn one piece, which takes about 10 ms; False when nothing is left."""
        return self._backlog is not None and self._backlog.work()

    def enable(self, wanted: bool) -> None:
        """Take in texts from now on, or forget all of them and free the memory."""
        self._enabled = wanted
        if not wanted:
            self.drafter.index = NgramIndex(_UNUSED_TOKENS)
            self._backlog = None
            self._known.clear()

    def _remember(self, name: str, known: _Known) -> None:
        self._known.pop(name, None)
        self._known[name] = known
        characters = sum(other.characters for other in self._known.values())
        while characters > HELD_CHARACTERS or len(self._known) > HELD_TEXTS:
            characters -= self._known.popitem(last=False)[1].characters
