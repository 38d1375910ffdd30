"""Timed decodes: every case in every mode, by turns, so that what disturbs the machine disturbs all modes alike."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from benchmarks.latency.cases import Case, edited_case, free_cases
from benchmarks.latency.peer import Peer
from benchmarks.latency.session import Session

TOKENS = 48
"""Decoded for each case. With 30 cases, 4 modes and 5 rounds this takes about 25 minutes on two cores with the 0.5B."""
SUGGESTION_TOKENS = 96
"""Length of the suggestions that are edited for kind c: what the server asks for at most (`completion.maxTokens`)."""
PLAIN, DRAFTING, PEER, PEER_NGRAM = "plain", "drafting", "llama-server", "llama-server + n-grams"
MODES = (PLAIN, DRAFTING, PEER, PEER_NGRAM)


@dataclass(frozen=True, slots=True)
class Sample:
    """One decode of one case."""

    kind: str
    case: str
    round: int
    mode: str
    tokens: int
    seconds: float
    """Of decoding, the prompt apart."""
    steps: int
    """Decode steps; 0 where llama-server does not say."""
    drafted: int
    accepted: int
    same_text: bool
    """Whether the text is that of our plain decode."""
    sources: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Drafted and accepted tokens by drafter."""


def add_edited(session: Session, plan: Sequence[Case]) -> list[Case]:
    """Return `plan` with the cases of kind c, for which the model first writes the suggestions that are edited."""
    edited = []
    for number, case in enumerate(free_cases()):
        suggestion = session.complete(case, SUGGESTION_TOKENS, drafting=False).text
        made = edited_case(case, number, suggestion)
        edited += [made] if made is not None else []
    return [*plan, *edited]


def measure(
    session: Session,
    plan: Sequence[Case],
    rounds: int,
    peers: Mapping[str, Peer],
    tokens: int = TOKENS,
    on_round: Callable[[int], None] = lambda turn: None,
) -> list[Sample]:
    """Return a sample of each case, mode and round.

    Every round is a session of its own: the cases come in another order, and the drafters have learned nothing yet. The
    order of the modes rotates. llama-server is asked for as many tokens as our plain decode wrote.
    """
    samples = []
    plain: dict[Case, tuple[str, int]] = {}
    modes = [PLAIN, DRAFTING, *peers]
    for turn in range(rounds):
        session.chain = session.fresh_chain()
        order = list(plan)
        random.Random(turn).shuffle(order)
        for place, case in enumerate(order):
            # A case is plain first when it is new, since the others need to know how much it writes.
            first = (turn + place) % len(modes) if case in plain else 0
            for mode in modes[first:] + modes[:first]:
                if mode in peers:
                    sample, text = _ask(session, peers[mode], mode, case, turn, plain[case])
                else:
                    sample, text = _decode(session, mode, case, turn, tokens, plain.get(case))
                if mode == PLAIN:
                    plain[case] = (text, sample.tokens)
                samples.append(sample)
        on_round(turn)
    return samples


def _decode(
    session: Session, mode: str, case: Case, turn: int, tokens: int, plain: tuple[str, int] | None
) -> tuple[Sample, str]:
    before = session.chain.counts()
    result = session.complete(case, tokens, drafting=mode == DRAFTING)
    sources = {
        name: (counts.drafted - before[name].drafted, counts.accepted - before[name].accepted)
        for name, counts in session.chain.counts().items()
        if counts != before[name]
    }
    sample = Sample(
        kind=case.kind,
        case=case.name,
        round=turn,
        mode=mode,
        tokens=len(result.tokens),
        seconds=result.decode_seconds,
        steps=result.steps,
        drafted=result.drafted,
        accepted=result.accepted,
        same_text=plain is None or result.text == plain[0],
        sources=sources,
    )
    return sample, result.text


def _ask(session: Session, peer: Peer, mode: str, case: Case, turn: int, plain: tuple[str, int]) -> tuple[Sample, str]:
    text, tokens = plain
    answer = peer.complete(session.prompt(case.before).tokens, tokens)
    sample = Sample(
        kind=case.kind,
        case=case.name,
        round=turn,
        mode=mode,
        tokens=answer.tokens,
        seconds=answer.seconds,
        steps=0,
        drafted=answer.drafted,
        accepted=answer.accepted,
        same_text=answer.text.startswith(text),
    )
    return sample, answer.text
