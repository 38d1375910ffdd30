"""Counters since start. They stay on this machine."""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import dataclass, field

from spark_lsp.decoding.generate import Generation


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
    shown: int = 0
    """Suggestions that a client says it shows."""
    partially_accepted: int = 0
    """Suggestions of which a client says that a part was accepted."""
    reasons: Counter[str] = field(default_factory=Counter)
    _latest_partial: str = ""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def count_generation(self, generation: Generation) -> None:
        """Add what one finished generation produced."""
        with self._lock:
            self.generated_tokens += len(generation.tokens)
            self.drafted_tokens += generation.drafted
            self.accepted_tokens += generation.accepted
            self.unknown_names += len(generation.unknown_names)
            self.replaced_names += generation.replaced_names

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

    def count_accept(self) -> None:
        """Add one accepted suggestion."""
        with self._lock:
            self.completions_accepted += 1

    def count_shown(self, identifier: str) -> None:
        """The client says that it shows a suggestion."""
        with self._lock:
            self.shown += 1

    def count_partial(self, characters: int, identifier: str) -> None:
        """The client says that the first `characters` of a suggestion are accepted; said again as they become more."""
        with self._lock:
            self.partially_accepted += bool(characters) and identifier != self._latest_partial
            self._latest_partial = identifier

    def as_dict(self) -> dict[str, object]:
        """Return the counters under the names of the `spark/status` answer."""
        with self._lock:
            return {
                "promptTokens": self.prompt_tokens,
                "decodeSteps": self.decode_steps,
                "generatedTokens": self.generated_tokens,
                "draftedTokens": self.drafted_tokens,
                "acceptedTokens": self.accepted_tokens,
                "acceptedCompletions": self.completions_accepted,
                "shown": self.shown,
                "partiallyAccepted": self.partially_accepted,
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
