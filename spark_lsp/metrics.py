"""Counters since start. They stay on this machine."""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import dataclass, field

from spark_lsp.decoding.generate import Generation
from spark_lsp.statistics.offers import OfferBook

RATE_WEIGHT = 0.2
"""Share of the newest generation in the mean speed: about the last ten count."""


@dataclass(slots=True)
class Metrics:
    """What was asked, computed and answered. Safe to update from any thread."""

    requests: int = 0
    prompt_tokens: int = 0
    decode_steps: int = 0
    generated_tokens: int = 0
    drafted_tokens: int = 0
    accepted_tokens: int = 0
    completions_accepted: int = 0
    workspace_texts: int = 0
    """Other texts taken in as a source of drafts."""
    workspace_pending: int = 0
    """Characters of them that are still to be learned."""
    indexed_modules: int = 0
    """Modules whose names are known, over all open documents."""
    unknown_names: int = 0
    """Names that do not exist in what was generated."""
    replaced_names: int = 0
    """How often another name was written instead."""
    pregenerated: int = 0
    """Suggestions computed before anybody asked."""
    pregenerated_tokens: int = 0
    """Tokens written for them; they are not among the generated ones."""
    pregenerated_used: int = 0
    """Suggestions of them that were shown."""
    tokens_per_second: float = 0.0
    """Tokens verified per second of decoding, a mean over the latest generations; 0 before the first one."""
    reasons: Counter[str] = field(default_factory=Counter)
    offers: OfferBook = field(default_factory=OfferBook)
    """What became of suggestions; belongs to the event loop."""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def count_generation(self, generation: Generation) -> None:
        """Add what one finished generation produced."""
        with self._lock:
            self.generated_tokens += len(generation.tokens)
            self.drafted_tokens += generation.drafted
            self.accepted_tokens += generation.accepted
            self.unknown_names += len(generation.unknown_names)
            self.replaced_names += generation.replaced_names
            if generation.tokens and generation.decode_seconds > 0:
                rate = len(generation.tokens) / generation.decode_seconds
                weight = RATE_WEIGHT if self.tokens_per_second else 1.0
                self.tokens_per_second += weight * (rate - self.tokens_per_second)

    def count_pregeneration(self, generation: Generation, *, useful: bool) -> None:
        """Add one that was computed in advance; `useful` if there is something to show."""
        with self._lock:
            self.pregenerated += useful
            self.pregenerated_tokens += len(generation.tokens)

    def count_use_of_pregeneration(self) -> None:
        """Add one that was asked for after all."""
        with self._lock:
            self.pregenerated_used += 1

    def set_decoded(self, prompt_tokens: int, steps: int) -> None:
        """Take over the KV cache's own counts, which include cancelled requests."""
        with self._lock:
            self.prompt_tokens, self.decode_steps = prompt_tokens, steps

    def set_workspace(self, texts: int, pending: int) -> None:
        """Take over how many texts of the workspace were taken in, and the characters still to be learned."""
        with self._lock:
            self.workspace_texts, self.workspace_pending = texts, pending

    def set_modules(self, modules: int) -> None:
        """Take over how many modules the names are known of."""
        with self._lock:
            self.indexed_modules = modules

    def count_answer(self, reason: str) -> None:
        """Add one answered request."""
        with self._lock:
            self.requests += 1
            self.reasons[reason] += 1

    def count_accept(self, identifier: str = "") -> bool:
        """Add one accepted suggestion, by default the latest one; whether `offers` follows its text now."""
        with self._lock:
            self.completions_accepted += 1
        return self.offers.accepted(identifier)

    def count_shown(self, identifier: str = "") -> None:
        """The client says that it shows a suggestion, by default the latest one.

        From then on what is answered does not count as shown by itself.
        """
        self.offers.shown(identifier)

    def count_partial(self, characters: int, identifier: str = "") -> None:
        """The client says that the first `characters` of a suggestion, by default the latest one, are accepted."""
        self.offers.partially_accepted(characters, identifier)

    def as_dict(self) -> dict[str, object]:
        """Return the counters under the names of the `spark/status` answer."""
        outcome = self.offers.total
        with self._lock:
            return {
                "shown": outcome.shown,
                "partiallyAccepted": outcome.partially_accepted,
                "kept": outcome.kept,
                "promptTokens": self.prompt_tokens,
                "decodeSteps": self.decode_steps,
                "generatedTokens": self.generated_tokens,
                "draftedTokens": self.drafted_tokens,
                "acceptedTokens": self.accepted_tokens,
                "acceptedCompletions": self.completions_accepted,
                "workspaceTexts": self.workspace_texts,
                "workspacePending": self.workspace_pending,
                "indexedModules": self.indexed_modules,
                "unknownNames": self.unknown_names,
                "replacedNames": self.replaced_names,
                "pregenerated": self.pregenerated,
                "pregeneratedTokens": self.pregenerated_tokens,
                "pregeneratedUsed": self.pregenerated_used,
                "requests": self.requests,
                "reasons": dict(self.reasons),
            }
