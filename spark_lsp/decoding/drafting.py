"""One generation's dealings with a drafter."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from spark_lsp.decoding.drafters.draft import Draft, DraftContext, Drafter


class Drafting:
    """Asks the drafter, and tells it how its drafts fared; `sent` is the one that the model is verifying."""

    def __init__(self, drafter: Drafter | None, context: DraftContext, typed: Sequence[int]) -> None:
        self._drafter = drafter
        self._context = context
        self._typed = tuple(typed)
        self._sent: Draft | None = None
        self._right: Counter[str] = Counter()
        self._assumed: tuple[int, ...] = ()
        """Typed tokens that the drafter was told of before the model spelled them so."""
        if drafter is not None:
            drafter.start(context)

    def opening(self, room: int, pending: int) -> tuple[int, ...]:
        """Return the draft that rides with `pending` prompt tokens: the typed ones and what may follow them."""
        if self._drafter is not None and pending and room:
            self._assumed = self._typed
            self._drafter.append(self._assumed)
            self._sent = self._drafter.propose(room, pending + len(self._typed))
        return self._typed + (self._sent.tokens if self._sent is not None else ())

    def drop(self) -> tuple[int, ...]:
        """Forget the opening, which was not decoded."""
        self._start_over()
        return ()

    def next(self, room: int) -> tuple[int, ...]:
        """Return the next draft, of at most `room` tokens."""
        self._sent = self._drafter.propose(room) if self._drafter is not None and room else None
        return self._sent.tokens if self._sent is not None else ()

    def judge(self, agreed: int, output: Sequence[int], known: int) -> tuple[int, int]:
        """Tell the drafter what became of the draft; return how many of its tokens were tried and were right.

        `agreed` tokens of the whole draft were right, and the output, of which `known` were there before, has grown.
        """
        if self._drafter is None:
            return 0, 0
        sent, skipped = self._sent, len(self._assumed)
        self._sent = None
        if skipped and tuple(output[:skipped]) != self._assumed:
            # The model spells the typed text otherwise: nothing of the draft was put to the test.
            self._start_over()
            sent, skipped = None, 0
        self._assumed = ()
        right = max(0, agreed - skipped)
        if agreed < skipped:  # a place among the typed tokens was decided alone, and the cells behind it went
            sent = None
        if sent is not None:
            self._drafter.observe(sent, right)
            self._right[sent.source] += right
        self._drafter.append(output[known + skipped :])
        return (len(sent), right) if sent is not None else (0, 0)

    @property
    def best_source(self) -> str:
        """The source of most tokens that were right; empty if none was."""
        source, right = max(self._right.items(), key=lambda item: item[1], default=("", 0))
        return source if right else ""

    def restart(self, output: Sequence[int]) -> None:
        """Start over behind `output`, some of which replaced what the drafter was told of."""
        self._sent, self._assumed = None, ()
        if self._drafter is not None:
            self._drafter.start(self._context)
            self._drafter.append(output)

    def _start_over(self) -> None:
        if self._drafter is not None and self._assumed:
            self._drafter.start(self._context)
        self._sent, self._assumed = None, ()
