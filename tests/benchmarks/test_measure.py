from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from benchmarks.latency.cases import Case
from benchmarks.latency.measure import DRAFTING, PEER, PLAIN, measure
from benchmarks.latency.peer import PeerAnswer
from spark_lsp.decoding.drafters import SourceCounts

CASES = [Case("a", name, "python", name) for name in ("x", "y", "z")]


class ScriptedSession:
    """Writes the prompt and `!`; each draft of four tokens has two right ones."""

    def __init__(self, log: list[tuple[str, str]]) -> None:
        self.log = log
        self.sessions = 0
        self.drafts = 0

    @property
    def chain(self) -> Any:
        counts = SourceCounts(self.drafts, 4 * self.drafts, 2 * self.drafts)
        return SimpleNamespace(counts=lambda: {"document": counts, "previous": SourceCounts()})

    @chain.setter
    def chain(self, chain: object) -> None:
        self.sessions += 1

    def fresh_chain(self) -> object:
        return object()

    def prompt(self, before: str) -> Any:
        return SimpleNamespace(tokens=(7, 8), before=before)

    def complete(self, case: Case, tokens: int, *, drafting: bool) -> Any:
        self.log.append((case.name, DRAFTING if drafting else PLAIN))
        self.drafts += drafting
        text = f"{case.name}!" if case.name != "z" or not drafting else "other"
        return SimpleNamespace(
            text=text, tokens=(1,) * 5, decode_seconds=0.5, steps=3, drafted=4 * drafting, accepted=2 * drafting
        )


class ScriptedPeer:
    """Answers as many tokens as it was asked for."""

    def __init__(self, log: list[tuple[str, str]]) -> None:
        self.log = log
        self.asked: list[tuple[tuple[int, ...], int]] = []

    def complete(self, prompt: tuple[int, ...], tokens: int) -> PeerAnswer:
        self.log.append(("?", PEER))
        self.asked.append((prompt, tokens))
        return PeerAnswer("x!!", tokens, 1.0, 9, 3)


def run(rounds: int) -> tuple[Any, Any, list[tuple[str, str]], Any]:
    log: list[tuple[str, str]] = []
    session, peer = ScriptedSession(log), ScriptedPeer(log)
    samples = measure(session, CASES, rounds, {PEER: peer})  # type: ignore[arg-type, dict-item]
    return session, peer, log, samples


def test_every_case_is_measured_in_every_mode_in_every_round() -> None:
    *_, samples = run(3)
    keys = [(s.case, s.mode, s.round) for s in samples]
    wanted = {(case.name, mode, turn) for case in CASES for mode in (PLAIN, DRAFTING, PEER) for turn in range(3)}
    assert set(keys) == wanted
    assert len(keys) == len(wanted)


def test_a_new_case_is_plain_first_and_the_order_of_modes_changes() -> None:
    _, _, log, _ = run(4)
    groups = [[mode for _, mode in log[start : start + 3]] for start in range(0, len(log), 3)]
    assert groups[:3] == [[PLAIN, DRAFTING, PEER]] * 3
    assert {group[0] for group in groups} == {PLAIN, DRAFTING, PEER}


def test_llama_server_is_asked_for_the_same_prompt_and_number_of_tokens() -> None:
    _, peer, _, _ = run(1)
    assert peer.asked == [((7, 8), 5)] * 3


def test_every_round_begins_with_drafters_that_have_learned_nothing() -> None:
    session, *_ = run(2)
    assert session.sessions == 2


def test_a_sample_tells_the_sources_of_its_own_drafts_and_whether_its_text_is_the_plain_one() -> None:
    *_, samples = run(2)
    drafting = [s for s in samples if s.mode == DRAFTING]
    assert all(s.sources == {"document": (4, 2)} for s in drafting)
    assert {s.case for s in samples if s.mode == DRAFTING and not s.same_text} == {"z"}
    assert {s.case for s in samples if s.mode == PEER and s.same_text} == {"x"}
    assert all(not s.sources for s in samples if s.mode != DRAFTING)
