"""All drafters as one: each step the draft that promises most.

Every source is asked, its draft is weighed against the cost of verifying it, and the best one is sent. Drafts that are
not sent are compared with what the model writes all the same: so every source keeps learning, and a source that got
better is noticed at no cost. What counts in the end is what sent drafts gained; a source that keeps losing is left out
for a while.

A draft model is asked last, when no other draft pays, since making its draft takes time. That time counts against what
the draft gains, and all of it is lost where the draft is not sent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from spark_lsp.decoding.cost_model import CostModel
from spark_lsp.decoding.drafters.boundary import SuffixBoundary
from spark_lsp.decoding.drafters.draft import Draft, DraftContext, Drafter
from spark_lsp.decoding.drafters.length import LengthChoice, weigh_lengths

GAIN_WEIGHT = 1 / 16
"""Share of the newest draft in the mean gain of its source; a single draft gains anything from 0.4 to 4."""
FIRST_GAIN = 1.1
"""Mean gain that a source starts with: three drafts in a row that fail altogether switch it off."""
LEAST_GAIN = 0.95
"""A source below this is switched off; a little below 1, since a source that breaks even wavers around it."""
PROBE_STEPS = 128
"""Steps until a source that was switched off is tried again, with one draft. A failed one costs up to two plain steps,
so trying costs less than 2 %."""
UNSENT_TOKENS = 8
"""Tokens of an unsent draft that are compared with the output: as many as decide whether a draft pays."""


@dataclass(frozen=True, slots=True)
class SourceCounts:
    """What the drafts of one source came to."""

    drafts: int = 0
    """Drafts sent to the model."""
    drafted: int = 0
    """Tokens in them."""
    accepted: int = 0
    """Those that the model agreed with."""


@dataclass(slots=True)
class _Source:
    drafter: Drafter
    gain: float = FIRST_GAIN
    on_trial: bool = False
    """Whether the next draft decides."""
    off_until: int = 0
    """Step at which it is asked again."""
    unsent: Draft | None = None
    agreed: int = 0
    """Tokens of `unsent` that the model has written."""
    counts: SourceCounts = field(default_factory=SourceCounts)


class DraftChain:
    """A drafter made of drafters. `cost` may be replaced at any time between two steps.

    `last` is asked only when no draft of the others pays.
    """

    name = "chain"

    def __init__(self, drafters: Sequence[Drafter], cost: CostModel, *, last: Drafter | None = None) -> None:
        self.cost = cost
        self._order = [_Source(drafter) for drafter in drafters]
        self._last = _Source(last) if last is not None else None
        every = [*self._order, self._last] if self._last is not None else self._order
        self._sources = {source.drafter.name: source for source in every}
        if len(self._sources) != len(every):
            raise ValueError("two drafters have the same name")
        self._boundary = SuffixBoundary(DraftContext((), (), ()))
        self._step = 0
        self._pending = 1

    def start(self, context: DraftContext) -> None:
        """Begin a generation."""
        self._boundary = SuffixBoundary(context)
        for source in self._sources.values():
            source.unsent = None
            source.drafter.start(context)

    def append(self, tokens: Sequence[int]) -> None:
        """Take in what the model has written since."""
        for source in self._sources.values():
            if source.unsent is not None:
                _compare_unsent(source, source.unsent, tokens)
            source.drafter.append(tokens)
        self._boundary.append(tokens)

    def propose(self, limit: int, pending: int = 1) -> Draft | None:
        """Return the draft that gains most, cut to the length that does, or None if no draft gains.

        `pending` tokens are decoded in the same step in any case.
        """
        self._step += 1
        self._pending = pending
        best: Draft | None = None
        sender: _Source | None = None
        choice = LengthChoice(0, 1.0)
        for source in self._order:
            draft = self._ask(source, limit)
            if draft is None:
                continue
            weighed = weigh_lengths(draft.confidences, self.cost, pending)
            if weighed.length and weighed.gain > choice.gain:
                best, sender, choice = draft, source, weighed
        if best is None or sender is None:
            return self._ask_last(limit)
        sender.unsent = None
        return best.cut(choice.length)

    def observe(self, draft: Draft, accepted: int) -> None:
        """Learn how the draft that was sent fared: its source's confidence and gain."""
        source = self._sources[draft.source]
        source.drafter.observe(draft, accepted)
        counts = source.counts
        source.counts = replace(
            counts,
            drafts=counts.drafts + 1,
            drafted=counts.drafted + len(draft),
            accepted=counts.accepted + accepted,
        )
        plain = self.cost.seconds(self._pending) + accepted * self.cost.seconds(1)
        self._judge(source, plain / (self.cost.seconds(self._pending + len(draft)) + draft.seconds))
        # The source that gained most is asked first, which matters where two promise the same.
        self._order.sort(key=lambda s: -s.gain)

    def counts(self) -> dict[str, SourceCounts]:
        """Return what was sent and accepted, by source."""
        return {name: source.counts for name, source in self._sources.items()}

    def switched_off(self) -> frozenset[str]:
        """Return the names of the sources that are not asked at present."""
        return frozenset(name for name, source in self._sources.items() if self._step < source.off_until)

    def _ask(self, source: _Source, limit: int) -> Draft | None:
        if self._step < source.off_until:
            return None
        whole = source.drafter.propose(limit)
        if not whole:
            return whole
        draft = self._boundary.cut(whole, limit) or whole.cut(0)
        if draft and source.unsent is None:
            source.unsent, source.agreed = draft, 0
        return draft

    def _ask_last(self, limit: int) -> Draft | None:
        """Return the draft of the source whose drafts take time, None if it does not pay even now that it is made."""
        draft = self._ask(self._last, limit) if self._last is not None else None
        if draft is None or self._last is None:
            return None
        length = weigh_lengths(draft.confidences, self.cost, self._pending).length
        if length:
            self._last.unsent = None
            return draft.cut(length)
        plain = self.cost.seconds(self._pending)
        self._judge(self._last, plain / (plain + draft.seconds))
        return None

    def _judge(self, source: _Source, gain: float) -> None:
        if source.on_trial:
            source.on_trial = False
            source.gain = FIRST_GAIN if gain >= 1.0 else 0.0
        else:
            source.gain += GAIN_WEIGHT * (gain - source.gain)
        if source.gain < LEAST_GAIN:
            source.off_until = self._step + PROBE_STEPS
            source.on_trial = True
            source.unsent = None


def _compare_unsent(source: _Source, unsent: Draft, tokens: Sequence[int]) -> None:
    """Let `source` learn from a draft that was not sent, as soon as it is known how it would have fared."""
    for token in tokens:
        if unsent.tokens[source.agreed] != token:
            source.drafter.observe(unsent, source.agreed)
            source.unsent = None
            return
        source.agreed += 1
        if source.agreed == min(len(unsent), UNSENT_TOKENS):
            source.drafter.observe(unsent.cut(source.agreed), source.agreed)
            source.unsent = None
            return
